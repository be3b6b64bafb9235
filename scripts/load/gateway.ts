import { startGateway } from '../../sandbox/gateway.ts'
import { reportToParent } from './process.ts'

// Serves the functions behind the local HTTP API. With the argument `bare`, it replaces each function by one that does nothing, for
// comparison.

const [, , kind] = process.argv
const bare = async () => ({
  statusCode: 200,
  headers: { 'content-type': 'application/json' },
  body: '{"status":"ok","version":"load"}',
})
const { url, stop } = await startGateway({
  port: 0,
  cors: { allowOrigins: [] },
  schedule: false,
  ...(kind === 'bare' && { handlerOf: () => bare }),
})
reportToParent(url, stop)
