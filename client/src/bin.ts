#!/usr/bin/env node
/// <reference types="node" />
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { describeAnswer } from './command.ts'

const USAGE = `Usage: vaultline-verify --keys <file> [--vaults <file>] [--most-sent <amount>] [--rpc <url> [--tolerance <percent>]]
                        [--url <url> [--data <body>]] <answer>

Says in plain words what the transactions of an answer do, after verifying that it is signed and that it is the answer to
what was asked for; or why it is refused.

  --keys       Public keys that may sign, as JSON: those that you were given, not those that the service tells
  --vaults     What you know of vaults: a JSON list of { chainId, address, protocol, asset, shareToken? }
  --most-sent  The most that may go to another chain, in the smallest unit of the vault's asset
  --rpc        Your own node of the chain on which the transactions are sent: it dry-runs them and checks the amounts
  --tolerance  The largest difference from what that node shows, in percent: 1 unless given
  --url        What was asked: then <answer> is what curl -i printed
  --data       The body that was sent, to the byte; a GET without it
  <answer>     A file, - for the standard input; without --url an exchange as JSON, { request, answer }

It ends with 0 where the answer is good now, with 1 where it is refused, with 2 where it cannot be looked at, and with 3 where
it is what was asked for and its time is over.
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
