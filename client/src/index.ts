export * from './api.ts'
export { items, poll, type WaitOptions, waitForDeposit, waitForTransfer, waitForWithdrawal } from './follow.ts'
export {
  type ApiError,
  type CallError,
  CallFailure,
  type CallOptions,
  type Client,
  type ErrorDetail,
  type Failure,
  type Operation,
  orThrow,
  type Result,
  type Success,
} from './operation.ts'
export { type Call, toCalls, toViem } from './transactions.ts'
