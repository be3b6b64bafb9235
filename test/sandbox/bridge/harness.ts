import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  getAddress,
  type Hash,
  type Hex,
  numberToHex,
  pad,
  parseAbi,
  parseEventLogs,
  parseUnits,
  zeroAddress,
} from 'viem'
import { getBlock, getTransactionReceipt, readContract, simulateContract } from 'viem/actions'
import { ACCOUNTS } from '../../../sandbox/accounts.ts'
import {
  type BridgeDeposit,
  bridgeContracts,
  deployBridge,
  deployBridgeTokens,
  multicallHandlerAbi,
  readDeposits,
  relayDataOf,
  spokePoolAbi,
} from '../../../sandbox/bridge.ts'
import { startChain } from '../../../sandbox/chains.ts'
import { deployTether } from '../../../sandbox/deploy.ts'
import { createRelayer } from '../../../sandbox/relayer.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { type LocalTransaction, transact } from '../../../sandbox/transactions.ts'
import { createChainClient } from '../../support/chain-client.ts'
import { MESSAGE_PARAMETERS, TOKEN_ABI } from '../../support/oracles.ts'
import { catchErrorName } from '../harness.ts'

/** Test users who deposit and receive tokens. */
export const [ALICE, BOB, CAROL] = ACCOUNTS.users.map(({ address }) => address) as [Address, Address, Address]
export const RELAYER = ACCOUNTS.relayer.address
export const STRANGER = ACCOUNTS.feeReceiver.address

/** Contract call in a bridge message. The handler contract executes it after the fill. */
export type Call = { readonly target: Address; readonly callData: Hex; readonly value: bigint }

/** Encodes a bridge message to the handler contract, without the service's own code. */
export function encodeHandlerMessage(calls: readonly Call[], fallbackRecipient: Address): Hex {
  return encodeAbiParameters(MESSAGE_PARAMETERS, [{ calls, fallbackRecipient }])
}

/** Builds one contract call of a bridge message. */
export function buildMessageCall(target: Address, callData: Hex, value = 0n): Call {
  return { target, callData, value }
}

/**
 * Builds a call by the handler contract. Before the call, the handler writes its token balances into the calldata at these
 * offsets.
 */
export function buildCallWithBalance(
  handler: Address,
  target: Address,
  callData: Hex,
  replacement: readonly { readonly token: Address; readonly offset: bigint }[],
): Call {
  const args = [target, callData, 0n, replacement] as const
  return buildMessageCall(
    handler,
    encodeFunctionData({ abi: multicallHandlerAbi, functionName: 'makeCallWithBalance', args }),
  )
}

/** Encodes the calldata of an ERC-20 approval. */
export function encodeApproval(spender: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi: TOKEN_ABI, functionName: 'approve', args: [spender, amount] })
}

/** Encodes the calldata of an ERC-20 transfer. */
export function transferOf(to: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi: TOKEN_ABI, functionName: 'transfer', args: [to, amount] })
}

/** Encodes an address as 32 bytes in lower-case hex. */
export function encodeAddressWord(address: Address): Hex {
  return pad(address).toLowerCase() as Hex
}

function balanceOf(chain: { readonly rpcUrl: string }, account: Address, token: Address): Promise<bigint> {
  return readContract(createChainClient(chain), {
    address: token,
    abi: TOKEN_ABI,
    functionName: 'balanceOf',
    args: [account],
  })
}

/** One chain of the bridge, with its contracts and tokens. */
export type BridgeChain = Awaited<ReturnType<typeof openSide>>

/** Starts a local chain with the bridge's contracts, USDC and USDT. The functions of USDT return nothing. */
async function openSide(chainId: number) {
  const chain = await startChain({ chainId })
  // Contracts have different addresses on each chain. So code that confuses two chains fails a test.
  const nonce = numberToHex(chainId % 1000)
  await callRpc(chain, [{ method: 'anvil_setNonce', params: [ACCOUNTS.admin.address, nonce] }])
  const [token] = await deployBridgeTokens(chain, ['USDC'])
  if (!token) throw new Error('There is no token')
  const { address: usdc, decimals } = token
  const usdt = await deployTether(chain)
  await deployBridge(chain, [
    { address: usdc, decimals },
    { address: usdt, decimals: 6 },
  ])
  const client = createChainClient(chain)
  const { pool, multicallHandler: handler } = bridgeContracts(chainId)

  return {
    chain,
    chainId,
    client,
    decimals,
    usdc,
    usdt,
    pool,
    handler,
    stop: () => chain.stop(),
    units: (whole: string) => parseUnits(whole, decimals),
    now: async () => Number((await getBlock(client)).timestamp),
    balanceOf: (account: Address, token = usdc) => balanceOf(chain, account, token),
    allowance: (owner: Address, spender: Address, token = usdc) =>
      readContract(client, { address: token, abi: TOKEN_ABI, functionName: 'allowance', args: [owner, spender] }),
    act: (from: Address, to: Address, data: Hex) => transact(chain, [{ label: data.slice(0, 10), from, to, data }]),
    mint: (to: Address, amount: bigint, token = usdc) => transact(chain, [mintOf(token, to, amount)]),
    pass: (seconds: number) =>
      callRpc(chain, [{ method: 'evm_increaseTime', params: [seconds] }]).then(() =>
        callRpc(chain, [{ method: 'evm_mine', params: [] }]),
      ),
    fillStatus: (relayHash: Hash) =>
      readContract(client, { address: pool, abi: spokePoolAbi, functionName: 'fillStatuses', args: [relayHash] }),
    refusal: (account: Address, functionName: string, args: readonly unknown[], value = 0n) =>
      catchErrorName(
        simulateContract(client, { address: pool, abi: spokePoolAbi, functionName, args, account, value } as never),
      ),
    handlerRefusal: (account: Address, functionName: string, args: readonly unknown[]) =>
      catchErrorName(
        simulateContract(client, { address: handler, abi: multicallHandlerAbi, functionName, args, account } as never),
      ),
    async eventsOf(hash: Hash | undefined) {
      if (!hash) throw new Error('There is no transaction')
      const { logs } = await getTransactionReceipt(client, { hash })
      return parseEventLogs({ abi: EVENTS, logs }).map(({ eventName, address, args }): DecodedEvent => {
        return { eventName, address: getAddress(address), args: { ...args } }
      })
    },
  }
}

type DecodedEvent = {
  readonly eventName: string
  readonly address: Address
  readonly args: Readonly<Record<string, unknown>>
}

const EVENTS = [
  ...spokePoolAbi.filter(({ type }) => type === 'event'),
  ...multicallHandlerAbi.filter(({ type }) => type === 'event'),
  ...parseAbi([
    'event Transfer(address indexed from, address indexed to, uint256 value)',
    'event Approval(address indexed owner, address indexed spender, uint256 value)',
    'event DepositRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 assets)',
  ]),
]

function mintOf(token: Address, to: Address, amount: bigint): LocalTransaction {
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'mint', args: [to, amount] })
  return { label: 'mint', from: STRANGER, to: token, data }
}

/** Options that differ from the default deposit: Alice sends 100 USDC to herself. */
export type DepositOptions = {
  readonly depositor?: Address
  readonly recipient?: Address
  readonly inputToken?: Address
  readonly outputToken?: Address
  readonly inputAmount?: bigint
  readonly outputAmount?: bigint
  readonly destinationChainId?: number
  readonly exclusiveRelayer?: Address
  /** Seconds from the chain's present time to the time of the quote. A past quote has a negative number. */
  readonly quotedIn?: number
  /** Seconds from the chain's present time to the deadline for the fill. */
  readonly deadlineIn?: number
  readonly exclusivityParameter?: number
  readonly message?: Hex
}

/** Starts two local chains with the bridge, by default Base and Arbitrum, and a relayer between them. */
export async function openBridge({ to = 42161 } = {}) {
  const [origin, destination] = await Promise.all([openSide(8453), openSide(to)])
  const relayer = createRelayer({ chains: [origin.chain, destination.chain] })

  const argsOf = async (options: DepositOptions = {}, from = origin, into = destination) => {
    const now = await from.now()
    const { depositor = ALICE, inputAmount = from.units('100'), outputAmount = into.units('99.9') } = options
    return [
      depositor,
      options.recipient ?? depositor,
      options.inputToken ?? from.usdc,
      options.outputToken ?? into.usdc,
      inputAmount,
      outputAmount,
      BigInt(options.destinationChainId ?? into.chainId),
      options.exclusiveRelayer ?? zeroAddress,
      now + (options.quotedIn ?? 0),
      now + (options.deadlineIn ?? 7200),
      options.exclusivityParameter ?? 0,
      options.message ?? '0x',
    ] as const
  }

  const depositing = async (options: DepositOptions = {}, from = origin, into = destination) => {
    const args = await argsOf(options, from, into)
    const token = args[2]
    const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'depositV3', args })
    return [
      mintOf(token, ALICE, args[4]),
      { label: 'approve 0', from: ALICE, to: token, data: encodeApproval(from.pool, 0n) },
      { label: 'approve', from: ALICE, to: token, data: encodeApproval(from.pool, args[4]) },
      { label: 'depositV3', from: ALICE, to: from.pool, data },
    ]
  }

  return {
    origin,
    destination,
    relayer,
    async stop() {
      await relayer.stop()
      await Promise.all([origin.stop(), destination.stop()])
    },
    argsOf,
    async deposit(options: DepositOptions = {}, from = origin, into = destination): Promise<BridgeDeposit> {
      const hash = (await transact(from.chain, await depositing(options, from, into))).at(-1)
      const deposit = (await readDeposits(from.chain)).find(({ transactionHash }) => transactionHash === hash)
      if (!deposit) throw new Error('The pool told of no deposit')
      return deposit
    },
    fillArgs: (deposit: BridgeDeposit, change: Partial<ReturnType<typeof relayDataOf>> = {}) =>
      [{ ...relayDataOf(deposit), ...change }, BigInt(deposit.destinationChainId), encodeAddressWord(RELAYER)] as const,
  }
}
