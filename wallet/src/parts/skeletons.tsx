/** Placeholder of a text that is loading, with the width of the final text. */
export function Skeleton({ width = '6em' }: { width?: string }) {
  return <span className="skeleton" style={{ width }} aria-hidden="true" />
}

/** Placeholder of list rows that are loading. */
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

/** Placeholder of a page whose code is loading. */
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
