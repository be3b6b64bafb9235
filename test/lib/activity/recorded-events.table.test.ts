import { zeroAddress, zeroHash } from 'viem'
import { expect } from 'vitest'
import { recordedItems } from '../../../lib/activity/recorded-events.ts'
import { recordsStore } from '../../../lib/activity/store.ts'
import { codeOf } from '../../../lib/core/errors.ts'
import { someVault } from '../../support/clients.ts'
import { test } from '../../support/dynamo.ts'

const ACCOUNT = '0x00000000000000000000000000000000000000A1'

test('An account with an event that only a newer version knows is refused, not shown with wrong amounts', async ({
  tables: { deposits },
}) => {
  const vault = someVault()
  const { chainId, address } = vault
  const location = { chainId, blockNumber: 5n, logIndex: 0, transactionHash: zeroHash, timestamp: 1n }
  const args = { sender: ACCOUNT, owner: ACCOUNT, assets: 7n, shares: 7n }
  const minted = { from: zeroAddress, to: ACCOUNT, value: 7n }
  const items = recordedItems(vault, [
    { eventName: 'Transfer', args: minted, vault: address, location },
    { eventName: 'Deposit', args, vault: address, location: { ...location, logIndex: 1 } },
  ])
  await deposits.putMany(items)
  const { listEntries } = recordsStore(deposits)
  expect(await listEntries(ACCOUNT, [vault])).toMatchObject([[{ kind: 'deposit', assets: 7n }]])

  const newer = JSON.parse(JSON.stringify(items).replace('"name":"Deposit"', '"name":"DepositWithFee"'))
  await deposits.putMany(newer)
  const error = await listEntries(ACCOUNT, [vault]).catch((thrown: unknown) => thrown)
  expect(codeOf(error)).toBe('service_unavailable')
  expect(String(error)).toContain('DepositWithFee')
})
