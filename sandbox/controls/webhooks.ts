import * as z from 'zod'
import type { Receiver } from '../receiver.ts'
import { buildControl, DurationBody, jsonOnly } from './control.ts'

const example = { seconds: 20 }

/** Returns controls that make the webhook receiver refuse or hang, so that developers see the service's pauses between attempts. */
export function buildWebhookControls(receiver: Pick<Receiver, 'behave' | 'behaviour'>) {
  const buildBehaviourControl = (behaviour: 'refuse' | 'hang' | 'gone', does: string, what: string) =>
    buildControl(
      does,
      DurationBody,
      example,
      ({ seconds }) => receiver.behave(behaviour, seconds),
      () => (receiver.behaviour() === behaviour ? [{ what, end: { name: 'webhooks/resume', body: {} } }] : []),
    )
  return {
    'webhooks/refuse': buildBehaviourControl(
      'refuse',
      'The receiver responds 503 for so many seconds. Events show the failed attempts; they are retried later.',
      'The receiver responds 503',
    ),
    'webhooks/hang': buildBehaviourControl(
      'hang',
      'The receiver does not respond for so many seconds. Events show attempts without a response.',
      'The receiver does not respond',
    ),
    'webhooks/gone': buildBehaviourControl(
      'gone',
      'The receiver responds 410 for so many seconds, which disables the webhook until a test delivery succeeds.',
      'The receiver responds 410',
    ),
    'webhooks/resume': jsonOnly(
      buildControl('The receiver acknowledges deliveries again.', z.strictObject({}), {}, () =>
        receiver.behave('acknowledge', 0),
      ),
    ),
  }
}
