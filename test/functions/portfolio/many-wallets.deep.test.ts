import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, onTestFinished, vi } from 'vitest'
import { parseApiKey } from '../../../lib/clients/api-key.ts'
import { DEFAULT_LIMITS } from '../../../lib/clients/key-limits.ts'
import { sha256 } from '../../../lib/core/sha256.ts'
import { EDGE_HEADER, EDGE_VARIABLE } from '../../../lib/frame/edge.ts'
import { createSession } from '../../support/accounts.ts'
import { someKey } from '../../support/clients.ts'
import { chainlessTest, startNewContainers } from '../../support/service.ts'
import { linkEvm } from '../../support/wallets.ts'

const EDGE_KEY = 'k'.repeat(43)
type Session = Awaited<ReturnType<typeof createSession>>

const USERS = 11
const WALLETS = 20

chainlessTest(
  "Eleven users with 20 new wallets each, ten on one network, do not use up the apps' shared key",
  async ({ service: shared, clock }) => {
    vi.stubEnv(EDGE_VARIABLE, JSON.stringify({ keys: [sha256(EDGE_KEY)], isOnlyWay: false }))
    const { service, stop } = await startNewContainers(shared, { isWhole: true })
    onTestFinished(async () => {
      vi.unstubAllEnvs()
      await stop()
    })
    // The clock advances to the start of a rate window of 600 s. The test then ends within the same window.
    clock.pass(600 - ((Date.now() / 1000) % 600))
    const { clientId = '' } = parseApiKey(service.apiKey) ?? {}
    const { text: key, key: stored } = someKey(clientId, { limits: DEFAULT_LIMITS })
    await service.backends.admin.clients.putKey(clientId, stored)
    const sessions: Session[] = []
    for (let user = 0; user < USERS + 1; user += 1) {
      const session = await createSession(service)
      for (let wallet = 0; wallet < WALLETS; wallet += 1) {
        const privateKey = generatePrivateKey()
        await linkEvm(service, session, { privateKey, address: privateKeyToAccount(privateKey).address })
      }
      sessions.push(session)
    }
    const ask = (path: string, address: number, session?: Session) => {
      const from = { [EDGE_HEADER]: EDGE_KEY, 'x-forwarded-for': `203.0.113.${address}` }
      return service.call('GET', path, { key, headers: { ...session?.headers, ...from } })
    }
    const BALANCES = '/portfolio-indexor/allBalances'
    const NFTS = '/portfolio-indexor/nft'
    // The users send their requests one after another, all within the same rate window of the key.
    const nfts: number[] = []
    for (const [index, session] of sessions.slice(0, USERS).entries()) {
      const network = index < USERS - 1 ? 0 : 1
      expect((await ask(BALANCES, network, session)).status).toBe(200)
      nfts.push((await ask(NFTS, network, session)).status)
    }
    // A user's 20 wallets cost 2,800 request units, 20 for each fetch. One network may use 6,000 of the key's 60,000
    // units. They pay for the first user's wallets, and for a few of the next two users'.
    expect(nfts).toEqual([...Array(3).fill(200), ...Array(USERS - 4).fill(429), 200])
    const [other] = sessions.slice(USERS)
    if (!other) throw new Error('There is no other user.')
    const others = [
      ...(await Promise.all([ask(BALANCES, 99, other), ask(NFTS, 99, other), ask('/auth/wallets', 99, other)])),
      await ask('/portfolio-indexor/markets/coins/bitcoin', 99),
    ]
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const again = await ask(BALANCES, 99, other)
    expect(JSON.stringify(again.body)).not.toContain('Unlisted tokens')
    expect([again.status, Number(/r=(\d+)/.exec(again.headers.get('ratelimit') ?? '')?.[1]) > 5000]).toEqual([
      200,
      true,
    ])
  },
)
