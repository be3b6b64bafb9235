import { Console } from 'node:console'
import { getAddress, keccak256, numberToHex, sliceHex, zeroAddress } from 'viem'
import * as z from 'zod'
import { refreshChain } from '../functions/jobs/refresh-chain/refresh-chain.ts'
import { contract } from '../functions/queues/refresh-group/contract.ts'
import { refreshGroup } from '../functions/queues/refresh-group/refresh-group.ts'
import { depositSourceStore } from '../lib/activity/deposit-source-store.ts'
import { openRequestsStore } from '../lib/activity/open-requests-store.ts'
import { runsStore } from '../lib/activity/recording/runs-store.ts'
import { recordsStore } from '../lib/activity/store.ts'
import { documentClient, putItems } from '../lib/aws/dynamo.ts'
import { transfersStore } from '../lib/bridge/store.ts'
import { chainVaultKey, listedVaultsStore, vaultClientsKey } from '../lib/clients/listed-vaults-store.ts'
import { VaultOnChain } from '../lib/protocols/vault-on-chain.ts'
import { pinStore } from '../lib/vaults/pin-store.ts'
import { stateStore } from '../lib/vaults/state-store.ts'
import { eventLogStore } from '../lib/webhooks/log-store.ts'
import { webhooksStore } from '../lib/webhooks/store.ts'
import { localConfig, startDynamo } from '../sandbox/dynamo.ts'
import { someVault } from '../test/support/clients.ts'
import { countedChain, depositOf, virtualClock } from '../test/support/counted.ts'

// The job over 10,000 vaults of 1,000 clients, at tables on this machine and a chain that answers as a node does that takes ten
// calls in a request and 10,000 blocks of events: what each group's run asks and takes. `node scripts/bench-groups.ts`

const BASE = 8453
const VAULTS = 10_000
const CLIENTS = 1_000
/** Each client has so many of them. */
const OF_CLIENT = 100
const EVENTS = 1_000
const NODE_MS = 50

const say = (text: string) => process.stderr.write(`${text}\n`)

const vaults = Array.from({ length: VAULTS }, (_, index) => {
  const address = getAddress(sliceHex(keccak256(numberToHex(index, { size: 32 })), 12))
  return someVault({ address, shareToken: address, asset: zeroAddress })
})

async function main(): Promise<void> {
  const { endpoint, tableNames, stop } = await startDynamo()
  // The tables of this machine are slower than a function waits for where it has other work.
  const dynamo = documentClient({ ...localConfig(endpoint), requestHandler: { requestTimeout: 60_000 } })
  const counts = { requests: 0 }
  dynamo.middlewareStack.add(
    (next) => (args) => {
      counts.requests += 1
      return next(args)
    },
    { step: 'deserialize', priority: 'low' },
  )
  const { clients, deposits, webhooks } = tableNames
  say(`Listing ${VAULTS} vaults of ${CLIENTS} clients …`)
  const clientsOf = (index: number) =>
    new Set(
      Array.from({ length: (CLIENTS * OF_CLIENT) / VAULTS }, (_, of) =>
        String(1_000_000_000 + ((index + of) % CLIENTS)),
      ),
    )
  await putItems(
    dynamo,
    clients,
    vaults.flatMap((vault, index) => [
      { ...chainVaultKey(vault), ...VaultOnChain.encode(vault) },
      { ...vaultClientsKey(vault), clients: clientsOf(index) },
    ]),
  )
  const clock = virtualClock()
  const chain = countedChain(clock, { mostCalls: 10, mostBlocks: 10_000, delayMs: NODE_MS })
  chain.state.head = 100_000
  const messages: z.output<typeof contract.message>[] = []
  const services = {
    listedVaults: listedVaultsStore(dynamo, clients),
    runs: runsStore(dynamo, deposits),
    records: recordsStore(dynamo, deposits),
    openRequests: openRequestsStore(dynamo, deposits),
    states: stateStore(dynamo, deposits),
    pinStore: pinStore(dynamo, deposits),
    transfers: transfersStore(dynamo, deposits),
    sources: depositSourceStore(dynamo, deposits),
    eventLog: eventLogStore(dynamo, webhooks),
    webhooks: webhooksStore(dynamo, webhooks),
    wakeRelays: async () => {},
    wakeGroups: async (asked: readonly object[]) => {
      messages.push(...z.array(contract.message).parse(asked))
    },
    getReader: () => chain.reader,
    now: clock.now,
  }
  const time = { remainingMs: () => 50_000 }
  const rows: unknown[] = []
  const measure = async (name: string, run: () => Promise<unknown>) => {
    const before = {
      ...counts,
      chain: { ...chain.counts },
      at: clock.now(),
      cpu: process.cpuUsage(),
      start: performance.now(),
    }
    const report = z.looseObject({ vaults: z.number() }).parse(await run())
    const { user, system } = process.cpuUsage(before.cpu)
    rows.push({
      run: name,
      vaults: report.vaults,
      entries: report['entries'],
      behind: report['behind'],
      'table requests': counts.requests - before.requests,
      'chain requests': chain.counts.requests - before.chain.requests,
      'chain calls': chain.counts.calls - before.chain.calls,
      'chain s': (clock.now() - before.at) / 1000,
      'wall s': Math.round((performance.now() - before.start) / 100) / 10,
      'CPU s, with the tables': Math.round((user + system) / 100_000) / 10,
      MB: Math.round(process.memoryUsage().rss / 1e6),
    })
    say(`  ${JSON.stringify(rows.at(-1))}`)
  }
  for (const minute of ['first', 'silent', 'with 1,000 events']) {
    say(`A minute: ${minute} …`)
    if (minute === 'with 1,000 events') {
      const block = chain.state.head
      chain.emit(vaults.slice(0, EVENTS).map(({ address }) => depositOf(address, block, 5_000_000n)))
    }
    clock.set(clock.now() + 60_000)
    chain.state.head += 2_000
    await measure(`${minute}: chain`, () => refreshChain(services)({ chainId: BASE }, time))
    for (const message of messages.splice(0)) {
      await measure(`${minute}: group ${message.group}`, () => refreshGroup(services)(message, time))
    }
  }
  new Console(process.stdout).table(rows)
  dynamo.destroy()
  await stop()
}

await main()
