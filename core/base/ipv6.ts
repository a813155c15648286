// IPv6 addresses in their one full form. Pure: no I/O.

/** The eight groups of an IPv6 address. */
export function expandIPv6(address: string): number[] {
  // The URL parser turns every spelling, dotted tails included, into hexadecimal groups.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : new Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16));
}
