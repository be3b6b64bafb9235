import * as z from 'zod'
import type { Receiver } from '../receiver.ts'
import { control, Seconds } from './control.ts'

const example = { seconds: 20 }

/** How the receiver of webhooks is told to fail, so that its sender's pauses can be seen. */
export function webhookControls(receiver: Pick<Receiver, 'behave'>) {
  return {
    refuse: control('has the receiver answer 503 for so many seconds', Seconds, example, ({ seconds }) =>
      receiver.behave('refuse', seconds),
    ),
    hang: control('has the receiver answer nothing for so many seconds', Seconds, example, ({ seconds }) =>
      receiver.behave('hang', seconds),
    ),
    gone: control(
      'has the receiver answer 410 for so many seconds, which switches its webhook off',
      Seconds,
      example,
      ({ seconds }) => receiver.behave('gone', seconds),
    ),
    resume: control('has the receiver acknowledge again', z.strictObject({}), {}, () =>
      receiver.behave('acknowledge', 0),
    ),
  }
}
