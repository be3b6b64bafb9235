/** Being built. */
export function ActivityPage() {
  return (
    <div className="page">
      <h1>Activity</h1>
    </div>
  )
}
