import type { LocalState } from '../state.ts'

/**
 * Prints one line for each prepared state, such as a pending deposit. With `only`, prints the curl command and full response for the state
 * of this name. Throws for an unknown name.
 */
export async function printStates({ baseUrl, states }: LocalState, say: (text: string) => void, only?: string) {
  if (!states) throw new Error('The service runs without history, so it has no prepared states.')
  const { questions } = states
  const chosen = Object.entries(questions).filter(([name]) => only === undefined || name === only)
  if (chosen.length === 0) throw new Error(`There is no state ${only}; there is ${Object.keys(questions).join(', ')}.`)

  for (const [name, { path, body, apiKey = states.apiKey }] of chosen) {
    const answer = await fetch(`${baseUrl}${path}`, {
      headers: { 'x-join-key': apiKey, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (only === undefined) {
      say(`${name}: ${answer.status} ${summaryOf(JSON.parse(text))}`)
      continue
    }
    const data = body ? ` -H 'content-type: application/json' -d '${JSON.stringify(body)}'` : ''
    say(`curl -s '${baseUrl}${path}' -H 'x-join-key: ${apiKey}'${data}`)
    say(`${answer.status} ${JSON.stringify(JSON.parse(text), null, 2)}`)
  }
}

function summaryOf({ status, reason, code }: Readonly<Record<string, unknown>>): string {
  return [code ?? status, reason].filter(Boolean).join(', ')
}
