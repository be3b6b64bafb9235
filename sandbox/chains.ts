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
import { type Switch, startSwitch } from './switch.ts'

/** Local chain. If `blockSeconds` is absent, the chain mines a block for each transaction. */
export type LocalChain = {
  readonly chainId: number
  readonly rpcUrl: string
  readonly blockSeconds: number | undefined
}

/** Local chain whose node runs in its own process. */
export type RunningChain = LocalChain & {
  /** URL of the chain for the service and the wallet, which can be switched off. The sandbox's own `rpcUrl` stays on. */
  readonly nodes: Switch
  /** Mines a block at this interval in seconds, which may be a fraction. */
  keepTime(blockSeconds: number): Promise<void>
  /** Pauses or resumes the mining at an interval. */
  hold(isHeld: boolean): void
  stop(): Promise<void>
}

/** Address of Multicall3 on every chain. */
export const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

/**
 * Address of the contract with the last 8,191 block hashes (EIP-2935). Its code is removed, because the local contracts do not read it.
 * anvil hashes its whole storage for every block, so each block would take longer than the last.
 */
const BLOCK_HASHES: Address = '0x0000F90827F1C53a10cb7A02335B175320002935'

// Block gas limit. It is close to that of real chains, and to the limit of an eth_call (geth's rpc.gascap).
const BLOCK_GAS_LIMIT = 50_000_000

// Shell script that starts anvil with a watcher. The watcher's stdin closes when this process ends, even if it is killed; the watcher then
// kills anvil.
const START_WATCHED = `states=$1; shift; exec 3<&0
(cat <&3; kill -9 $$; rm -rf "$states") >/dev/null 2>&1 &
exec "$0" "$@" 3<&- </dev/null`

/**
 * Starts an anvil chain on `port` or a free port. It has Multicall3, and 10,000 ether for each of `ACCOUNTS`. Throws an Error with anvil's
 * stderr if it does not start.
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
  // The option puts the block with the tag `safe` two blocks behind the head, and the one with `finalized` four.
  args.push('--slots-in-an-epoch', 2)
  // The option allows larger contracts. Some exceed the size limit, because they are compiled without the optimizer's slowest step.
  args.push('--disable-code-size-limit')
  if (startsAt !== undefined) args.push('--timestamp', startsAt)
  // A chain without an interval keeps few old states: tests mine thousands of blocks immediately and read no old state.
  else if (blockSeconds === undefined) args.push('--prune-history', 200)
  // anvil stores states of old blocks in this folder, about 200 KB each, and never removes them. The watcher does.
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
  let isHeld = false
  const pauseBlocks = (held: boolean) => {
    isHeld = held
  }
  const mineEverySeconds = async (seconds: number) => {
    await callRpc(chain, [{ method: 'evm_setAutomine', params: [false] }])
    void mineEvery(chain, seconds * 1000, { signal: clock.signal, isHeld: () => isHeld })
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
 * Mines blocks at an interval. It replaces anvil's timer, which counts whole seconds. Blocks in one second share a timestamp, as on Base.
 */
async function mineEvery(
  chain: LocalChain,
  milliseconds: number,
  { signal, isHeld }: { signal: AbortSignal; isHeld: () => boolean },
): Promise<void> {
  for (let next = Date.now() + milliseconds; !signal.aborted; next = Math.max(next + milliseconds, Date.now())) {
    await sleep(next - Date.now(), undefined, { signal, ref: false }).catch(() => undefined)
    if (!signal.aborted && !isHeld()) await callRpc(chain, [{ method: 'evm_mine', params: [] }]).catch(() => undefined)
  }
}

function anvilBinary(): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const binary = `@foundry-rs/anvil-${process.platform}-${architecture}/bin/anvil`
  // The path is resolved from anvil's main package, because only that one depends on the platform's package.
  return createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json')).resolve(binary)
}
