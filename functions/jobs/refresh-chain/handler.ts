import { dynamo } from '../../../lib/aws/dynamo.ts'
import type { ChainReader } from '../../../lib/chain/reader.ts'
import { type ClientsTable, clientsTable } from '../../../lib/clients/table.ts'
import { readConfig, readersOf } from '../../../lib/lambda/config.ts'
import { job } from '../../../lib/lambda/job.ts'
import { readOverviews } from '../../../lib/vaults/overview.ts'
import { type StateTable, stateTable } from '../../../lib/vaults/state-table.ts'
import { contract } from './contract.ts'

type Dependencies = {
  clients: Pick<ClientsTable, 'listVaultsOnChain'>
  states: Pick<StateTable, 'record'>
  readerOf: (chainId: number) => ChainReader
}

const refreshChain =
  ({ clients, states, readerOf }: Dependencies) =>
  async ({ chainId }: { chainId: number }) => {
    const vaults = (await clients.listVaultsOnChain(chainId)).filter(({ kind }) => kind === 'lagoon')
    if (vaults.length === 0) return { chainId, vaults: 0, recorded: 0, unchanged: 0 }

    const { block, overviews } = await readOverviews(readerOf(chainId), vaults)
    const asOf = { blockNumber: Number(block.number), timestamp: new Date(Number(block.timestamp) * 1000) }
    const writes = await Promise.all(
      vaults.map((vault, index) => {
        const state = overviews[index]?.state
        return state ? states.record(vault, { state, asOf }) : false
      }),
    )
    const recorded = writes.filter(Boolean).length
    return { chainId, vaults: vaults.length, recorded, unchanged: vaults.length - recorded }
  }

export const handler = job(contract, async (env) =>
  refreshChain({
    clients: clientsTable(dynamo(), env.CLIENTS_TABLE),
    states: stateTable(dynamo(), env.DEPOSITS_TABLE),
    readerOf: readersOf(await readConfig(env)),
  }),
)
