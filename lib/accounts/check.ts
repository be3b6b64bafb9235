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

/** Builds the error `invalid_credential`. Its cause names the failed check for the log, and contains no data of the request. */
export function buildFailedCheckError(check: Check): AppError {
  return new AppError('invalid_credential', { cause: new Error(`The ${check} is wrong.`) })
}

/** Throws `invalid_credential` if the condition is false. The error's cause names the check for the log. */
export function requireCheck(holds: boolean, check: Check): asserts holds {
  if (!holds) throw buildFailedCheckError(check)
}
