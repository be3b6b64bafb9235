import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { STAGES } from '../infra/environments.ts'
import manifest from '../package.json' with { type: 'json' }
import wallet from '../wallet/package.json' with { type: 'json' }

const Step = z.object({
  if: z.string().optional(),
  uses: z.string().optional(),
  run: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
})
const Job = z.object({
  if: z.string().optional(),
  strategy: z.object({ matrix: z.object({ run: z.array(z.string()).default([]) }) }).optional(),
  uses: z.string().optional(),
  needs: z.union([z.string(), z.array(z.string())]).optional(),
  environment: z.string().optional(),
  permissions: z.record(z.string(), z.string()).optional(),
  steps: z.array(Step).default([]),
})
const Workflow = z.object({
  permissions: z.record(z.string(), z.string()),
  jobs: z.record(z.string(), Job),
})

const FILES = globSync('.github/workflows/*.yml').sort()
const texts = new Map(FILES.map((file) => [basename(file), readFileSync(file, 'utf8')]))
const workflows = new Map([...texts].map(([name, text]) => [name, Workflow.parse(parse(text))]))
const jobs = [...workflows].flatMap(([name, workflow]) =>
  Object.entries(workflow.jobs).map(([id, job]) => ({ id: `${name} ${id}`, ...job })),
)
const steps = jobs.flatMap(({ steps }) => steps)

describe('The workflows of GitHub Actions', () => {
  test('pin third-party actions to a commit, with the version in a comment', () => {
    const pinned = /^ *- uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/
    const lines = [...texts.values()].flatMap((text) => text.split('\n')).filter((line) => / *- uses:/.test(line))
    const versions = new Set(lines.map((line) => line.trim()))
    expect(versions.size).toBe(new Set(lines.map((line) => /uses: (.*)@/.exec(line)?.[1])).size)
    expect(lines.filter((line) => !pinned.test(line))).toEqual([])
    expect(lines).toHaveLength(steps.filter(({ uses }) => uses).length)
  })

  test('may only read the code, and request an AWS or npm token only in an environment', () => {
    for (const { permissions } of workflows.values()) expect(permissions).toEqual({ contents: 'read' })
    const asking = jobs.filter(({ permissions, steps }) => permissions?.['id-token'] && steps.length > 0)
    expect(
      asking.map(({ id, environment = '' }) => [id, environment.replace(/^\S+ inputs\.stage \}\}/, '<stage>')]),
    ).toEqual([
      ['release.yml publish', 'npm'],
      ['stage.yml diff', '<stage>-diff'],
      ['stage.yml deploy', '<stage>'],
    ])
  })

  test('pass external values to a shell only through the environment', () => {
    expect(steps.filter(({ run }) => run?.includes('{{'))).toEqual([])
  })

  test('run only existing npm scripts', () => {
    const scripts = new Set([...Object.keys(manifest.scripts), ...Object.keys(wallet.scripts)])
    const commands = jobs.flatMap(({ strategy, steps }) => [
      ...(strategy?.matrix.run ?? []).map((run) => `npm ${run}`),
      ...steps.map(({ run = '' }) => run),
    ])
    const named = commands.flatMap((run) => [...run.matchAll(/npm run ([\w:-]+)/g)].map(([, script = '']) => script))
    const ofChecks = [
      'test:deep',
      'test:infra',
      'test:standins',
      'test:browser',
      'contracts',
      'go-client',
      'pack',
      'test:samples',
      'mutants',
    ]
    expect(new Set(named)).toEqual(new Set([...ofChecks, 'docs:build', 'build', 'synth', 'smoke']))
    expect(named.filter((script) => !scripts.has(script))).toEqual([])
  })

  test('run the checks of .ci/run in parallel', () => {
    const { strategy } = workflows.get('check.yml')?.jobs['check'] ?? {}
    const kinds = (text: string) =>
      [...text.matchAll(/(?<=test:|project )\w+|contracts|go-client|pack|npm test|^test$/gm)].map(String)
    const inOrder = kinds(readFileSync('.ci/run', 'utf8')).map((kind) => kind.replace('npm ', ''))
    expect(kinds((strategy?.matrix.run ?? []).join('\n'))).toEqual(inOrder)
  })

  test('request a stage through its edge if it has one', () => {
    const [asking = ''] = steps.flatMap(({ run = '' }) => (run.includes('outputs.json)') ? [run] : []))
    const [, query = ''] = /jq --raw-output "(.*)" outputs\.json/.exec(asking) ?? []
    const urls = query.replaceAll('\\"', '"').replaceAll('$STAGE', 'dev').split(' // ')
    // CloudFormation stacks export the URLs under these output names.
    expect(urls).toEqual(['."vaultline-dev-edge".EdgeUrl', '."vaultline-dev-api".ApiUrl'])
  })

  test('publish a checked tag with the client’s version, with provenance and without a token', () => {
    const { check, publish } = workflows.get('release.yml')?.jobs ?? {}
    expect([check?.uses, publish?.needs]).toEqual(['./.github/workflows/check.yml', 'check'])
    const commands = (publish?.steps ?? []).flatMap(({ run = [] }) => run).join('\n')
    expect(commands).toContain(
      'test "v$(node --print "require(\'./client/package.json\').version")" = "$GITHUB_REF_NAME"',
    )
    expect(commands).toContain(' publish --provenance --access public ./dist/client/*.tgz')
    expect(texts.get('release.yml')).not.toMatch(/NODE_AUTH_TOKEN|secrets\./)
  })

  test('deploy checked commits, stage after stage, if the variable STAGES names the stage', () => {
    const deploys = workflows.get('deploy.yml')?.jobs ?? {}
    expect(Object.entries(deploys).map(([id, { needs, if: when }]) => [id, needs, when])).toEqual([
      ['check', undefined, undefined],
      ...STAGES.map((stage, place) => [
        ...[stage, place === 0 ? 'check' : STAGES[place - 1]],
        // A stage deploys even if the previous stage was skipped, but not if it failed.
        `\${{ !cancelled() && !failure() && fromJSON(vars.STAGES || '{}').${stage} }}`,
      ]),
    ])
  })

  test('need variables and secrets only in jobs that are skipped without them', () => {
    const needing = [...texts].flatMap(([name, text]) => (/\b(vars|secrets)\./.test(text) ? [name] : []))
    // deploy.yml is listed because it calls stage.yml, which needs variables and secrets.
    expect(needing).toEqual(['canary.yml', 'deploy.yml', 'stage.yml'])
    expect(workflows.get('canary.yml')?.jobs['ask']?.if).toBe('vars.STAGES')
    expect(texts.get('check.yml')).not.toMatch(/environment:|id-token/)
  })

  test('request the stages with only Node and the canary’s checked-out files', () => {
    const { steps: asking = [] } = workflows.get('canary.yml')?.jobs['ask'] ?? {}
    const folders = String(asking[0]?.with?.['sparse-checkout']).trim().split('\n')
    const command = asking.flatMap(({ run = [] }) => run)
    expect(command).toEqual(['node scripts/smoke.ts --url "$BASE_URL"'])
    const checkout = mkdtempSync(join(tmpdir(), 'canary-'))
    try {
      for (const path of ['package.json', ...folders]) cpSync(path, join(checkout, path), { recursive: true })
      rmSync(join(checkout, 'client/node_modules'), { recursive: true, force: true })
      // No server listens at port 9, so every request of the smoke test fails.
      const options = { cwd: checkout, encoding: 'utf8', env: { PATH: process.env['PATH'] } } as const
      const { status, stdout } = spawnSync('node', ['scripts/smoke.ts', '--url', 'http://127.0.0.1:9'], options)
      expect({ status, stdout }).toEqual({ status: 1, stdout: expect.stringMatching(/5 of 5 failed\.\n$/) })
    } finally {
      rmSync(checkout, { recursive: true })
    }
  })
})
