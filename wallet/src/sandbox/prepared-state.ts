import type { Config } from '../config.ts'
import { fetchRoom } from './use-room.ts'

/**
 * Returns the configuration for the prepared state that the sandbox shows in this iframe. The iframe's name is the name
 * of the state. In any other window, returns `config` unchanged.
 */
export async function showPreparedState(config: Config): Promise<Config> {
  if (!window.name || !config.sandbox) return config
  const { states } = await fetchRoom(config.sandbox.controlsUrl)
  const state = states.find(({ name }) => name === window.name)
  if (!state) return config
  const { apiKey, account, name } = state
  const shown = account && { shown: { name: `Account of “${name}”`, account } }
  return { ...config, apiKey, sandbox: { ...config.sandbox, ...shown } }
}
