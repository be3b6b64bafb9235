import { Component, type ReactNode } from 'react'
import { EmptyNotice } from './notices.tsx'

/** Shows an error in place of a page that throws, while the rest of the wallet continues. React has error boundaries only as classes. */
export class ErrorBoundary extends Component<{ readonly children: ReactNode }, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children
    const reload = { text: 'Reload', onClick: () => window.location.reload() }
    return (
      <div className="page">
        <EmptyNotice isWholePage title="This page stopped working" action={reload}>
          The transactions that you sent are in Activity.
        </EmptyNotice>
      </div>
    )
  }
}
