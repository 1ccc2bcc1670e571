import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** IPv4 that is no public host: private, loopback, link-local, shared, documentation, benchmark, multicast, reserved. */
const NOT_PUBLIC_V4 = blockList('ipv4', [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]);

/** All of IPv6 that is handed out to hosts; what stands outside it is refused unseen. */
const GLOBAL_V6 = blockList('ipv6', [['2000::', 3]]);
/** Inside of it: protocol assignments with Teredo, documentation, and 6to4, which embeds any IPv4 address. */
const NOT_PUBLIC_V6 = blockList('ipv6', [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]);
/** IPv4 in IPv6's clothes: mapped addresses, and the well-known prefix of NAT64. */
const EMBEDS_V4 = blockList('ipv6', [
  ['::ffff:0:0', 96],
  ['64:ff9b::', 96],
]);

/** Whether an IP address in text is one of a public host. Anything that is no IP address is not. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !NOT_PUBLIC_V4.check(address, 'ipv4');
  // A scope id means link-local, and the block lists do not read one.
  if (!isIPv6(address) || address.includes('%')) return false;
  if (isIn(EMBEDS_V4, address)) return !NOT_PUBLIC_V4.check(lastFourBytes(address), 'ipv4');
  return isIn(GLOBAL_V6, address) && !isIn(NOT_PUBLIC_V6, address);
}

function isIn(list: BlockList, address: string): boolean {
  return list.check(address, 'ipv6');
}

function blockList(family: 'ipv4' | 'ipv6', subnets: [string, number][]): BlockList {
  const list = new BlockList();
  for (const [net, prefix] of subnets) list.addSubnet(net, prefix, family);
  return list;
}

/** The IPv4 address in the last 32 bits. The URL parser writes every spelling of an IPv6 address in one way. */
function lastFourBytes(address: string): string {
  const written = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head, tail = ''] = written.split('::') as [string, string?];
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const left = groups(head);
  const right = groups(tail);
  const zeros = written.includes('::') ? 8 - left.length - right.length : 0;
  const [high, low] = [...left, ...Array<string>(zeros).fill('0'), ...right]
    .slice(-2)
    .map((group) => Number.parseInt(group, 16));
  return [high! >> 8, high! & 255, low! >> 8, low! & 255].join('.');
}
