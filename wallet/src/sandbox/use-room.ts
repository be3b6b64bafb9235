import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useAppContext } from '../context.ts'
import { recordExchange } from '../service.ts'
import type { SandboxControls } from './room.ts'

const PAUSE_MS = 1500

/** Returns the sandbox's controls, with the effects that are switched on. */
export function useRoom() {
  const controlsUrl = useControlsUrl()
  return useQuery({
    queryKey: ['room', controlsUrl],
    queryFn: ({ signal }) => fetchRoom(controlsUrl, signal),
    refetchInterval: PAUSE_MS,
    retry: false,
  })
}

/**
 * Returns a function that calls a control of the sandbox and lists the call among the requests. If the sandbox refuses the call, the error
 * has the sandbox's message.
 */
export function useControl() {
  const controlsUrl = useControlsUrl()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ name, body }: { name: string; body: () => object }) => {
      const startedAt = performance.now()
      const [url, text] = [`${controlsUrl}/${name}`, JSON.stringify(body())]
      const response = await fetch(url, { method: 'POST', body: text })
      const answer = await response.text()
      const durationMs = Math.round(performance.now() - startedAt)
      const { status } = response
      recordExchange({ startedAt, method: 'POST', url, body: text, status, durationMs, requestId: undefined, answer })
      if (!response.ok) throw new Error(JSON.parse(answer).error)
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['room'] }),
  })
}

/** Fetches the sandbox's current controls and their effects. */
export async function fetchRoom(controlsUrl: string, signal?: AbortSignal): Promise<SandboxControls> {
  const response = await fetch(controlsUrl, signal ? { signal } : {})
  if (!response.ok) throw new Error(`The sandbox responded ${response.status}.`)
  return response.json()
}

function useControlsUrl(): string {
  return useAppContext().config.sandbox?.controlsUrl ?? ''
}
