// These schemas repeat the published API document. They import nothing from lib/, because they must reveal mistakes in lib/. A
// schema is loose if the service adds fields to the object, otherwise strict.
import * as z from 'zod'
import { Registration, RegistrationInit } from './accounts.ts'
import { Deposits, Position, Positions } from './activity.ts'
import { clashingNames } from './letter-case.ts'
import { Balances, MarketCoins } from './portfolio.ts'
import { DepositStatus, TransferStatus } from './status.ts'
import { Calldata, Vault, VaultList } from './vaults.ts'

/**
 * Schemas of the successful responses in the API document, by request. For the last four the document names no path, so the
 * service's paths are used.
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

/** Throws if a response differs from the API document, or if two field names in one object differ only in upper and lower case. */
export function checkInterface(request: string, { status, body }: { readonly status: number; readonly body: unknown }) {
  const clashing = clashingNames(body)
  if (clashing.length > 0) throw new Error(`Names in the response to ${request} differ only in case: ${clashing}.`)
  const [path = ''] = request.split('?')
  const schema = status < 300 && RESPONSES.find(([pattern]) => pattern.test(path))?.[1]
  const { error } = (schema || z.unknown()).safeParse(body)
  if (error) throw new Error(`The response to ${request} differs from the interface:\n${z.prettifyError(error)}`)
}
