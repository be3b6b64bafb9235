/**
 * Returns the `Content-Security-Policy` of the documentation. Pages run only their own scripts and call the API at this origin (default:
 * their own). Code blocks have their colours in inline styles.
 */
export function docsPolicy(apiOrigin?: string): string {
  return [
    "default-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    `connect-src 'self'${apiOrigin ? ` ${apiOrigin}` : ''}`,
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
