/** Being built. */
export function MarketsPage() {
  return (
    <div className="page">
      <h1>Markets</h1>
    </div>
  )
}
