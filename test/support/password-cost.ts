import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

// Hundreds of account tests would spend most of their time on password hashing. So tests replace `crypto.scrypt` by a cheap
// variant. The original function is kept globally, because test files share a process.
declare global {
  var scryptAtStart: typeof crypto.scrypt | undefined
}
const scrypt = globalThis.scryptAtStart ?? crypto.scrypt
globalThis.scryptAtStart = scrypt

lowerPasswordCost()

/** Makes password hashing nearly free for modules that load later. The hash stays scrypt, with a cost of 2. */
export function lowerPasswordCost(): void {
  replaceScrypt(((password, salt, length, options, callback) =>
    // The cast is safe because the service calls only this overload of scrypt.
    scrypt(password, salt, length, { ...options, N: 2 }, callback)) as typeof scrypt)
}

/** Makes password hashing as expensive as in production for modules that load later. */
export function restorePasswordCost(): void {
  replaceScrypt(scrypt)
}

function replaceScrypt(by: typeof scrypt): void {
  crypto.scrypt = by
  syncBuiltinESMExports()
}
