import type { Service } from './service.ts'

/** An event as a client is told it, whichever type it has. */
export type Told = {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly sequence: number
  readonly final: boolean
  readonly data: Readonly<Record<string, unknown>>
}

/** All that a client was told so far, in order, once what is pending has its place. */
export async function toldTo(service: Service, key: string): Promise<Told[]> {
  await service.consume()
  const told: Told[] = []
  for (let isDone = false; !isDone; ) {
    const path = `/webhooks/events?limit=100&after=${told.at(-1)?.sequence ?? 0}`
    const { status, body } = await service.call('GET', path, { key })
    if (status !== 200) throw new Error(`The log is answered with ${status}.`)
    told.push(...body.events)
    isDone = body.events.length < 100
  }
  return told
}
