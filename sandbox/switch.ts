import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** TCP proxy in front of a local server. Switching it off imitates a failure of the server. */
export type SwitchableProxy = {
  readonly url: string
  /** Switches the proxy; `off` refuses new connections and closes open ones. */
  turn(position: 'on' | 'off'): void
  stop(): Promise<void>
}

/** Starts a proxy, switched on, in front of the server at this URL. */
export async function startSwitch(target: string): Promise<SwitchableProxy> {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  let isOn = true
  const endAll = () => {
    for (const socket of open) socket.destroy()
  }
  const server = createServer((caller) => {
    if (!isOn) return caller.destroy()
    const callee = connect(Number(port), hostname)
    for (const [socket, other] of [
      [caller, callee],
      [callee, caller],
    ] as const) {
      open.add(socket)
      socket
        .setNoDelay()
        .on('error', () => other.destroy())
        .once('close', () => {
          open.delete(socket)
          other.destroy()
        })
        .pipe(other)
    }
    return undefined
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    turn(position) {
      isOn = position === 'on'
      if (!isOn) endAll()
    },
    async stop() {
      const closed = once(server, 'close')
      server.close()
      endAll()
      await closed
    },
  }
}
