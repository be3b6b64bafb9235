import { parentPort, workerData } from 'node:worker_threads'
import { startGateway } from './gateway.ts'

// A thread of its own: the functions have an environment to themselves, and their logs a stream to themselves.
const gateway = await startGateway(workerData)
parentPort?.postMessage(gateway.port)
parentPort?.once('message', () => gateway.stop().then(() => parentPort?.close()))
