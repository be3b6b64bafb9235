import { isIPv6 } from 'node:net'

/**
 * Returns the network of an IP address, on which attempts are counted. It is an IPv4 address itself, or the /64 of an
 * IPv6 address. A /64 usually has a single owner.
 */
export function networkOf(sourceIp: string): string {
  if (!isIPv6(sourceIp) || sourceIp.includes('.')) return sourceIp
  const [left = '', right = ''] = sourceIp.split('%', 1)[0]?.split('::') ?? []
  const groups = (text: string) => text.split(':').filter(Boolean)
  const missing = 8 - groups(left).length - groups(right).length
  const all = sourceIp.includes('::') ? [...groups(left), ...Array(missing).fill('0'), ...groups(right)] : groups(left)
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
