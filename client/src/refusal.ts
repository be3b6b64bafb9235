/** Code of the reason why the verifier refuses a response. */
export type Reason =
  | 'malformed'
  | 'unsigned'
  | 'request_not_covered'
  | 'unknown_key'
  | 'not_in_time'
  | 'body_changed'
  | 'wrong_signature'
  | 'unknown_vault'
  | 'wrong_transactions'
  | 'unbounded'
  | 'wrong_chain'
  | 'reverted'
  | 'wrong_amounts'
  | 'unconfirmed'
  | 'node_failed'

/** Error that the verifier throws internally. The package's functions catch it and return its reason as a `Verdict`. */
export class Refusal extends Error {
  readonly reason: Reason
  constructor(reason: Reason, message: string) {
    super(message)
    this.reason = reason
  }
}

/** Throws a Refusal with the reason `wrong_transactions` and this message unless the condition holds. */
export function refuseUnless(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Refusal('wrong_transactions', message)
}
