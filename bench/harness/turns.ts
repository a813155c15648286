// What one caller's request costs beside another's, in one run of one server: both sides take short turns on connections that stay open, so that a slow moment of the
// machine, a colder cache or a collection of garbage meets both. The median of many ratios is steady to about a hundredth where single rounds differ by a fifth.
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
  /** Microseconds of the server's processor time for each request, turn by turn. */
  readonly cpuUs: number[];
}

/** For each target but the first: its processor time for a small request beside that of the first one, as the median of `turns` ratios. */
export async function turnRatios(targets: readonly Target[], turns: number): Promise<Record<string, number>> {
  const sides = await Promise.all(targets.map(openSide));
  for (let turn = 0; turn < WARM_TURNS + turns; turn += 1) {
    if (turn === WARM_TURNS) for (const { cpuUs } of sides) cpuUs.length = 0;
    const order = turn % 2 === 0 ? sides : [...sides].reverse(); // nobody always comes after the same one
    for (const side of order) side.cpuUs.push(await takeTurn(side));
  }
  for (const { connections } of sides) for (const connection of connections) connection.close();
  const [base, ...others] = sides;
  return Object.fromEntries(others.map(({ target, cpuUs }) => [target.name, median(cpuUs.map((us, turn) => us / (base?.cpuUs[turn] ?? Number.NaN)))]));
}

async function openSide(target: Target): Promise<Side> {
  const connections = await Promise.all(Array.from({ length: CONCURRENCY }, () => Connection.open(target.port)));
  return { target, call: target.whole(80), connections, cpuUs: [] };
}

async function takeTurn({ target, call, connections }: Side): Promise<number> {
  const before = cpuMs(target.pid);
  const until = performance.now() + TURN_MS;
  const counts = await Promise.all(connections.map((connection) => repeat(connection, target.name, call, until)));
  return ((cpuMs(target.pid) - before) * 1000) / counts.reduce((sum, count) => sum + count, 0);
}

async function repeat(connection: Connection, name: string, call: WholeCall, until: number): Promise<number> {
  let count = 0;
  do {
    const parts: Buffer[] = [];
    const { status } = await connection.exchange(call.request, (bytes) => parts.push(bytes));
    assertWhole(name, status, Buffer.concat(parts).toString('latin1'), call.text);
    count += 1;
  } while (performance.now() < until);
  return count;
}
