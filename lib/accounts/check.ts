import { AppError } from '../core/errors.ts'

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

/** Builds the error `invalid_credential`. Its cause names the failed check for the log, and quotes nothing that was received. */
export function failedCheck(check: Check): AppError {
  return new AppError('invalid_credential', { cause: new Error(`The ${check} is wrong.`) })
}

/** Throws `invalid_credential` unless the condition holds; the log names the check. */
export function assert(holds: boolean, check: Check): asserts holds {
  if (!holds) throw failedCheck(check)
}
