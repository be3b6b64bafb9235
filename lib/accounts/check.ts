/** What can be wrong with a credential or with what it signed. */
export type Check =
  | 'client data'
  | 'type'
  | 'challenge'
  | 'origin'
  | 'attestation'
  | 'relying party'
  | 'user verification'
  | 'credential id'
  | 'algorithm'
  | 'signature'
  | 'password'
  | 'code'

/** A check that a credential did not pass. It says which, and nothing of what was received. */
export class FailedCheck extends Error {
  readonly check: Check

  constructor(check: Check) {
    super(`The ${check} is wrong.`)
    this.name = 'FailedCheck'
    this.check = check
  }
}

/** Throws FailedCheck unless this holds. */
export function assert(holds: boolean, check: Check): asserts holds {
  if (!holds) throw new FailedCheck(check)
}

/** Whether checks were passed; throws on what went wrong besides. */
export function isFulfilled<T>(result: PromiseSettledResult<T>): result is PromiseFulfilledResult<T> {
  if (result.status === 'fulfilled') return true
  if (!(result.reason instanceof FailedCheck)) throw result.reason
  return false
}
