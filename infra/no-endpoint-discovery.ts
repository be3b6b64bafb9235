/**
 * Replaces the AWS SDK's endpoint discovery in a bundle by a function without effect. No table needs discovery, and the SDK leaves it off
 * by default. Its cache of 1,000 endpoints would add 8 KiB.
 */
export function resolveEndpointDiscoveryConfig<Config>(config: Config): Config {
  return config
}

/** SDK setting that would enable discovery. It replaces an export of the SDK's module; nothing reads it. */
export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => undefined,
  configFileSelector: () => undefined,
  default: undefined,
}
