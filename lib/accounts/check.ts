import { AppError } from '../errors.ts'

/** What can be wrong with a credential or with what it signed. */
type Check =
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
  | 'counter'
  | 'password'
  | 'code'
  | 'second factor'

/** The error for a check that failed: `invalid_credential`, whose cause says which, and nothing of what was received. */
export function failedCheck(check: Check): AppError {
  return new AppError('invalid_credential', { cause: new Error(`The ${check} is wrong.`) })
}

/** Throws `invalid_credential` unless this holds. */
export function assert(holds: boolean, check: Check): asserts holds {
  if (!holds) throw failedCheck(check)
}
