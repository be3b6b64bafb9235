/**
 * Returns the configuration unchanged. Replaces the AWS SDK's endpoint discovery in a bundle: DynamoDB tables do not need it, and the SDK
 * leaves it off by default. Its cache of endpoints would take 8 KiB of the bundle.
 */
export function resolveEndpointDiscoveryConfig<Config>(config: Config): Config {
  return config
}

/** Setting that the SDK imports beside `resolveEndpointDiscoveryConfig`. It would enable endpoint discovery; no code reads it. */
export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => undefined,
  configFileSelector: () => undefined,
  default: undefined,
}
