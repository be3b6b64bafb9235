/** Being built. */
export function HomePage() {
  return (
    <div className="page">
      <h1>Home</h1>
    </div>
  )
}
