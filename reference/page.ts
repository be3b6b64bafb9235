import { createHash } from 'node:crypto'
import { VIEWER_FILE } from './viewer.ts'

/** Where the page's requests go, and as whom. */
export type PageOptions = {
  /** The API's origin where it is not the page's own. */
  readonly apiOrigin?: string
  /** The key that is filled in, for pages that nobody else can open. */
  readonly apiKey?: string
}

/** The reference as an HTML page, which lets its viewer reach its own origin and the API's, and no other. */
export function buildPage({ apiOrigin, apiKey }: PageOptions): string {
  const script = buildScript(apiKey)
  const policy = [
    "default-src 'self'",
    `script-src 'self' 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    ["connect-src 'self'", ...(apiOrigin ? [apiOrigin] : [])].join(' '),
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ]
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="content-security-policy" content="${policy.join('; ')}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Vaultline API reference</title>
    <link rel="icon" href="data:,">
    <style>
      .notice { max-width: 36rem; margin: 20vh auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif }
    </style>
  </head>
  <body>
    <div id="reference">
      <p class="notice">Loading the reference. The first time, its viewer is fetched from the npm registry (10 MB).</p>
    </div>
    <template id="without-viewer">
      <p class="notice">
        The viewer of this reference is not here. It is fetched from the npm registry once, and that did not succeed: reload
        the page when a registry can be reached. Until then, the same as text: <a href="guides.txt">the guides</a>,
        <a href="api.txt">every field and every error</a>, and <a href="openapi.json">the OpenAPI document</a>.
      </p>
    </template>
    <noscript>
      <p class="notice">
        This page needs JavaScript. The same as text: <a href="guides.txt">the guides</a>, <a href="api.txt">every field and
        every error</a>, and <a href="openapi.json">the OpenAPI document</a>.
      </p>
    </noscript>
    <script>${script}</script>
  </body>
</html>
`
}

/** What loads the viewer, or says that it is not there. */
function buildScript(apiKey: string | undefined): string {
  const options = {
    url: 'openapi.json',
    // Without these the viewer asks hosts of its makers: for fonts, statistics, an assistant and, for each try, a proxy.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    proxyUrl: '',
    showDeveloperTools: 'never',
    hideClientButton: true,
    // A section that a link leads to has the focus; a frame around all of it tells nobody anything.
    customCss: '.section:focus-visible { outline: none }',
    authentication: {
      ...(apiKey && { securitySchemes: { apiKey: { value: apiKey } } }),
    },
  }
  return `
      const place = document.getElementById('reference')
      const viewer = document.createElement('script')
      viewer.src = '${VIEWER_FILE}'
      viewer.onload = () => {
        // What is in its place already, the viewer would take for its own.
        place.replaceChildren()
        Scalar.createApiReference(place, ${JSON.stringify(options).replaceAll('<', '\\u003c')})
      }
      viewer.onerror = () => place.replaceChildren(document.getElementById('without-viewer').content)
      document.head.append(viewer)
    `
}
