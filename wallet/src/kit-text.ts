/** Recovery key in the form that the user keeps. It is shown only one time and never stored. */
export type RecoveryKit = { readonly email: string; readonly keyId: string; readonly secret: string }

/** Formats the recovery kit as text, for a file or for printing. */
export function formatKit({ email, keyId, secret }: RecoveryKit): string {
  return `Vaultline recovery kit\nE-mail: ${email}\nKey id: ${keyId}\nSecret: ${secret}\n`
}

/** Parses a recovery kit from text. Case and spaces of the secret do not matter. Returns undefined if a part is missing. */
export function parseKit(text: string): (Omit<RecoveryKit, 'email'> & { readonly email?: string }) | undefined {
  const [, keyId] = /(?:^|\s)([\w-]{43})(?=\s|$)/.exec(text) ?? []
  if (!keyId) return undefined
  const [secret] = /\bD1(?:[\s-]*[A-HJ-NP-Z2-9]){32}\b/i.exec(text.replace(keyId, '')) ?? []
  const [, email] = /E-mail:\s*(\S+)/.exec(text) ?? []
  return secret ? { keyId, secret: groupSecret(secret), ...(email && { email }) } : undefined
}

/** Groups the characters of a typed secret as recovery kits show them. */
export function groupSecret(typed: string): string {
  const characters = typed.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')
  return characters.replace(/^D1(.{6})(.{5})(.{5})(.{5})(.{5})(.{6})$/, 'D1-$1-$2-$3-$4-$5-$6')
}
