import { once } from '../once.ts'
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

/** A contract's work with its services, which are built at the first call and once; one that cannot be built is tried again. */
export function container<C extends Contract, P extends Providers<C>, Run>(
  env: () => Promise<EnvOf<C>>,
  providers: P,
  work: (services: Built<P>) => Run,
): () => Promise<Run> {
  return once(async () => {
    const of = await env()
    const services = await Promise.all(
      Object.entries(providers).map(async ([name, provide]) => [name, await provide(of)] as const),
    )
    // Entries that are put together lose their names.
    return work(Object.fromEntries(services) as Built<P>)
  })
}
