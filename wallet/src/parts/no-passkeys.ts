/** Returns false in the browsers of some wallet apps (https://github.com/MetaMask/metamask-mobile/issues/4974). */
export function hasPasskeys(): boolean {
  return 'PublicKeyCredential' in window
}

/** Text in place of a passkey button, if the browser has no passkeys. */
export const NO_PASSKEYS =
  'This browser cannot use passkeys. Open this page in Safari or Chrome to log in. You can still deposit with a wallet here.'
