// Which user of this machine has a TCP socket. Linux tells it in /proc/net/tcp and /proc/net/tcp6. Where the system does not tell it (macOS, Windows, a
// connection that comes from another machine or out of a container), no client counts as another user.
//
// no-further: the system goes through all its sockets, and all the empty places between them, for each table and once more for its end. That takes milliseconds,
//   so a table is read piece by piece, and only as far as the socket.
// few-turns: the system gives 4 KiB of a table at a time, some 27 sockets, within a tenth of a millisecond. With a turn of the event loop for each of them, a busy server would
//   take seconds for the table of a machine with a thousand connections.
import { readSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { isIP, isIPv4, type Socket } from 'node:net';
import { endianness } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expandIPv6 } from '../base/ipv6.ts';
import { undefinedFor } from '../base/undefined-for.ts';

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const LISTENS = '0A';
/** The socket belongs to no program any more. */
const TIME_WAIT = '06';
const NO_INODE = '0';
const ROOT = 0;
const PIECE_BYTES = 65_536;
/** few-turns. */
const PIECES_PER_TURN = 16;
/** The users of services, such as `ollama`, are below it, those of people from it on. */
const FIRST_PERSON = 1000;
const WILDCARDS = ['0.0.0.0', '::'];

/** The pieces of a table of the system, which may end within a line; none where there is no table. */
export type ReadTable = (path: string) => AsyncIterable<string>;

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
  for await (const { remote, state, inode, uid } of entriesAt(theirs, read)) {
    // A socket that its program has closed is listed without an inode, as one of root's.
    if (ours.includes(remote) && state !== TIME_WAIT) return inode === NO_INODE || !isTrusted(uid);
  }
  return false;
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
  const isStranger = ({ uid }: Entry): boolean => !isTrusted(uid) && uid !== owner;
  const others: Entry[] = [];
  for await (const entry of entriesAt([...theirs, ...anywhere(remotePort)], read)) {
    const isPeer = theirs.includes(entry.local) && ours.includes(entry.remote) && entry.state !== TIME_WAIT;
    if (isPeer && entry.inode !== NO_INODE) return isStranger(entry);
    others.push(entry);
  }
  return listeningAt(theirs, others).some(isStranger);
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
  const entries: Entry[] = [];
  for await (const entry of entriesAt([...exact, ...anywhere(port)], read)) entries.push(entry);
  return listeningAt(exact, entries);
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

/** no-further. */
async function* entriesAt(places: readonly string[], read: ReadTable): AsyncGenerator<Entry> {
  for (const path of TABLES) {
    let begun = '';
    for await (const piece of read(path)) {
      const text = `${begun}${piece}`;
      const end = text.lastIndexOf('\n') + 1;
      begun = text.slice(end);
      for (const line of linesWith(text.slice(0, end), places)) {
        const [, local = '', remote = '', state = '', , , , uid, , inode = ''] = line.trim().split(/\s+/, 10);
        if (places.includes(local)) yield { local, remote, state, uid: Number(uid), inode };
      }
    }
  }
}

/** The lines that have one of the words, in their order. The tables of a busy machine have thousands of others, which are not cut out. */
function linesWith(text: string, words: readonly string[]): string[] {
  const starts = new Set<number>();
  for (const word of words) for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) starts.add(text.lastIndexOf('\n', at) + 1);
  return [...starts].sort((a, b) => a - b).map((start) => text.slice(start, text.indexOf('\n', start)));
}

/** few-turns. Exported for its test. */
export async function* readTable(path: string): AsyncGenerator<string> {
  const isHidden = undefinedFor('ENOENT', 'EACCES', 'EPERM');
  const file = await open(path).catch(isHidden);
  if (file === undefined) return;
  try {
    const bytes = Buffer.alloc(PIECE_BYTES);
    for (let pieces = 1; ; pieces += 1) {
      const count = readOr0(file.fd, bytes, isHidden);
      if (count === 0) return;
      yield bytes.toString('latin1', 0, count);
      if (pieces % PIECES_PER_TURN === 0) await nextTurn();
    }
  } finally {
    await file.close();
  }
}

function readOr0(fd: number, bytes: Buffer, isHidden: (error: NodeJS.ErrnoException) => undefined): number {
  try {
    return readSync(fd, bytes);
  } catch (error) {
    return isHidden(error as NodeJS.ErrnoException) ?? 0;
  }
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
