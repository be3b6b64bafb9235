import * as z from 'zod'
import { getErrorDefinition } from '../lib/core/errors.ts'
import { API_AREAS, type EndpointContract, scopeOf } from '../lib/frame/contract.ts'
import { WebhookEvent } from '../lib/webhooks/event.ts'
import { DELIVERIES, DELIVERY_DESCRIPTION, DELIVERY_RESPONSES, DeliveryHeaders } from './deliveries.ts'
import { EVENT_EXAMPLES } from './event-examples.ts'
import { exampleBlocks, exampleRequest, jsonBlock } from './examples.ts'
import { INTRODUCTION } from './introduction.ts'
import { listErrors } from './openapi.ts'
import { fieldTable } from './tables.ts'

const CALLERS: Record<EndpointContract['caller'], string> = {
  anyone: 'Needs no API key.',
  client: 'Needs the `x-join-key` header.',
  user: 'Needs the `x-join-key` header and a session: `Authorization: Bearer <token>`.',
}

const EveryEvent = z.object({
  ...WebhookEvent.options[0].shape,
  type: z.string().describe('One of those that follow'),
  data: z.looseObject({}).describe('What happened, and where: as follows, by `type`'),
})

/**
 * Builds the pages of `docs/api` by name: one for each endpoint, their list, the events, and `operations.json`. From `operations.json` the
 * documentation site builds its menu, and the requests that readers can try.
 */
export function buildPages(contracts: readonly EndpointContract[]): ReadonlyMap<string, string> {
  const tags = Object.keys(API_AREAS)
  const inOrder = contracts.toSorted((a, b) => tags.indexOf(a.tag) - tags.indexOf(b.tag))
  const operations = inOrder.map((contract) => {
    const { title, tag, method, path, caller } = contract
    return { name: pageName(contract), title, tag, method, path, caller, request: exampleRequest(contract) }
  })
  return new Map([
    ['index.md', indexPage(contracts)],
    ['events.md', eventsPage()],
    ['operations.json', `${JSON.stringify(operations, undefined, 2)}\n`],
    ...contracts.map((contract) => [`${pageName(contract)}.md`, operationPage(contract)] as const),
  ])
}

function pageName({ title }: EndpointContract): string {
  return title.toLowerCase().replaceAll(' ', '-')
}

function indexPage(contracts: readonly EndpointContract[]): string {
  const groups = Object.entries(API_AREAS).flatMap(([tag, description]) => [
    `## ${tag}`,
    `${description}.`,
    contracts
      .filter((contract) => contract.tag === tag)
      .map((contract) => `- [${contract.title}](${pageName(contract)}.md): \`${contract.method} ${contract.path}\``)
      .join('\n'),
    ...(tag === 'Webhooks' ? ['[Events](events.md): what your webhooks receive.'] : []),
  ])
  return joinBlocks([
    '# API reference',
    'Written from the contracts that the functions run on: `npm run docs`. The same as OpenAPI 3.1: `GET /openapi.json`.',
    'The examples follow one user through a service on one machine. Long lists and long texts are cut short.',
    'Load `.local/.env` as the [quick start](../guides/quick-start.md#start-the-service) does, or set `VAULTLINE_URL` and `VAULTLINE_KEY` yourself. `TOKEN` is the `token` of a login.',
    ...groups,
    '## What holds for every operation',
    INTRODUCTION.replaceAll(/\bdocs\/([\w/-]+\.md)/g, '[$1](../$1)'),
  ])
}

function operationPage(contract: EndpointContract): string {
  const { title, method, path, summary, caller, request, response, status = 200 } = contract
  const scope = scopeOf(contract)
  const asked = [
    ...section('### Headers', fieldTable(request.headers)),
    ...section('### Path', fieldTable(request.path)),
    ...section('### Query', fieldTable(request.query)),
    ...section('### Body', fieldTable(request.body)),
  ]
  return joinBlocks([
    `# ${title}`,
    `\`${method} ${path}\``,
    summary,
    [CALLERS[caller], ...(scope ? [`The key needs the scope \`${scope}\`.`] : [])].join(' '),
    ...section('## Example', exampleBlocks(contract)),
    ...section('## Request', asked),
    '## Response',
    `Status ${status}${response instanceof z.ZodUndefined ? ', without a body' : ''}.`,
    ...fieldTable(response),
    '## Errors',
    errorTable(contract),
  ])
}

function eventsPage(): string {
  const answers = Object.entries(DELIVERY_RESPONSES).map(
    ([status, { description }]) => `| ${status} | ${description} |`,
  )
  const shown = new Map<string, string>()
  return joinBlocks([
    '# Events',
    DELIVERY_DESCRIPTION,
    'How to receive and try them: [Webhooks](../guides/webhooks.md).',
    '## Headers',
    ...fieldTable(DeliveryHeaders),
    '## Your response',
    ['| Status | What follows |', '|---|---|', ...answers].join('\n'),
    '## Every event',
    ...fieldTable(EveryEvent),
    ...DELIVERIES.flatMap((delivered) => [
      `## ${delivered.type}`,
      delivered.meaning,
      jsonBlock(EVENT_EXAMPLES[delivered.type]),
      ...ownTable(delivered, shown),
    ]),
  ])
}

/** Returns the table of an event type's fields, or a reference to an earlier type with the same table. `shown` maps tables to types. */
function ownTable({ type, schema }: (typeof DELIVERIES)[number], shown: Map<string, string>): string[] {
  if (type === 'webhook.test') return fieldTable(schema)
  // The fields of `entry` are left out, because the pages of listDeposits and listWithdrawals describe them.
  const table = fieldTable(schema.shape.data)
    .join('\n')
    .replaceAll(/^\| `entry\..*\n/gm, '')
  const before = shown.get(table)
  if (before) return [`Its \`data\` has the fields of [${before}](#${before.replace('.', '')}).`]
  shown.set(table, type)
  return ['Its `data`:', table]
}

function errorTable(contract: EndpointContract): string {
  const rows = listErrors(contract).map((code) => {
    const { status, error, message } = getErrorDefinition(code)
    return `| ${status} | ${error} | \`${code}\` | ${message} |`
  })
  return ['| Status | Error | Code | What to do |', '|---|---|---|---|', ...rows].join('\n')
}

function section(heading: string, blocks: readonly string[]): string[] {
  return blocks.length > 0 ? [heading, ...blocks] : []
}

function joinBlocks(blocks: readonly string[]): string {
  return `${blocks.join('\n\n')}\n`
}
