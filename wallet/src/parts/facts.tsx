import type { ReactNode } from 'react'

/** Name with its value. */
export type Fact = readonly [name: string, value: ReactNode]

/** Lists facts; their names must differ. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
