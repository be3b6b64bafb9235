#!/usr/bin/env node
/// <reference types="node" />
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { describeAnswer } from './command.ts'

const USAGE = `Usage: vaultline-verify --keys <file> [--vaults <file>] [--most-sent <amount>] [--rpc <url> [--tolerance <percent>]]
                        [--url <url> [--data <body>]] <answer>

Verifies a saved response: its signature, and that its transactions are the requested ones. Then it describes them in plain
words. If it refuses the response, it gives the reason.

  --keys       Public keys that may sign, as JSON: from your operator, not from the service
  --vaults     Vaults that may be used: a JSON list of { chainId, address, protocol, asset, shareToken? }
  --most-sent  Maximum that may go to another chain, in the smallest unit of the vault's asset
  --rpc        Your own node of the sending chain: it dry-runs the transactions and checks the amounts
  --tolerance  Maximum difference from the values of that node, in percent; 1 by default
  --url        URL of the request; <answer> is then the output of curl -i
  --data       Body of the request, byte for byte; leave it out for a GET
  <answer>     File, or - for the standard input; without --url an exchange as JSON, { request, answer }

Exit codes: 0 for a response that is valid now, 1 for a refused one, 2 for wrong input, 3 for a valid one that has expired.
`

try {
  const { values, positionals } = parseArgs({
    options: {
      keys: { type: 'string' },
      vaults: { type: 'string' },
      'most-sent': { type: 'string' },
      rpc: { type: 'string' },
      tolerance: { type: 'string' },
      url: { type: 'string' },
      data: { type: 'string' },
      help: { type: 'boolean' },
    },
    allowPositionals: true,
  })
  const { keys, vaults, 'most-sent': mostSent, rpc, tolerance, url, data, help } = values
  const [file, ...more] = positionals
  const read = (path: string) => readFileSync(path === '-' ? 0 : path, 'utf8')
  if (help) process.stdout.write(USAGE)
  else {
    if (keys === undefined || file === undefined || more.length > 0) throw new Error(USAGE)
    const texts = { keys: read(keys), vaults: vaults === undefined ? undefined : read(vaults), answer: read(file) }
    const { code, lines } = await describeAnswer({ ...texts, mostSent, rpc, tolerance, url, data }, new Date())
    process.stdout.write(`${lines.join('\n')}\n`)
    process.exitCode = code
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 2
}
