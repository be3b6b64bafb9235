import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseStages, readStages } from '../../infra/stages.ts'
import { STAGES_FILE } from './synthesize.ts'

const EXAMPLE = readFileSync('stages.example.json', 'utf8')
const OWN = JSON.parse(readFileSync(STAGES_FILE, 'utf8'))

/** Returns the error message for a file of stages in which one stage has these changes. */
const problemOf = (stage: 'dev' | 'staging' | 'prod', changes: object) => {
  try {
    parseStages(JSON.stringify({ ...OWN, [stage]: { ...OWN[stage], ...changes } }))
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

describe("The operator's file of stages", () => {
  test('names only differences: the rest of each stage, and dev, exist without it', async () => {
    const stages = parseStages(JSON.stringify(OWN))
    expect([...stages.keys()]).toEqual(['dev', 'staging', 'prod'])
    expect(stages.get('prod')).toMatchObject({ ...OWN.prod, logRetentionDays: 90, retain: true })
    expect([...(await readStages(undefined)).keys()]).toEqual(['dev'])
    await expect(readStages('no-such-file.json')).rejects.toThrow('ENOENT')
    expect(() => parseStages('{')).toThrow('The file of stages does not fit')
  })

  test('is refused with the example’s reserved names and its applications', () => {
    expect(() => parseStages(EXAMPLE)).toThrow(/relyingParty\.id: nobody can own staging\.wallet\.example/)
    const { prod } = JSON.parse(EXAMPLE)
    expect(problemOf('prod', prod)).toContain('corsOrigins: nobody can own wallet.example')
    expect(problemOf('prod', prod)).toContain('ABCDE12345.example.wallet is an example')
    expect(problemOf('prod', prod)).toContain('example.wallet is an example')
  })

  test.each([
    [
      'no alarm recipient in production',
      'prod',
      { alarmEmail: undefined },
      'alarmEmail: its alarms would reach nobody',
    ],
    ['a budget of which nobody is told', 'dev', { monthlyBudgetUsd: 50 }, 'nobody would be told without alarmEmail'],
    ['an example for whom alarms reach', 'prod', { alarmEmail: 'on-call@wallet.example' }, 'nobody can own on-call@'],
    ['a page on this machine', 'staging', { corsOrigins: ['http://localhost:3000'] }, 'nobody can own localhost'],
    ['an origin without TLS', 'prod', { corsOrigins: ['http://wallet.vaultline.app'] }, 'is not of https'],
    ['a slash after an origin', 'prod', { corsOrigins: ['https://wallet.vaultline.app/'] }, 'must be an origin'],
    ['a domain of a test', 'prod', { relyingParty: { ...OWN.prod.relyingParty, id: 'wallet.test' } }, 'wallet.test'],
    ['no page and no application', 'staging', { corsOrigins: [] }, 'no application, and no origin of corsOrigins'],
    [
      'pages on another domain than its passkeys',
      'dev',
      {
        relyingParty: { ...OWN.dev?.relyingParty, id: 'wallet.vaultline.app', name: 'W', iosApps: [], androidApps: [] },
      },
      'at wallet.vaultline.app or below it',
    ],
    [
      'an edge at a reserved domain',
      'prod',
      { edge: { ...OWN.prod.edge, domain: { ...OWN.prod.edge.domain, name: 'api.wallet.example' } } },
      'edge.domain: nobody can own api.wallet.example',
    ],
    [
      'an edge with a certificate outside us-east-1',
      'dev',
      {
        edge: {
          ...OWN.prod.edge,
          domain: { ...OWN.prod.edge.domain, certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/1' },
        },
      },
      'its certificate is not in us-east-1',
    ],
    [
      'an edge at the domain of a page',
      'dev',
      { edge: OWN.prod.edge, sites: { reference: { domain: OWN.prod.edge.domain } } },
      "api.wallet.vaultline.app is a site's already",
    ],
    [
      'an edge before another host than the API',
      'dev',
      { edge: { ...OWN.prod.edge, origin: 'https://api.wallet.vaultline.app' } },
      'must be the output ApiUrl',
    ],
    ['an edge without a key', 'dev', { edge: { ...OWN.prod.edge, keys: [] } }, 'keys'],
    ['three keys of an edge', 'dev', { edge: { ...OWN.prod.edge, keys: Array(3).fill('0'.repeat(64)) } }, 'keys'],
    ['a key of an edge itself', 'dev', { edge: { ...OWN.prod.edge, keys: ['the key'] } }, 'keys'],
    [
      'a server that is not an address',
      'dev',
      { edge: { ...OWN.prod.edge, servers: ['wallet.vaultline.app'] } },
      'servers',
    ],
    ['everybody as a server', 'dev', { edge: { ...OWN.prod.edge, servers: ['0.0.0.0/0'] } }, 'servers'],
    ['an unknown field', 'dev', { alarmMail: 'me@vaultline.app' }, 'alarmMail'],
    ['a field of the relying party that is not there', 'prod', { relyingParty: { id: 'vaultline.app' } }, 'name'],
  ] as const)('is refused with %s', (_, stage, changes, problem) => {
    expect(problemOf(stage, changes)).toContain(problem)
  })

  test('prevents the synthesis of an invalid stage', () => {
    const env = { ...process.env, CDK_CONTEXT_JSON: JSON.stringify({ stages: 'stages.example.json' }) }
    expect(() => execFileSync(process.execPath, ['infra/app.ts'], { env, stdio: 'pipe' })).toThrow(
      'Stage staging cannot be deployed',
    )
  })
})
