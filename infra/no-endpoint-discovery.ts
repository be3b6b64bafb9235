/**
 * Replaces the AWS SDK's endpoint discovery in a bundle with nothing. No table needs it, and the SDK leaves it off by default. It would
 * bring a cache of 1,000 endpoints: 8 KiB.
 */
export function resolveEndpointDiscoveryConfig<Config>(config: Config): Config {
  return config
}

/** Setting that enables discovery; it is never read. */
export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => undefined,
  configFileSelector: () => undefined,
  default: undefined,
}
