import { getDepositStatus, getTransferStatus, getWithdrawalStatus } from './api.ts'
import { type CallOptions, type Client, type Operation, orThrow, pauseFor, type Result, sleep } from './operation.ts'

type Polled = { readonly nextPollAfterMs: number | null }

/**
 * Polls a status and yields each response, which names the pause before the next poll. Ends if no further poll is needed, on an error that
 * waiting does not fix, and when the signal aborts.
 */
export async function* poll<Input, Data extends Polled, Code extends string>(
  operation: Operation<Input, Data, Code>,
  client: Client,
  input: Input,
  { signal }: CallOptions = {},
): AsyncGenerator<Result<Data, Code>, void> {
  while (!signal?.aborted) {
    const result = await operation(client, input, { signal })
    yield result
    const pauseMs = result.ok ? result.data.nextPollAfterMs : result.error.retryAfterMs
    if (pauseMs === null || pauseMs === undefined) return
    await sleep(pauseFor(pauseMs), signal)
  }
}

/** Returns the last result of a poll, a response or an error. Returns the error `aborted` if the signal aborts before any response. */
async function findLast<Data, Code extends string>(
  answers: AsyncGenerator<Result<Data, Code>, void>,
  onAnswer: ((data: Data) => void) | undefined,
): Promise<Result<Data, Code>> {
  let last: Result<Data, Code> | undefined
  for await (const result of answers) {
    last = result
    if (result.ok) onAnswer?.(result.data)
  }
  return last ?? ABORTED
}

const ABORTED = {
  ok: false,
  error: {
    code: 'aborted',
    status: 0,
    message: 'The caller aborted the call.',
    details: [],
    requestId: undefined,
    retryAfterMs: undefined,
  },
} as const

/** Options of `waitForDeposit`, `waitForWithdrawal` and `waitForTransfer`. `onAnswer` receives each successful response. */
export type WaitOptions<Data> = CallOptions & { readonly onAnswer?: (data: Data) => void }
type InputOf<Operation> = Operation extends (client: Client, input: infer Input, ...rest: never[]) => unknown
  ? Input
  : never
type DataOf<Operation> = Operation extends (...args: never[]) => Promise<Result<infer Data, string>> ? Data : never
type Waiting<Operation> = WaitOptions<DataOf<Operation>>

/**
 * Polls a deposit into an asynchronous vault until the vault settles it, and returns the last result. Call it after the deposit is mined.
 */
export function waitForDeposit(
  client: Client,
  input: InputOf<typeof getDepositStatus>,
  { onAnswer, signal }: Waiting<typeof getDepositStatus> = {},
) {
  return findLast(poll(getDepositStatus, client, input, { signal }), onAnswer)
}

/**
 * Polls a withdrawal from an asynchronous vault until the vault settles it, and returns the last result. Call it after the request is
 * mined.
 */
export function waitForWithdrawal(
  client: Client,
  input: InputOf<typeof getWithdrawalStatus>,
  { onAnswer, signal }: Waiting<typeof getWithdrawalStatus> = {},
) {
  return findLast(poll(getWithdrawalStatus, client, input, { signal }), onAnswer)
}

/** Polls a transfer between chains until it ends, and returns the last result. `txHash` is its source transaction. */
export function waitForTransfer(
  client: Client,
  input: InputOf<typeof getTransferStatus>,
  { onAnswer, signal }: Waiting<typeof getTransferStatus> = {},
) {
  return findLast(poll(getTransferStatus, client, input, { signal }), onAnswer)
}

type Page = { readonly nextCursor: string | null }
/** Item of a paginated response: an element of the only field, beside `evidence`, that is a list. */
type ItemOf<Data> = {
  [Field in Exclude<keyof Data, 'evidence'>]-?: Data[Field] extends readonly (infer Item)[] ? Item : never
}[Exclude<keyof Data, 'evidence'>]

/** Yields all items of a list, and loads each page when it is needed. Throws a CallFailure if a page fails. */
export async function* items<
  // biome-ignore lint/suspicious/noConfusingVoidType: the whole input of an operation may be left out
  Input extends { cursor?: string | undefined } | void,
  Data extends Page,
  Code extends string,
>(
  operation: Operation<Input, Data, Code>,
  client: Client,
  input: Exclude<NoInfer<Input>, void>,
  options: CallOptions = {},
): AsyncGenerator<ItemOf<Data>, void> {
  let cursor: string | null | undefined
  do {
    const page = orThrow(await operation(client, cursor ? { ...input, cursor } : input, options))
    // The cast is safe because the operation names the field that is the list.
    yield* page[operation.items as keyof Data] as readonly ItemOf<Data>[]
    cursor = page.nextCursor
  } while (cursor !== null)
}
