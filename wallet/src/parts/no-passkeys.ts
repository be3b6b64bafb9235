/**
 * Returns true if this browser supports passkeys. Some wallet apps have browsers without passkeys
 * (https://github.com/MetaMask/metamask-mobile/issues/4974).
 */
export function hasPasskeySupport(): boolean {
  return 'PublicKeyCredential' in window
}

/** Text that replaces a passkey button, if the browser does not support passkeys. */
export const NO_PASSKEYS =
  'This browser cannot use passkeys. Open this page in Safari or Chrome to log in. You can still deposit with a wallet here.'
