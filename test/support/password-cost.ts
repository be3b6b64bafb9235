import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

// A password costs most of what a test of accounts does, and there are hundreds. As the time is, its cost is lowered at
// the edge, of what the service calls, so that nothing in the service can lower it. Test files share a process.
declare global {
  var scryptAtStart: typeof crypto.scrypt | undefined
}
const scrypt = globalThis.scryptAtStart ?? crypto.scrypt
globalThis.scryptAtStart = scrypt

costNothing()

/** Lets a password cost next to nothing in modules that are loaded from now on; all else about it is as it is. */
export function costNothing(): void {
  replaceScrypt(((password, salt, length, options, callback) =>
    // The service calls this one of its forms.
    scrypt(password, salt, length, { ...options, N: 2 }, callback)) as typeof scrypt)
}

/** Lets a password cost as much as in production in modules that are loaded from now on. */
export function costAll(): void {
  replaceScrypt(scrypt)
}

function replaceScrypt(by: typeof scrypt): void {
  crypto.scrypt = by
  syncBuiltinESMExports()
}
