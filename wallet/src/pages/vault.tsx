/** Being built. */
export function VaultPage(props: { chainId: number; address: string }) {
  return (
    <div className="page">
      <h1>Vault</h1>
      <pre>{JSON.stringify(props)}</pre>
    </div>
  )
}
