import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

// Password hashing takes most of the time of hundreds of account tests. Tests therefore make it cheap by replacing
// `crypto.scrypt`, so that the service itself needs no such setting. The original is global because test files share a process.
declare global {
  var scryptAtStart: typeof crypto.scrypt | undefined
}
const scrypt = globalThis.scryptAtStart ?? crypto.scrypt
globalThis.scryptAtStart = scrypt

lowerPasswordCost()

/** Makes password hashing nearly free, but otherwise unchanged, in modules that load later. */
export function lowerPasswordCost(): void {
  replaceScrypt(((password, salt, length, options, callback) =>
    // The cast is safe because the service calls only this overload of scrypt.
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
