/** A line that is being loaded, as wide as what will stand there. */
export function Skeleton({ width = '6em' }: { width?: string }) {
  return <span className="skeleton" style={{ width }} aria-hidden="true" />
}

/** Rows that are being loaded. */
export function SkeletonRows({ count = 5 }: { count?: number }) {
  return (
    <div role="status" aria-label="Loading">
      {Array.from({ length: count }, (_, row) => (
        <div key={row} className="skeleton-row">
          <Skeleton width="40%" />
          <Skeleton width="15%" />
          <Skeleton width="20%" />
        </div>
      ))}
    </div>
  )
}

/** A page whose code is on its way. */
export function PageSkeleton() {
  return (
    <div className="page">
      <h1>
        <span className="hidden">Loading</span>
        <Skeleton width="8em" />
      </h1>
      <SkeletonRows />
    </div>
  )
}
