import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

// Password hashing dominates the cost of account tests, and there are hundreds. Therefore tests lower it outside the service,
// at `crypto.scrypt`, and nothing in the service can. Test files share a process.
declare global {
  var scryptAtStart: typeof crypto.scrypt | undefined
}
const scrypt = globalThis.scryptAtStart ?? crypto.scrypt
globalThis.scryptAtStart = scrypt

lowerPasswordCost()

/** Makes password hashing nearly free in modules that load later, and otherwise unchanged. */
export function lowerPasswordCost(): void {
  replaceScrypt(((password, salt, length, options, callback) =>
    // The service only calls this overload.
    scrypt(password, salt, length, { ...options, N: 2 }, callback)) as typeof scrypt)
}

/** Makes password hashing cost as much as in production in modules that load later. */
export function restorePasswordCost(): void {
  replaceScrypt(scrypt)
}

function replaceScrypt(by: typeof scrypt): void {
  crypto.scrypt = by
  syncBuiltinESMExports()
}
