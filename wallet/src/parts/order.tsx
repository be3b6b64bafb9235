type OrderProps<By extends string> = {
  readonly orders: readonly { readonly by: By; readonly text: string }[]
  readonly order: By
  /** True if names go from Z to A, or figures from the lowest to the highest. */
  readonly isReversed: boolean
  /** Called with the column that the user chooses. Choosing the present sort column reverses the order. */
  readonly onChoose: (by: By) => void
}

const ARROWS = { none: '', ascending: '↑', descending: '↓' } as const

/** Column headings of a table that sort it when clicked. */
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

/** Select element with the sort orders, for phones, where the table has no headings. */
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
