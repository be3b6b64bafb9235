#!/usr/bin/env node
/// <reference types="node" />
import { readFileSync } from 'node:fs'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createServer } from './mcp.ts'
import { readOptions, USAGE } from './mcp-config.ts'

// The MCP protocol uses the standard output, so all other output goes to the standard error.
const log = (line: string) => process.stderr.write(`vaultline-mcp: ${line}\n`)
try {
  if (process.argv.length > 2) throw new Error(USAGE)
  const options = readOptions(process.env, (path) => readFileSync(path, 'utf8'))
  // This server is not used. Its creation reports wrong options at the start instead of at the first message.
  createServer(options)
  serveStdio(() => createServer(options), { onerror: ({ message }) => log(message) })
  const { account, trust } = options
  const { keys, vaults, witness } = trust
  log(
    `ready: ${keys.length} signing keys, ${vaults?.length ?? 'no'} pinned vaults, ${witness ? 'a' : 'no'} node of yours${account ? `, for ${account} only` : ''}.`,
  )
} catch (error) {
  log(error instanceof Error ? error.message : String(error))
  process.exitCode = 2
}
