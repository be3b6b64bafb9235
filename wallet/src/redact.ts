/** Fields of requests and responses whose values give access to an account, or help to get it. */
const SECRETS: ReadonlySet<string> = new Set([
  'token',
  'temporaryAuthenticationToken',
  'challengeIdentifier',
  'password',
  'otpCode',
  'otpUrl',
  'secret',
  'privateKey',
  'encryptedPrivateKey',
  // The id of a recovery key is a part of the recovery kit, so it is secret too.
  'credentialId',
  'recoveryCredential',
  'allowedRecoveryCredentials',
  'recovery',
])

/** Returns the JSON text with the values of secret fields hidden. A text without such fields stays as it is. */
export function redact(text: string): string {
  const hide = (name: string, value: unknown) => (SECRETS.has(name) && !isPublic(value) ? '…' : value)
  if (![...SECRETS].some((name) => text.includes(`"${name}"`))) return text
  try {
    return JSON.stringify(JSON.parse(text), hide)
  } catch {
    return '…'
  }
}

/** Returns true for a contract's address, which is no secret: the field `token` can hold one. */
function isPublic(value: unknown): boolean {
  return value === null || (typeof value === 'string' && /^0x[\da-f]{40}$/i.test(value))
}
