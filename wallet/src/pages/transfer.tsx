/** Being built. */
export function TransferPage(props: { chainId: number; hash: string }) {
  return (
    <div className="page">
      <h1>Transfer</h1>
      <pre>{JSON.stringify(props)}</pre>
    </div>
  )
}
