/**
 * The AWS SDK's discovery of endpoints in a bundle: none. No table of ours is reached that way, and the SDK leaves it off. It
 * brings a cache of 1,000 endpoints, and 8 KiB.
 */
export function resolveEndpointDiscoveryConfig<Config>(config: Config): Config {
  return config
}

/** The setting that turns discovery on, which is never read. */
export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => undefined,
  configFileSelector: () => undefined,
  default: undefined,
}
