/** Being built. */
export function CoinPage(props: { id: string }) {
  return (
    <div className="page">
      <h1>Coin</h1>
      <pre>{JSON.stringify(props)}</pre>
    </div>
  )
}
