// What one caller's request costs beside another's, in one run of one server: the two take short turns on connections that stay open, so that a slow moment of the
// machine, a cold cache or a collection of garbage meets both. Processor time counts, not the clock. What else the machine does makes it dearer all the same, since it
// takes the caches. So the turns come in fours (A B B A), which last a quarter of a second, and of these only the half counts that cost least altogether.
import { Connection } from './connection.ts';
import { cpuMs } from './processes.ts';
import { median } from './stats.ts';
import { assertWhole, type Target, type WholeCall } from './targets.ts';

const CONCURRENCY = 32;
const TURN_MS = 60;
/** Of each side, before the first turn that counts: a server is there for days, and V8 compiles once more what it has called some thousand times. A slow machine needs more turns for as many. */
const WARM_REQUESTS = Number(process.env['WARM'] ?? 20_000);
/** Then it is warm enough, so that a machine that hardly moves ends, too. */
const MOST_WARM_TURNS = 400;

interface Side {
  readonly target: Target;
  readonly call: WholeCall;
  readonly connections: readonly Connection[];
  /** So many were answered. */
  requests: number;
}

/** What a request of `target` costs beside one of `base`: the median of the quieter half of so many fours of turns. */
export async function turnRatio(target: Target, base: Target, fours: number): Promise<number> {
  const [one, other] = await Promise.all([openSide(target), openSide(base)]);
  for (let turn = 0; turn < MOST_WARM_TURNS && Math.min(one.requests, other.requests) < WARM_REQUESTS; turn += 1)
    for (const side of [one, other]) await takeTurn(side);
  const found: { readonly sum: number; readonly ratio: number }[] = [];
  for (let four = 0; four < fours; four += 1) {
    const [first, second] = four % 2 === 0 ? [one, other] : [other, one];
    const outer = await takeTurn(first);
    const inner = (await takeTurn(second)) + (await takeTurn(second));
    const both = outer + (await takeTurn(first));
    found.push({ sum: both + inner, ratio: first === one ? both / inner : inner / both });
  }
  for (const { connections } of [one, other]) for (const connection of connections) connection.close();
  const quiet = found.sort((a, b) => a.sum - b.sum).slice(0, Math.ceil(fours / 2));
  return median(quiet.map(({ ratio }) => ratio));
}

async function openSide(target: Target): Promise<Side> {
  const connections = await Promise.all(Array.from({ length: CONCURRENCY }, () => Connection.open(target.port)));
  return { target, call: target.whole(80), connections, requests: 0 };
}

async function takeTurn(side: Side): Promise<number> {
  const { target, call, connections } = side;
  const before = cpuMs(target.pid);
  const until = performance.now() + TURN_MS;
  const counts = await Promise.all(connections.map((connection) => repeat(connection, target.name, call, until)));
  const count = counts.reduce((sum, each) => sum + each, 0);
  side.requests += count;
  return ((cpuMs(target.pid) - before) * 1000) / count;
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
