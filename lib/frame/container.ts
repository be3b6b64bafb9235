import { readSecretVersion } from '../aws/secrets.ts'
import { logger } from '../core/logger.ts'
import { type Contract, type EnvOf, listUses } from './contract.ts'
import { RESOURCES, type Resource } from './resources.ts'

/** Functions that build services from environment variables, by service name. */
export type Providers<C extends Contract> = Readonly<Record<string, (env: EnvOf<C>) => unknown>>

/** Services that these providers build, by service name. */
export type BuiltServices<P> = {
  readonly [Name in keyof P]: P[Name] extends (env: never) => infer Service ? Awaited<Service> : never
}

/** Reads the environment variables of all resources that a contract uses, by resource name. Throws if a variable is missing. */
export function readEnv<C extends Contract>(contract: C, variables: NodeJS.ProcessEnv): EnvOf<C> {
  // The cast is safe: the keys of `listUses`'s result are names of resources.
  const names = Object.keys(listUses(contract)) as Resource[]
  const read = names.map((name) => {
    const value = variables[RESOURCES[name]]
    if (!value) throw new Error(`The environment lacks ${RESOURCES[name]}.`)
    return [name, value]
  })
  // The cast is safe: the loop above has read the variable of every resource.
  return Object.fromEntries(read) as EnvOf<C>
}

/**
 * Returns a function that builds a contract's services and returns what `buildRun` makes of them. It builds the services on the
 * first call, and again after the version of the configuration has changed. If a build fails, the next call tries
 * again. Until a build succeeds, the previous services remain in use.
 */
export function createServiceContainer<C extends Contract, P extends Providers<C>, Run>(
  env: () => Promise<EnvOf<C>>,
  providers: P,
  buildRun: (services: BuiltServices<P>) => Run,
  readVersion: (env: EnvOf<C>) => Promise<unknown>,
): () => Promise<Run> {
  let last: { readonly version: unknown; readonly run: Promise<Run> } | undefined
  const build = async (variables: EnvOf<C>): Promise<Run> => {
    const services = await Promise.all(
      Object.entries(providers).map(async ([name, provide]) => [name, await provide(variables)] as const),
    )
    // The cast is safe: each service has the name of its provider.
    return buildRun(Object.fromEntries(services) as BuiltServices<P>)
  }
  return async () => {
    const variables = await env()
    const version = await readVersion(variables)
    if (last && last.version === version) return last.run
    const before = last
    // `config` is cached per environment object (services.ts), so a copy of the environment makes it read the secret again.
    const run = build({ ...variables }).catch((error: unknown) => {
      last = before
      if (!before) throw error
      logger.error('the changed configuration cannot be used', { error })
      return before.run
    })
    last = { version, run }
    return run
  }
}

/**
 * Returns the versions of all secrets from which a function's services are built, as one text. A changed secret
 * changes the text within five minutes. The secret `signing` is not among them, because its readers refresh it.
 */
export async function readSecretVersions(env: { readonly [Name in Resource]?: string }): Promise<string> {
  const secrets = [env.config, env.identity, env.webhookKey].filter((secretId) => secretId !== undefined)
  return (await Promise.all(secrets.map(readSecretVersion))).join()
}
