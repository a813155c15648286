// What one caller's request costs beside another's, in one run of one server: the sides take short turns on connections that stay open, so that a slow moment of the
// machine, a cold cache or a collection of garbage meets all of them. The median of many ratios is steady to about a hundredth where single rounds differ by a fifth.
import { Connection } from './connection.ts';
import { cpuMs } from './processes.ts';
import { median } from './stats.ts';
import { assertWhole, type Target, type WholeCall } from './targets.ts';

const CONCURRENCY = 32;
const TURN_MS = 200;
/** Of every side, before the first turn that counts. */
const WARM_TURNS = 10;

interface Side {
  readonly target: Target;
  readonly call: WholeCall;
  readonly connections: readonly Connection[];
}

/** Microseconds of the server's processor time for a small request, by the name of the target and turn by turn. */
export type Turns = ReadonlyMap<string, readonly number[]>;

/** Each target takes `turns` turns. */
export async function takeTurns(targets: readonly Target[], turns: number): Promise<Turns> {
  const sides = await Promise.all(targets.map(openSide));
  const found = new Map<string, number[]>(targets.map(({ name }) => [name, []]));
  for (let turn = -WARM_TURNS; turn < turns; turn += 1) {
    const order = turn % 2 === 0 ? sides : [...sides].reverse(); // nobody always comes after the same one
    for (const side of order) {
      const us = await takeTurn(side);
      if (turn >= 0) found.get(side.target.name)?.push(us);
    }
  }
  for (const { connections } of sides) for (const connection of connections) connection.close();
  return found;
}

/** What a request of one target costs beside that of another: the median of the ratios of all turns. */
export function turnRatio(turns: Turns, name: string, base: string): number {
  const bases = turns.get(base) ?? [];
  return median((turns.get(name) ?? []).map((us, turn) => us / (bases[turn] ?? Number.NaN)));
}

async function openSide(target: Target): Promise<Side> {
  const connections = await Promise.all(Array.from({ length: CONCURRENCY }, () => Connection.open(target.port)));
  return { target, call: target.whole(80), connections };
}

async function takeTurn({ target, call, connections }: Side): Promise<number> {
  const before = cpuMs(target.pid);
  const until = performance.now() + TURN_MS;
  const counts = await Promise.all(connections.map((connection) => repeat(connection, target.name, call, until)));
  return ((cpuMs(target.pid) - before) * 1000) / counts.reduce((sum, count) => sum + count, 0);
}

async function repeat(connection: Connection, name: string, call: WholeCall, until: number): Promise<number> {
  let count = 0;
  const { others = [call.request] } = call;
  let at = Math.floor(Math.random() * others.length); // the connections are in different conversations
  do {
    const parts: Buffer[] = [];
    at = (at + 1) % others.length;
    const { status } = await connection.exchange(others[at] ?? call.request, (bytes) => parts.push(bytes));
    assertWhole(name, status, Buffer.concat(parts).toString('latin1'), call.text);
    count += 1;
  } while (performance.now() < until);
  return count;
}
