import type { ReactNode } from 'react'

/** Label of a fact, with its value. */
export type Fact = readonly [name: string, value: ReactNode]

/** Lists facts. The labels of the facts must differ, because they are the React keys. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <FactRow key={name} name={name}>
          {value}
        </FactRow>
      ))}
    </dl>
  )
}

/** One fact in a list of facts. */
export function FactRow({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
