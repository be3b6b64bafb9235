import { startGateway } from '../../sandbox/gateway.ts'
import { tellParent } from './process.ts'

// The functions behind the local HTTP API, or, for comparison, a function of nothing in the place of each.

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
tellParent(url, stop)
