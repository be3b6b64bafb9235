import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { endpoints } from '../../functions/contracts.ts'
import type { EndpointContract } from '../../lib/frame/contract.ts'
import { operationId } from '../../reference/openapi.ts'
import { buildPages } from '../../reference/pages.ts'

const MAX_BYTES = 60_000

const routes = Object.values<EndpointContract>(endpoints).filter(({ path }) => path !== '$default')
const pages = buildPages(routes)

test('Each operation has a page with an example by curl and by an existing client function', () => {
  const client = readFileSync('client/src/api.ts', 'utf8')
  for (const contract of routes) {
    const page = pages.get(`${contract.title.toLowerCase().replaceAll(' ', '-')}.md`) ?? ''
    expect(page).toContain(`# ${contract.title}\n\n\`${contract.method} ${contract.path}\``)
    expect(page).toContain('```sh\ncurl "$VAULTLINE_URL/')
    const isOfClient = client.includes(`export const ${operationId(contract)} =`)
    expect(page.includes(`await ${operationId(contract)}(client`), contract.title).toBe(isOfClient)
  }
})

test('The index links to each operation and to the events', () => {
  const links = [...(pages.get('index.md') ?? '').matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, link]) => link)
  const others = [...pages.keys()].filter((name) => name.endsWith('.md') && name !== 'index.md')
  expect(links.toSorted()).toEqual(others.toSorted())
})

test('No page of the documentation is too long to find something in', () => {
  const paths = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md'))
  const long = paths.filter((path) => statSync(join('docs', path)).size > MAX_BYTES)
  expect(long).toEqual([])
})
