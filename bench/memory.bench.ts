// How much memory does the gateway hold: idle, at work, with streams that say nothing, and after very many requests?
//
// Resident memory as the operating system counts it, of one process for each question.
import { Connection } from './harness/connection.ts';
import { FrameReader, FrameTimes, loadStreams, loadWhole } from './harness/load.ts';
import { rssMiB, type Server, sleep } from './harness/processes.ts';
import { type Bar, digits, type Result, spreadText } from './harness/report.ts';
import { type Spread, spreadOf } from './harness/stats.ts';
import { gatewayTarget, providerTarget, type Target } from './harness/targets.ts';
import { inWorld, warmStreams } from './harness/world.ts';

const STARTED_MS = 3000;
/** V8 frees the garbage of the start after about eight idle seconds. */
const IDLE_MS = 15_000;
const BUSY_MS = 4000;
const SILENT_STREAMS = 1000;
const SILENT_AT_ONCE = 8;
const SILENT_ROUNDS = 3;
const SETTLE_MS = 4000;
const SAMPLE_MS = 250;
const MANY = 100_000;
/** The time limit on a slow machine; the report then shows the count that was reached. */
const MANY_MS = 90_000;

interface Memory {
  /** With the garbage of the start still in it. */
  readonly started: number;
  readonly idle: number;
  readonly busyPeak: number;
  readonly silentKiB: { readonly gateway: Spread; readonly pipe: Spread };
  /** After each tenth of the requests. */
  readonly many: { readonly count: number; readonly mib: readonly number[] };
}

export async function run({ many = MANY, manyMs = MANY_MS } = {}): Promise<Result> {
  const found: Memory = { ...(await idleAndBusy()), silentKiB: await silentStreams(), many: await manyRequests(many, manyMs) };
  const growth = (found.many.mib.at(-1) ?? 0) - Math.max(...found.many.mib.slice(0, 3));
  return {
    name: 'memory',
    question: 'How much memory does the gateway hold?',
    tables: [{ title: 'Resident memory', columns: ['', 'figure'], rows: rowsOf(found) }],
    bars: barsOf(found, growth),
    charts: [],
    notes: [],
    data: { ...found, growthMiB: growth },
  };
}

function rowsOf({ started, idle, busyPeak, silentKiB, many }: Memory): string[][] {
  return [
    [`${STARTED_MS / 1000} s after its start`, `${digits(started)} MiB`],
    [`idle for ${IDLE_MS / 1000} s`, `${digits(idle)} MiB`],
    ['the most ever, 64 requests and then 16 streams at once', `${digits(busyPeak)} MiB`],
    [`each of ${SILENT_STREAMS} open streams that say nothing`, `${spreadText(silentKiB.gateway)} KiB; pipe: ${spreadText(silentKiB.pipe)} KiB`],
    [`after each tenth of ${many.count.toLocaleString('en-US')} requests`, `${many.mib.map(digits).join(' ')} MiB`],
  ];
}

function barsOf({ idle, busyPeak, silentKiB }: Memory, growth: number): Bar[] {
  return [
    { what: 'idle', value: idle, limit: 90, side: 'most', unit: ' MiB' },
    { what: 'under load', value: busyPeak, limit: 150, side: 'most', unit: ' MiB' },
    { what: 'each silent stream', value: (silentKiB.gateway.median * 1024) / 1000, limit: 25, side: 'most', unit: ' KB' },
    { what: 'growth from the first 30 % of the requests to the last', value: growth, limit: 10, side: 'most', unit: ' MiB' },
  ];
}

async function idleAndBusy(): Promise<Pick<Memory, 'started' | 'idle' | 'busyPeak'>> {
  return inWorld({}, async ({ gateway }) => {
    await sleep(STARTED_MS);
    const started = rssMiB(gateway.pid);
    await sleep(IDLE_MS - STARTED_MS);
    const idle = rssMiB(gateway.pid);
    const target = gatewayTarget(gateway, 'openai-chat');
    await loadWhole(target, target.whole(80), { concurrency: 64, ms: BUSY_MS });
    await loadStreams(target, target.stream(200, 5), { concurrency: 16, ms: BUSY_MS });
    return { started, idle, busyPeak: rssMiB(gateway.pid, 'peak') };
  });
}

async function silentStreams(): Promise<Memory['silentKiB']> {
  const found: { gateway: number; pipe: number }[] = [];
  for (let round = 0; round < SILENT_ROUNDS; round += 1) {
    found.push(
      await inWorld({ env: { BLOCKHOUSE_QUEUE_CONCURRENCY: String(SILENT_STREAMS) } }, async ({ gateway, pipe }) => ({
        gateway: await eachSilent(gateway, gatewayTarget(gateway, 'openai-chat')),
        pipe: await eachSilent(pipe, providerTarget(pipe, 'openai-chat')),
      })),
    );
  }
  return { gateway: spreadOf(found.map(({ gateway }) => gateway)), pipe: spreadOf(found.map(({ pipe }) => pipe)) };
}

async function eachSilent(server: Server, target: Target): Promise<number> {
  await warmStreams([target]);
  const before = await settled(server);
  const call = target.silent();
  const open: Connection[] = [];
  // A few at a time, as callers come.
  while (open.length < SILENT_STREAMS) {
    const some = await Promise.all(Array.from({ length: SILENT_AT_ONCE }, () => Connection.open(target.port)));
    await Promise.all(some.map((connection) => firstFrame(connection, call.request, call.endMark)));
    open.push(...some);
  }
  const after = await settled(server);
  for (const connection of open) connection.close();
  return ((after - before) * 1024) / SILENT_STREAMS;
}

function firstFrame(connection: Connection, request: Buffer, endMark: string): Promise<void> {
  const reader = new FrameReader(new FrameTimes(), endMark);
  return new Promise((resolve, reject) => {
    connection
      .exchange(request, (bytes) => {
        reader.take(bytes);
        if (reader.frames === 1) resolve();
      })
      .then(() => reject(new Error('a silent stream has ended')), reject);
  });
}

/** The least in a while: what was used once and is not needed any more has been given back by then. */
async function settled(server: Server): Promise<number> {
  let least = rssMiB(server.pid);
  for (let ms = 0; ms < SETTLE_MS; ms += SAMPLE_MS) {
    await sleep(SAMPLE_MS);
    least = Math.min(least, rssMiB(server.pid));
  }
  return least;
}

async function manyRequests(wanted: number, maxMs: number): Promise<Memory['many']> {
  return inWorld({}, async ({ gateway }) => {
    const target = gatewayTarget(gateway, 'openai-chat');
    const giveUp = performance.now() + maxMs;
    const samples: { count: number; mib: number }[] = [];
    let count = 0;
    while (count < wanted && performance.now() < giveUp) {
      count += (await loadWhole(target, target.whole(80), { concurrency: 32, ms: 1000 })).count;
      samples.push({ count, mib: rssMiB(gateway.pid) });
    }
    const mib = Array.from({ length: 10 }, (_, tenth) => samples.find((sample) => sample.count >= ((tenth + 1) * count) / 10)?.mib ?? Number.NaN);
    return { count, mib };
  });
}
