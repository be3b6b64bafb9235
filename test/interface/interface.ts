// These schemas repeat the published API document, and nothing in this folder imports from lib/. Objects are strict if the
// document has all their fields, and loose if the service adds some.
import * as z from 'zod'
import { Registration, RegistrationInit } from './accounts.ts'
import { Deposits, Position, Positions } from './activity.ts'
import { clashingNames } from './letter-case.ts'
import { Balances, MarketCoins } from './portfolio.ts'
import { DepositStatus, TransferStatus } from './status.ts'
import { Calldata, Vault, VaultList } from './vaults.ts'

/**
 * Schemas of the document's successful responses, by request. The document names no path for the last four, so the paths are the
 * service's.
 */
export const RESPONSES: readonly (readonly [request: RegExp, response: z.ZodType])[] = [
  [/^POST \/auth\/register\/init$/, RegistrationInit],
  [/^POST \/auth\/register$/, Registration],
  [/^GET \/portfolio-indexor\/allBalances$/, Balances],
  [/^GET \/portfolio-indexor\/markets$/, MarketCoins],
  [/^GET \/defi-vaults\/v1\/vaults$/, VaultList],
  [/^GET \/defi-vaults\/v1\/defi\/vault\/[^/]+\/deposit-status$/, DepositStatus],
  [/^GET \/defi-vaults\/v1\/defi\/user\/[^/]+\/positions$/, Positions],
  [/^GET \/defi-vaults\/v1\/defi\/user\/[^/]+\/deposits$/, Deposits],
  [/^GET \/defi-vaults\/v1\/defi\/user\/[^/]+\/positions\/[^/]+$/, Position],
  [/^GET \/defi-vaults\/v1\/vault\/[^/]+$/, Vault],
  [/^POST \/defi-vaults\/v1\/defi\/vault\/(deposit|withdraw|claim|cancel)$/, Calldata],
  [/^GET \/defi-vaults\/v1\/defi\/cross-chain\/[^/]+\/status$/, TransferStatus],
]

/** Throws if a response differs from the document, or if two names in one object differ only in case. */
export function checkInterface(request: string, { status, body }: { readonly status: number; readonly body: unknown }) {
  const clashing = clashingNames(body)
  if (clashing.length > 0) throw new Error(`Names in the response to ${request} differ only in case: ${clashing}.`)
  const [path = ''] = request.split('?')
  const schema = status < 300 && RESPONSES.find(([pattern]) => pattern.test(path))?.[1]
  const { error } = (schema || z.unknown()).safeParse(body)
  if (error) throw new Error(`The response to ${request} differs from the interface:\n${z.prettifyError(error)}`)
}
