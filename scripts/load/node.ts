import { text } from 'node:stream/consumers'
import { sendHttpRequest } from '../../sandbox/exchange.ts'
import { listen } from '../../sandbox/listen.ts'
import { reportToParent } from './process.ts'

// Serves a fake chain node that records responses of the real node and replays them: each distinct request reaches the real node only once.
// The measured time therefore excludes the chain's own work.

const [, , chainUrl = ''] = process.argv
const recorded = new Map<string, Promise<string>>()

function record(body: string): Promise<string> {
  const answer = sendHttpRequest(chainUrl, { headers: { 'content-type': 'application/json' }, body }).then(
    ({ text }) => text,
  )
  recorded.set(body, answer)
  return answer
}

const { url, stop } = await listen((request, response) => {
  void text(request)
    .then((body) => recorded.get(body) ?? record(body))
    .then((answer) => response.setHeader('content-type', 'application/json').end(answer))
})
reportToParent(url, stop)
