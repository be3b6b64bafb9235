type OrderProps<By extends string> = {
  readonly orders: readonly { readonly by: By; readonly text: string }[]
  readonly order: By
  /** True if names go from Z to A, or figures from the lowest up. */
  readonly isReversed: boolean
  /** Also called for the present order, to reverse it. */
  readonly onChoose: (by: By) => void
}

const ARROWS = { none: '', ascending: '↑', descending: '↓' } as const

/** Headings of the columns that sort a table. */
export function SortHeadings<By extends string>({ orders, order, isReversed, onChoose }: OrderProps<By>) {
  return orders.map(({ by, text }) => {
    const sorted = by !== order ? 'none' : (by === 'name') === isReversed ? 'descending' : 'ascending'
    return (
      <th key={by} scope="col" aria-sort={sorted}>
        <button type="button" className="order" onClick={() => onChoose(by)}>
          {text} <span aria-hidden="true">{ARROWS[sorted]}</span>
        </button>
      </th>
    )
  })
}

/** Offers the orders as a list for phones, where a table has no headings. */
export function OrderSelect<By extends string>({ orders, order, onChoose }: OrderProps<By>) {
  return (
    <select
      className="on-phones"
      aria-label="Order"
      value={order}
      onChange={({ target }) => onChoose(orders.find(({ by }) => by === target.value)?.by ?? order)}
    >
      {orders.map(({ by }) => (
        <option key={by} value={by}>
          By {by}
        </option>
      ))}
    </select>
  )
}
