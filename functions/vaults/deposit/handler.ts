import type { ChainReader } from '../../../lib/chain/reader.ts'
import { AppError } from '../../../lib/errors.ts'
import { apiKey } from '../../../lib/lambda/api-key.ts'
import { chains } from '../../../lib/lambda/chains.ts'
import type { Reply, Request } from '../../../lib/lambda/contract.ts'
import { endpoint } from '../../../lib/lambda/endpoint.ts'
import { prepareDeposit } from '../../../lib/vaults/deposit.ts'
import { findVault, type Vault } from '../../../lib/vaults/vault.ts'
import { contract } from './contract.ts'

type Body = Request<typeof contract>['body']

const deposit =
  ({ readerOf }: { readerOf: (chainId: number) => ChainReader }) =>
  async ({ client, body }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    requireBothOrNeither(body)
    const vault = findVault(client.vaults, body.vaultAddress, body.chainId)
    requireSameChain(body, vault)

    const request = { vault, user: body.userAddress, amount: body.amount }
    const prepared = await prepareDeposit(readerOf(vault.chainId), request)
    return { ...prepared, protocol: vault.kind, chainId: vault.chainId, isCrossChain: false }
  }

function requireBothOrNeither({ srcChainId, srcToken }: Body): void {
  if (srcChainId === undefined && srcToken !== undefined) throw missing('missing_or_invalid_src_chain_id', 'srcChainId')
  if (srcChainId !== undefined && srcToken === undefined) throw missing('missing_or_invalid_src_token', 'srcToken')
}

/** The vault's own chain and asset named as the source are the same-chain deposit. */
function requireSameChain({ srcChainId, srcToken }: Body, vault: Vault): void {
  if (srcChainId !== undefined && srcChainId !== vault.chainId) throw new AppError('unsupported_source_chain')
  if (srcToken !== undefined && srcToken !== vault.asset) throw new AppError('unsupported_source_token')
}

function missing(code: 'missing_or_invalid_src_chain_id' | 'missing_or_invalid_src_token', field: string): AppError {
  return new AppError(code, { details: [{ field, issue: 'is required' }] })
}

export const handler = endpoint(contract, async (env) => deposit({ readerOf: await chains(env) }), apiKey)
