// Which user of this machine has a TCP socket. Linux tells it in /proc/net/tcp and /proc/net/tcp6. Where the system does not tell it (macOS, Windows, a
// connection that comes from another machine or out of a container), no client counts as another user.
import { readFile, stat } from 'node:fs/promises';
import { isIP, isIPv4, type Socket } from 'node:net';
import { endianness } from 'node:os';
import { expandIPv6 } from '../base/ipv6.ts';
import { undefinedFor } from '../base/undefined-for.ts';

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const LISTENS = '0A';
/** The socket belongs to no program any more. */
const TIME_WAIT = '06';
const NO_INODE = '0';
const ROOT = 0;
/** The users of services, such as `ollama`, are below it, those of people from it on. */
const FIRST_PERSON = 1000;
const WILDCARDS = ['0.0.0.0', '::'];

/** Reads a table of the system; undefined where there is none. */
export type ReadTable = (path: string) => Promise<string | undefined>;

interface Entry {
  readonly local: string;
  readonly remote: string;
  readonly state: string;
  readonly uid: number;
  readonly inode: string;
}

/** The ends of a connection, as a socket of the server names them. */
export type Ends = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

/** True if the program at the other end of a connection belongs to another user of this machine than this process. Root may do anything anyway. */
export async function isFromOtherUser({ remoteAddress, remotePort, localAddress, localPort }: Ends, read: ReadTable = readTable): Promise<boolean> {
  if (remoteAddress === undefined || remotePort === undefined || localAddress === undefined || localPort === undefined) return false;
  const [theirs, ours] = [formsOf(remoteAddress, remotePort), formsOf(localAddress, localPort)];
  const entries = await entriesAt(theirs, read);
  const peer = entries.find(({ remote, state }) => ours.includes(remote) && state !== TIME_WAIT);
  // A socket that its program has closed is listed without an inode, as one of root's.
  return peer !== undefined && (peer.inode === NO_INODE || !isTrusted(peer.uid));
}

/**
 * True if the program that answers a connection of this process belongs neither to this user, nor to the user `owner`, nor to root. Until that program has
 * accepted the connection, it is the one that listens.
 */
export async function isToOtherUser(
  { remoteAddress, remotePort, localAddress, localPort }: Ends,
  owner: number | undefined,
  read: ReadTable = readTable,
): Promise<boolean> {
  if (remoteAddress === undefined || remotePort === undefined || localAddress === undefined || localPort === undefined) return false;
  const [theirs, ours] = [formsOf(remoteAddress, remotePort), formsOf(localAddress, localPort)];
  const entries = await entriesAt([...theirs, ...anywhere(remotePort)], read);
  const peer = entries.find(({ local, remote, state }) => theirs.includes(local) && ours.includes(remote) && state !== TIME_WAIT);
  const answering = peer === undefined || peer.inode === NO_INODE ? listeningAt(theirs, entries) : [peer];
  return answering.some(({ uid }) => !isTrusted(uid) && uid !== owner);
}

/** True if the program that listens at an address of this machine belongs neither to this user nor to root. */
export async function isListenedOnByOther(address: string, port: number, read: ReadTable = readTable): Promise<boolean> {
  return (await listenersAt(address, port, read)).some(({ uid }) => !isTrusted(uid));
}

/** The same, but the users of services count as trusted: the system starts their programs, and not another person. */
export async function isListenedOnByPerson(address: string, port: number, read: ReadTable = readTable): Promise<boolean> {
  return (await listenersAt(address, port, read)).some(({ uid }) => !isTrusted(uid) && uid >= FIRST_PERSON);
}

async function listenersAt(address: string, port: number, read: ReadTable): Promise<readonly Entry[]> {
  if (isIP(address) === 0) return [];
  const exact = formsOf(address, port);
  return listeningAt(exact, await entriesAt([...exact, ...anywhere(port)], read));
}

/** The user of a process; undefined where the system does not tell it. */
export async function ownerOf(pid: number): Promise<number | undefined> {
  return (await stat(`/proc/${pid}`).catch(undefinedFor('ENOENT', 'EACCES')))?.uid;
}

function isTrusted(uid: number): boolean {
  return uid === ROOT || uid === process.geteuid?.();
}

/** Who listens at the address itself gets its connections; otherwise who listens on all interfaces. */
function listeningAt(exact: readonly string[], entries: readonly Entry[]): readonly Entry[] {
  const listening = entries.filter(({ state }) => state === LISTENS);
  const nearest = listening.filter(({ local }) => exact.includes(local));
  return nearest.length > 0 ? nearest : listening;
}

function anywhere(port: number): string[] {
  return WILDCARDS.flatMap((any) => formsOf(any, port));
}

async function entriesAt(places: readonly string[], read: ReadTable): Promise<Entry[]> {
  const tables = await Promise.all(TABLES.map(read));
  return tables.flatMap((table = '') =>
    table.split('\n').flatMap((line) => {
      if (!places.some((place) => line.includes(place))) return [];
      const [, local = '', remote = '', state = '', , , , uid, , inode = ''] = line.trim().split(/\s+/, 10);
      return places.includes(local) ? [{ local, remote, state, uid: Number(uid), inode }] : [];
    }),
  );
}

function readTable(path: string): Promise<string | undefined> {
  return readFile(path, 'latin1').catch(undefinedFor('ENOENT', 'EACCES', 'EPERM'));
}

/** How the tables write an address and a port. An IPv4 address may be that of a socket for IPv6, too. */
function formsOf(address: string, port: number): string[] {
  const groups = expandIPv6(isIPv4(address) ? `::ffff:${address}` : (address.split('%')[0] ?? ''));
  const words = [0, 2, 4, 6].map((at) => wordOf(groups[at] ?? 0, groups[at + 1] ?? 0));
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  const place = port.toString(16).toUpperCase().padStart(4, '0');
  return [words.join(''), ...(isMapped ? [words[3] ?? ''] : [])].map((text) => `${text}:${place}`);
}

/** Four bytes of an address as a number of this processor. */
function wordOf(high: number, low: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16BE(high, 0);
  bytes.writeUInt16BE(low, 2);
  const value = endianness() === 'LE' ? bytes.readUInt32LE(0) : bytes.readUInt32BE(0);
  return value.toString(16).toUpperCase().padStart(8, '0');
}
