import { text } from 'node:stream/consumers'
import { exchange } from '../../sandbox/exchange.ts'
import { listen } from '../../sandbox/listen.ts'
import { tellParent } from './process.ts'

// A chain's node that answers from what it has recorded: each different question goes to the chain once, and what the
// chain said then is the answer from then on. So the chain's own work takes no time of what is measured.

const [, , chainUrl = ''] = process.argv
const recorded = new Map<string, Promise<string>>()

function record(body: string): Promise<string> {
  const answer = exchange(chainUrl, { headers: { 'content-type': 'application/json' }, body }).then(({ text }) => text)
  recorded.set(body, answer)
  return answer
}

const { url, stop } = await listen((request, response) => {
  void text(request)
    .then((body) => recorded.get(body) ?? record(body))
    .then((answer) => response.setHeader('content-type', 'application/json').end(answer))
})
tellParent(url, stop)
