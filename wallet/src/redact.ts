/** Fields of requests and responses that open an account, or help to. */
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
  // The id of a recovery key is a part of the kit.
  'credentialId',
  'recoveryCredential',
  'allowedRecoveryCredentials',
  'recovery',
])

/** Returns the JSON text without the values of secret fields. A text without such fields stays as it is. */
export function redact(text: string): string {
  const hide = (name: string, value: unknown) => (SECRETS.has(name) && !isPublic(value) ? '…' : value)
  if (![...SECRETS].some((name) => text.includes(`"${name}"`))) return text
  try {
    return JSON.stringify(JSON.parse(text), hide)
  } catch {
    return '…'
  }
}

/** Returns true for a contract's address, since the field `token` can hold one. */
function isPublic(value: unknown): boolean {
  return value === null || (typeof value === 'string' && /^0x[\da-f]{40}$/i.test(value))
}
