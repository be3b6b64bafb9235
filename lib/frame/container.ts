import { readSecretVersion } from '../aws/secrets.ts'
import { logger } from '../core/logger.ts'
import { type Contract, type EnvOf, listUses } from './contract.ts'
import { RESOURCES, type Resource } from './resources.ts'

/** Functions, by service name, that build from the environment the services that a contract's work needs. */
export type Providers<C extends Contract> = Readonly<Record<string, (env: EnvOf<C>) => unknown>>

/** Services that these providers build. */
export type BuiltServices<P> = {
  readonly [Name in keyof P]: P[Name] extends (env: never) => infer Service ? Awaited<Service> : never
}

/** Reads the environment variables of all resources that a contract's function uses, by resource name. Throws if a variable is missing. */
export function readEnv<C extends Contract>(contract: C, variables: NodeJS.ProcessEnv): EnvOf<C> {
  // The cast is right: a contract's uses have no other names.
  const names = Object.keys(listUses(contract)) as Resource[]
  const read = names.map((name) => {
    const value = variables[RESOURCES[name]]
    if (!value) throw new Error(`The environment lacks ${RESOURCES[name]}.`)
    return [name, value]
  })
  // The cast is right: every name of the contract has its text.
  return Object.fromEntries(read) as EnvOf<C>
}

/**
 * Returns a function that returns a contract's work, bound to its services. It builds the services on the first call,
 * and again once the version of their configuration changes. A failed build is repeated at the next call; until then
 * the previous services do the work.
 */
export function container<C extends Contract, P extends Providers<C>, Run>(
  env: () => Promise<EnvOf<C>>,
  providers: P,
  work: (services: BuiltServices<P>) => Run,
  readVersion: (env: EnvOf<C>) => Promise<unknown>,
): () => Promise<Run> {
  let last: { readonly version: unknown; readonly run: Promise<Run> } | undefined
  const build = async (of: EnvOf<C>): Promise<Run> => {
    const services = await Promise.all(
      Object.entries(providers).map(async ([name, provide]) => [name, await provide(of)] as const),
    )
    // The cast is right: each service has the name of its provider.
    return work(Object.fromEntries(services) as BuiltServices<P>)
  }
  return async () => {
    const of = await env()
    const version = await readVersion(of)
    if (last?.version === version && last) return last.run
    const before = last
    // The environment is copied, because services are cached for each environment object.
    const run = build({ ...of }).catch((error: unknown) => {
      last = before
      if (!before) throw error
      logger.error('the changed configuration cannot be used', { error })
      return before.run
    })
    last = { version, run }
    return run
  }
}

/** Returns the versions of the secrets used by a function's services. They change within five minutes after a secret does. */
export async function readSecretVersions(env: { readonly [Name in Resource]?: string }): Promise<string> {
  const secrets = [env.config, env.identity, env.webhookKey].filter((secretId) => secretId !== undefined)
  return (await Promise.all(secrets.map(readSecretVersion))).join()
}
