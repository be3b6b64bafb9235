import { BlockList, isIP } from 'node:net'
import * as z from 'zod'

/** Addresses that webhooks may have: public ones, or only the local machine during development. */
export const WebhookReach = z.enum(['public', 'loopback'])
export type WebhookReach = z.output<typeof WebhookReach>

/** IPv4 addresses that are not public (IANA's special-purpose registry), and multicast. */
const NOT_PUBLIC = subnets([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
])
const LOOPBACK = subnets(['127.0.0.0/8', '::1/128'])

/** True if deliveries may go to this IP address. Public addresses must be IPv4, because Lambda functions have no IPv6 route. */
export function isAllowedAddress(address: string, reach: WebhookReach): boolean {
  const family = isIP(address)
  if (family === 0) return false
  const type = family === 4 ? 'ipv4' : 'ipv6'
  if (reach === 'loopback') return LOOPBACK.check(address, type)
  return family === 4 && !NOT_PUBLIC.check(address)
}

/**
 * Returns the reason why nothing may be sent to this URL; undefined if the URL's text allows it. Host names are not
 * resolved here, so the addresses must still be checked.
 */
export function findReachIssue({ protocol, port, hostname }: URL, reach: WebhookReach): string | undefined {
  // The host of a URL has brackets around an IPv6 address. `URL` writes every IPv4 address in decimals.
  const address = hostname.replace(/^\[(.*)\]$/, '$1')
  const isAddress = isIP(address) !== 0
  if (reach === 'loopback') {
    const isHere = hostname === 'localhost' || (isAddress && isAllowedAddress(address, reach))
    return isHere ? undefined : 'must be on this machine: the local service sends nowhere else'
  }
  if (protocol !== 'https:') return 'must be an https URL'
  if (port !== '') return 'must be on port 443'
  if (isIP(address) === 6) return 'must have an IPv4 address'
  return isAddress && !isAllowedAddress(address, reach) ? 'must have a public address' : undefined
}

function subnets(texts: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of texts) {
    const [network = '', bits] = text.split('/')
    list.addSubnet(network, Number(bits), isIP(network) === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}
