import { type Address, isHex, numberToHex } from 'viem'
import { buildCall } from '../chain/call.ts'
import { erc20Abi } from '../chain/erc20.ts'
import { buildReadPlan, type ChainReader } from '../chain/reader.ts'
import type { Rpc } from '../chain/rpc.ts'
import { vaultAbi } from './abi.ts'
import type { ProtocolDescription, UnknownVersion, VaultCandidate } from './protocol.ts'
import { PROTOCOLS } from './protocols.ts'

const ASYNC_DEPOSIT_INTERFACE = '0xce3bbe50'

/** Properties of a vault, read from the chain when an operator adds it. */
export type VaultDescription = Omit<VaultCandidate, 'isAsync'> &
  ProtocolDescription & {
    readonly name: string
    /** Block in which the vault was deployed; null if the node lacks the state of blocks that old. */
    readonly firstBlock: number | null
  } & Partial<UnknownVersion>

/**
 * Reads the tokens and properties of a vault. The first protocol that recognizes the vault determines its properties.
 * `archive` is a node with old states, which the search for the deployment block needs. Throws an Error with the
 * reason, for an operator, if the vault is unsupported. Throws `upstream_*` if the chain cannot be read.
 */
export async function describeVault(
  { reader, archive }: { readonly reader: ChainReader; readonly archive: Rpc },
  address: Address,
): Promise<VaultDescription> {
  const chainId = reader.chain.id
  const { value: own, block } = await reader.readOne(readIdentity(address))
  const { asset, shareToken = address, isAsync } = own
  if (asset === undefined) {
    throw new Error(`${address} on chain ${chainId} is not an ERC-4626 vault: it does not report its asset.`)
  }
  const [token, share] = (await reader.read([readToken(asset), readToken(shareToken)])).values
  if (token?.symbol === undefined || token.decimals === undefined) {
    throw new Error(`The vault's asset ${asset} does not report its symbol and decimals.`)
  }
  if (share?.name === undefined || share.decimals === undefined) {
    throw new Error(`The vault's share ${shareToken} does not report its name and decimals.`)
  }
  const candidate = {
    chainId,
    address,
    asset,
    assetSymbol: token.symbol,
    assetDecimals: token.decimals,
    shareToken,
    shareDecimals: share.decimals,
  }
  const firstBlock = await findFirstBlock(archive, address, Number(block.number))
  const refusals: string[] = []
  let unknown: UnknownVersion | undefined
  for (const { describe } of Object.values(PROTOCOLS)) {
    const { value } = await reader.readOne<ProtocolDescription | UnknownVersion | string>(
      describe({ ...candidate, isAsync }),
    )
    if (typeof value === 'string') refusals.push(value)
    else if ('protocol' in value) return { ...candidate, name: share.name, firstBlock, ...value, ...unknown }
    else {
      unknown = value
      refusals.push(`${value.unknownVersion}, which is unknown`)
    }
  }
  throw new Error(`${address} on chain ${chainId} is ${refusals.join(', and ')}.`)
}

function readIdentity(address: Address) {
  const calls = {
    asset: buildCall(address, vaultAbi, 'asset', []),
    shareToken: buildCall(address, vaultAbi, 'share', []),
    isAsync: buildCall(address, vaultAbi, 'supportsInterface', [ASYNC_DEPOSIT_INTERFACE]),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers: { isAsync, ...answers } }) => ({
    ...answers,
    isAsync: isAsync ?? false,
  }))
}

function readToken(address: Address) {
  const calls = {
    name: buildCall(address, erc20Abi, 'name', []),
    symbol: buildCall(address, erc20Abi, 'symbol', []),
    decimals: buildCall(address, erc20Abi, 'decimals', []),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => answers)
}

/** Number of blocks at which one batch request checks if the contract has code. */
const PROBES = 24

/**
 * Finds the first block at whose end the contract has code; null if the node lacks a state that the search needs. The
 * first request checks blocks before `last` at doubling distances. A node with only recent states thus suffices for a
 * recent contract.
 */
async function findFirstBlock(rpc: Rpc, address: Address, last: number): Promise<number | null> {
  const hasCode = async (blocks: readonly number[]): Promise<(boolean | null)[]> => {
    const outcomes = await rpc(
      blocks.map((block) => ({ method: 'eth_getCode', params: [address, numberToHex(block)] })),
    )
    return outcomes.map((outcome) => ('result' in outcome && isHex(outcome.result) ? outcome.result !== '0x' : null))
  }
  let without = -1
  let withCode = last
  let isFirst = true
  while (withCode - without > 1) {
    const width = withCode - without
    const offsets = isFirst
      ? Array.from({ length: Math.ceil(Math.log2(width)) }, (_, i) => last - 2 ** i)
      : Array.from({ length: PROBES }, (_, i) => without + Math.floor((width * (i + 1)) / (PROBES + 1)))
    const probes = [...new Set(offsets)].filter((block) => block > without && block < withCode)
    const answers = await hasCode(probes)
    for (const [index, block] of probes.entries()) {
      if (answers[index] === false) without = Math.max(without, block)
      if (answers[index] === true) withCode = Math.min(withCode, block)
    }
    // A missing block state matters only if the block may be the first with code. Such blocks lie between the last
    // block known to lack code and the first known to have it.
    if (probes.some((block, index) => answers[index] === null && block > without && block < withCode)) return null
    isFirst = false
  }
  return withCode
}
