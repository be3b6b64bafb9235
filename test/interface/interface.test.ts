import { describe, expect, test } from 'vitest'
import { endpoints } from '../../functions/contracts.ts'
import examples from '../../reference/examples.json' with { type: 'json' }
import { checkInterface, RESPONSES } from './interface.ts'

const VAULT = '/defi-vaults/v1/vault/0x1'
const USER = '/defi-vaults/v1/defi/user/0x1'

/** Recorded responses of the service, each with the number of fields that the API document requires. */
const RECORDED: readonly (readonly [request: string, body: object, fields: number])[] = [
  ['POST /auth/register/init', examples.startRegistration.response, 2],
  ['GET /defi-vaults/v1/vaults', examples.listVaults.response, 2],
  [`GET ${VAULT}`, examples.getVault.response, 17],
  [`POST /defi-vaults/v1/defi/vault/deposit`, examples.prepareDeposit.response, 7],
  ['GET /defi-vaults/v1/defi/vault/0x1/deposit-status?userAddress=0x1', examples.getDepositStatus.response, 7],
  ['GET /defi-vaults/v1/defi/cross-chain/0x1/status', examples.getTransferStatus.response, 9],
  [`GET ${USER}/positions`, examples.listPositions.response, 3],
  [`GET ${USER}/positions/0x1`, examples.getPosition.response, 17],
  [`GET ${USER}/deposits`, examples.listDeposits.response, 4],
]

const check = (request: string, body: unknown) => () => checkInterface(request, { status: 200, body })

describe('The check of responses against the document', () => {
  test.for(RECORDED)(
    'accepts a recorded response and refuses it without any of its fields: %s',
    ([request, body, fields]) => {
      expect(check(request, body)).not.toThrow()
      const refused = Object.keys(body).filter((name) => {
        const { [name]: _, ...rest } = body as Record<string, unknown>
        try {
          check(request, rest)()
          return false
        } catch {
          return true
        }
      })
      // The count leaves out `stateAsOf`. The service adds this field to each vault, and the API document lacks it.
      expect(refused.filter((name) => name !== 'stateAsOf')).toHaveLength(fields)
    },
  )

  test('has only requests that the service takes', () => {
    const taken = Object.values(endpoints).map(({ method, path }) => `${method} ${path}`)
    for (const [request] of RESPONSES) expect(taken).toContainEqual(expect.stringMatching(request))
  })

  test('refuses null in a Lagoon vault’s state except for missing fields, and accepts it for other protocols', () => {
    const { response } = examples.getVault
    const withOwner = (owner: null, missing: string[], protocol = 'lagoon') =>
      check(`GET ${VAULT}`, { ...response, protocol, vaultState: { ...response.vaultState, owner, missing } })
    expect(withOwner(null, [])).toThrow('owner is null, but not missing')
    expect(withOwner(null, ['owner'])).not.toThrow()
    expect(withOwner(null, [], 'erc7540')).not.toThrow()
  })

  test('refuses an additional field if the document has them all', () => {
    const { response } = examples.getDepositStatus
    const vault = { ...response.vault, redeemEpochId: 1 }
    expect(check('GET /defi-vaults/v1/defi/vault/0x1/deposit-status', { ...response, vault })).toThrow('redeemEpochId')
  })

  test('refuses names that differ only in case, at any depth, also in errors', () => {
    const body = { data: [{ APY: '1.00', apy: {} }] }
    expect(() => checkInterface('GET /health', { status: 404, body })).toThrow('differ only in case: APY,apy')
  })
})
