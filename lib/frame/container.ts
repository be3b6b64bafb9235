import { readSecretVersion } from '../aws/secrets.ts'
import { logger } from '../logger.ts'
import { type Contract, type EnvOf, listUses } from './contract.ts'
import { RESOURCES, type Resource } from './resources.ts'

/** How each thing that a contract's work is given is built from what the contract uses. */
export type Providers<C extends Contract> = Readonly<Record<string, (env: EnvOf<C>) => unknown>>

/** What these providers build. */
export type Built<P> = {
  readonly [Name in keyof P]: P[Name] extends (env: never) => infer Service ? Awaited<Service> : never
}

/** What a contract's function finds in its environment: all that it uses, by name. Throws when a variable is missing. */
export function readEnv<C extends Contract>(contract: C, variables: NodeJS.ProcessEnv): EnvOf<C> {
  // A contract's uses have no other names.
  const names = Object.keys(listUses(contract)) as Resource[]
  const read = names.map((name) => {
    const value = variables[RESOURCES[name]]
    if (!value) throw new Error(`The environment lacks ${RESOURCES[name]}.`)
    return [name, value]
  })
  // As many as the contract names, each with its text.
  return Object.fromEntries(read) as EnvOf<C>
}

/**
 * A contract's work with its services, which are built at the first call, and again once the version of what configures
 * them differs. One that cannot be built is tried again at the next call; those built before do the work until then.
 */
export function container<C extends Contract, P extends Providers<C>, Run>(
  env: () => Promise<EnvOf<C>>,
  providers: P,
  work: (services: Built<P>) => Run,
  readVersion: (env: EnvOf<C>) => Promise<unknown>,
): () => Promise<Run> {
  let last: { readonly version: unknown; readonly run: Promise<Run> } | undefined
  const build = async (of: EnvOf<C>): Promise<Run> => {
    const services = await Promise.all(
      Object.entries(providers).map(async ([name, provide]) => [name, await provide(of)] as const),
    )
    // Entries that are put together lose their names.
    return work(Object.fromEntries(services) as Built<P>)
  }
  return async () => {
    const of = await env()
    const version = await readVersion(of)
    if (last?.version === version && last) return last.run
    const before = last
    // Services are built once for each object that tells the environment.
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

/** What differs once a secret was changed with which a function's services are built, known after five minutes at the latest. */
export async function readSecretVersions(env: { readonly [Name in Resource]?: string }): Promise<string> {
  const secrets = [env.config, env.identity, env.webhookKey].filter((secretId) => secretId !== undefined)
  return (await Promise.all(secrets.map(readSecretVersion))).join()
}
