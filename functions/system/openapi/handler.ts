import { readFile } from 'node:fs/promises'
import { openEndpoint } from '../../../lib/frame/endpoint.ts'
import { contract } from './contract.ts'

/** Serves the file openapi.json, which `npm run docs` generates from the endpoint contracts. */
function describeApi() {
  const document = readFile(new URL('openapi.json', import.meta.url), 'utf8').then((text) => JSON.parse(text))
  return () => document
}

export const handler = openEndpoint(contract, {}, describeApi)
