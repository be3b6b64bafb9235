/**
 * Returns the `Content-Security-Policy` header of the documentation. Its pages may run only scripts of their own origin. They may send
 * requests to their own origin and to `apiOrigin`. Inline styles are allowed, because they colour the code blocks.
 */
export function buildDocsCsp(apiOrigin?: string): string {
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
