import { type Address, encodeDeployData, encodeFunctionData, parseAbi, zeroAddress } from 'viem'
import * as z from 'zod'
import { buildCall, requireValue } from '../../lib/chain/call.ts'
import { decodeCall, decodeLog } from '../../lib/chain/decode.ts'
import { erc20Abi } from '../../lib/chain/erc20.ts'
import { buildReadPlan, mapReadPlan, type ReadPlan } from '../../lib/chain/reader.ts'
import { Address as AddressCodec, Amount } from '../../lib/core/codecs.ts'
import { AppError } from '../../lib/core/errors.ts'
import type { EventOf, LedgerRules } from '../../lib/protocols/books.ts'
import { NO_CANCELS, type Operations } from '../../lib/protocols/calldata.ts'
import { NO_REQUESTS, type Overview, type Protocol } from '../../lib/protocols/protocol.ts'
import { TokenizedVault } from '../../lib/protocols/tokenized-vault.ts'
import { buildVaultState } from '../../lib/protocols/vault-state.ts'
import { ACCOUNTS } from '../../sandbox/accounts.ts'
import { compiledContract } from '../../sandbox/contracts.ts'
import { callRpc } from '../../sandbox/rpc.ts'
import { transact } from '../../sandbox/transactions.ts'

// Made-up protocol that is neither ERC-4626 nor ERC-7540: its vault sells bonds at a fixed price. Function, event, error and
// vault field are its own. The file shows all code that the service needs to support a new protocol.

/** ABI of a bond vault. A bond has six decimals, like the asset that pays for it. */
export const bondAbi = parseAbi([
  'function issuePrice() view returns (uint256)',
  'function buy(uint256 paid, address holder)',
  'event Bought(address indexed holder, address indexed buyer, uint256 paid, uint256 bonds)',
  'error LessThanOneBond(uint256 paid)',
])

/** Schema of a bond vault's configuration: the fields of every vault, and the price of one bond in the asset's smallest unit. */
export const BondVault = TokenizedVault.extend({ protocol: z.literal('bond'), issuePrice: Amount })
type BondVault = z.output<typeof BondVault>

const ONE = 10n ** 6n

const TERMS = { entry: 'instant', exit: 'none', fees: {}, room: null, liquidity: 0n } as const

function overview({ address }: Pick<BondVault, 'address'>): ReadPlan<Overview & { issuePrice: bigint | undefined }> {
  const calls = {
    issuePrice: buildCall(address, bondAbi, 'issuePrice', []),
    bonds: buildCall(address, erc20Abi, 'totalSupply', []),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers: { issuePrice, bonds } }) => {
    const sharePrice = issuePrice && issuePrice * ONE
    const totalAssets = issuePrice && bonds !== undefined ? issuePrice * bonds : undefined
    return { issuePrice, sharePrice, hasCap: false, terms: TERMS, state: buildVaultState({ sharePrice, totalAssets }) }
  })
}

type BondEvent = EventOf<typeof bondAbi>

const books: LedgerRules<BondVault, BondEvent> = {
  repricing: new Set(['Bought']),
  explainTransfer: (_, { eventName, args }) =>
    eventName === 'Bought' ? { from: zeroAddress, to: args.holder, shares: args.bonds } : undefined,
  shareValue: ({ issuePrice }, _, shares) => shares * issuePrice,
  foldLedgers: (_, before, events) => events.map(() => before),
  priceAfter: ({ issuePrice }) => issuePrice * ONE,
  entries: (_, events) =>
    events.map(({ eventName, args }) =>
      eventName === 'Bought'
        ? [{ account: args.holder, kind: 'deposit', requestId: 0n, assets: args.paid, shares: args.bonds }]
        : [],
    ),
  findHandover: () => undefined,
  isOwner: () => true,
}

/** Implementation of the bond protocol's reads and recorded events. */
export const bond: Protocol<BondVault> = {
  abi: bondAbi,
  describe: (vault) =>
    mapReadPlan(overview(vault), ({ issuePrice }) =>
      issuePrice ? { protocol: 'bond', issuePrice, hasCap: false, version: null } : 'no bond: it has no issue price',
    ),
  overview,
  account: ({ address, issuePrice }, account) =>
    buildReadPlan(
      { address, slots: {}, calls: { bonds: buildCall(address, erc20Abi, 'balanceOf', [account]) } },
      ({ answers }) => ({
        shares: () => requireValue(answers.bonds),
        ...NO_REQUESTS,
        price: () => ({ sharePrice: issuePrice * ONE, worth: (shares) => shares * issuePrice }),
      }),
    ),
  depositTerms: ({ address, asset, issuePrice }, account) =>
    buildReadPlan(
      { address, slots: {}, calls: { allowance: buildCall(asset, erc20Abi, 'allowance', [account, address]) } },
      ({ answers }) => ({
        allowance: requireValue(answers.allowance),
        terms: TERMS,
        room: () => undefined,
        sharesFor: (assets) => assets / issuePrice,
        worth: (shares) => shares * issuePrice,
        choose: () => 'buy',
      }),
    ),
  withdrawalTerms: (vault) =>
    buildReadPlan({ address: vault.address, slots: {}, calls: {} }, () => () => {
      throw new AppError('withdrawal_refused')
    }),
  books,
}

/** Implementation of the bond protocol's deposit transactions. */
export const bondOperations: Operations = {
  withdrawals: [],
  claims: [],
  cancels: NO_CANCELS,
  deposits: [
    {
      name: 'buy',
      isAsync: false,
      encode: ({ amount, account }) =>
        encodeFunctionData({ abi: bondAbi, functionName: 'buy', args: [amount, account] }),
      decode(data) {
        const bought = decodeCall(bondAbi, data)
        return bought?.functionName === 'buy' ? { amount: bought.args[0], receiver: bought.args[1] } : undefined
      },
      parseTakenDeposit(log) {
        const event = decodeLog(bondAbi, log)
        return (
          event && {
            account: event.args.holder,
            payer: event.args.buyer,
            assets: event.args.paid,
            shares: event.args.bonds,
          }
        )
      },
    },
  ],
}

/**
 * Deploys a bond vault for this asset and returns its address. `price` is the price of one bond in the asset's smallest unit.
 */
export async function deployBond(chain: { readonly rpcUrl: string }, asset: Address, price: bigint): Promise<Address> {
  const { abi, bytecode } = await compiledContract('Bond')
  const data = encodeDeployData({ abi, bytecode, args: [asset, price] })
  const [hash] = await transact(chain, [{ label: 'Bond', from: ACCOUNTS.admin.address, data }])
  const [receipt] = await callRpc(chain, [{ method: 'eth_getTransactionReceipt', params: [hash] }])
  return z.object({ contractAddress: AddressCodec }).parse(receipt).contractAddress
}
