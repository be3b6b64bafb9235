import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address } from 'viem'
import { ACCOUNTS, TEST_MNEMONIC } from './accounts.ts'
import { compiledContract } from './contracts.ts'
import { callRpc } from './rpc.ts'
import { type SwitchableProxy, startSwitch } from './switch.ts'

/** Local test chain (anvil). If `blockSeconds` is undefined, the chain mines one block per transaction. */
export type LocalChain = {
  readonly chainId: number
  readonly rpcUrl: string
  readonly blockSeconds: number | undefined
}

/** Local chain, and functions that control its anvil process. */
export type RunningChain = LocalChain & {
  /** Proxy through which the service and the wallet read the chain. Switching it off imitates an outage, while `rpcUrl` still works. */
  readonly nodes: SwitchableProxy
  /** Mines a block at this interval in seconds, which may be a fraction. */
  keepTime(blockSeconds: number): Promise<void>
  /** Pauses (true) or resumes (false) the mining of blocks at an interval. */
  hold(isPaused: boolean): void
  stop(): Promise<void>
}

/** Address of Multicall3 on every chain. */
export const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

/**
 * Contract that stores the last 8,191 block hashes (EIP-2935). Local chains remove its code, because anvil hashes the growing storage for
 * every block. Each block would take longer than the one before.
 */
const BLOCK_HASHES: Address = '0x0000F90827F1C53a10cb7A02335B175320002935'

// Block gas limit. It is close to the limits of real chains, and to geth's default limit for eth_call (rpc.gascap).
const BLOCK_GAS_LIMIT = 50_000_000

// Shell script that starts anvil and a watcher process. The watcher's stdin closes when this Node process ends, even by a kill. The watcher
// then kills anvil and deletes the folder `$states`.
const START_WATCHED = `states=$1; shift; exec 3<&0
(cat <&3; kill -9 $$; rm -rf "$states") >/dev/null 2>&1 &
exec "$0" "$@" 3<&- </dev/null`

/**
 * Starts an anvil chain on `port`, or on a free port. The chain has the contract Multicall3, and 10,000 ether for each account in
 * `ACCOUNTS`. Throws an Error with anvil's stderr if anvil does not start.
 */
export async function startChain(options: {
  readonly chainId: number
  readonly blockSeconds?: number
  readonly port?: number
  /** Time of the first block in seconds since 1970; now by default. */
  readonly startsAt?: number
}): Promise<RunningChain> {
  const { chainId, blockSeconds, port = 0, startsAt } = options
  const multicall = compiledContract('Multicall3')
  const args = ['--chain-id', chainId, '--port', port, '--gas-limit', BLOCK_GAS_LIMIT, '--order', 'fifo']
  args.push('--accounts', Object.values(ACCOUNTS).flat().length)
  // Two slots per epoch put the block tag `safe` two blocks behind the head, and `finalized` four blocks.
  args.push('--slots-in-an-epoch', 2)
  // Some contracts exceed Ethereum's size limit, because they are compiled without the optimizer's slowest step.
  args.push('--disable-code-size-limit')
  if (startsAt !== undefined) args.push('--timestamp', startsAt)
  // Tests mine thousands of blocks at once and read no old state. A chain without a block interval therefore keeps only 200 old states.
  else if (blockSeconds === undefined) args.push('--prune-history', 200)
  // anvil stores old states in this folder, about 200 KB per block, and never deletes them. The watcher process deletes the folder.
  const states = mkdtempSync(join(tmpdir(), 'vaultline-chain-'))
  args.push('--cache-path', states)
  const anvil = spawn(
    '/bin/sh',
    ['-c', START_WATCHED, anvilBinary(), states, ...args.map(String), '--mnemonic', TEST_MNEMONIC],
    // anvil gets its own process group, so that Ctrl-C reaches only this process, which then stops its chains in order.
    { stdio: ['pipe', 'pipe', 'pipe'], detached: true },
  )
  const exited = once(anvil, 'exit')
  const clock = new AbortController()
  const stop = async () => {
    clock.abort()
    anvil.stdin.end()
    await exited
  }

  let complaint = ''
  anvil.stderr.on('data', (text) => {
    complaint += text
  })
  const address = await new Promise<string>((resolve, reject) => {
    const lines = createInterface(anvil.stdout)
    lines.on('line', (line) => {
      const listening = /^Listening on (\S+)$/.exec(line)
      if (listening?.[1]) resolve(listening[1])
    })
    anvil.once('error', reject)
    exited.then(() => reject(new Error(`anvil did not start: ${complaint.trim()}`)), reject)
  })

  const chain = { chainId, rpcUrl: `http://${address}`, blockSeconds }
  let isPaused = false
  const pauseBlocks = (shouldPause: boolean) => {
    isPaused = shouldPause
  }
  const mineEverySeconds = async (seconds: number) => {
    await callRpc(chain, [{ method: 'evm_setAutomine', params: [false] }])
    void mineEvery(chain, seconds * 1000, { signal: clock.signal, isPaused: () => isPaused })
  }
  try {
    const { deployedBytecode } = await multicall
    await callRpc(chain, [
      { method: 'anvil_setLoggingEnabled', params: [false] },
      { method: 'anvil_setCode', params: [MULTICALL3, deployedBytecode] },
      { method: 'anvil_setCode', params: [BLOCK_HASHES, '0x'] },
    ])
    if (blockSeconds !== undefined) await mineEverySeconds(blockSeconds)
    const nodes = await startSwitch(chain.rpcUrl)
    const stopAll = async () => {
      await nodes.stop()
      await stop()
    }
    return { ...chain, nodes, keepTime: mineEverySeconds, hold: pauseBlocks, stop: stopAll }
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * Mines blocks at an interval, which may be a fraction of a second. anvil's own timer allows only whole seconds. Blocks in the same second
 * share a timestamp.
 */
async function mineEvery(
  chain: LocalChain,
  milliseconds: number,
  { signal, isPaused }: { signal: AbortSignal; isPaused: () => boolean },
): Promise<void> {
  for (let next = Date.now() + milliseconds; !signal.aborted; next = Math.max(next + milliseconds, Date.now())) {
    await sleep(next - Date.now(), undefined, { signal, ref: false }).catch(() => undefined)
    if (!signal.aborted && !isPaused())
      await callRpc(chain, [{ method: 'evm_mine', params: [] }]).catch(() => undefined)
  }
}

function anvilBinary(): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const binary = `@foundry-rs/anvil-${process.platform}-${architecture}/bin/anvil`
  // The path is resolved from anvil's main package, because only that package depends on the package for this platform.
  return createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json')).resolve(binary)
}
