// How long large bodies hold the event loop of a server, and what memory many of them take at once. Loopback only.
//
//   npx tsx bench/faults/bodies.ts [loop | memory] [--only chat.image] [--runs 3] [--profile]
//
// The server runs in this process, so that its loop and its memory can be measured; the clients and the provider run in a thread of their own.
// `--only` takes the beginning of a case's name, or several with commas between them. `--profile` says what the longest stretch was spent on.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { createAdapters } from '../../adapters/index.ts';
import { createCore } from '../../core/index.ts';
import { createHttpTransport } from '../../transports/http/index.ts';
import { BODY_CASES } from './body-cases.ts';
import type { Order, Said } from './body-thread.ts';
import { LoopProfile } from './loop-profile.ts';
import { print } from './verdict.ts';

const MIB = 1024 * 1024;
const TICK_MS = 1;

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, runs: { type: 'string', default: '2' }, profile: { type: 'boolean', default: false } },
});
const half = positionals[0];
const only = given.only?.split(',');
const runs = Number(given.runs);

// A thread does not inherit the loader of this process.
const thread = new Worker(
  `import('tsx/esm/api').then(({ register }) => { register(); return import(${JSON.stringify(new URL('./body-thread.ts', import.meta.url))}); })`,
  { eval: true },
);
const heard: ((said: Said) => void)[] = [];
thread.on('message', (said: Said) => {
  for (const each of [...heard]) each(said);
});
const said = <K extends keyof Said>(key: K): Promise<NonNullable<Said[K]>> =>
  new Promise((resolve) => {
    const take = (each: Said): void => {
      const value = each[key];
      if (value === undefined) return;
      heard.splice(heard.indexOf(take), 1);
      resolve(value as NonNullable<Said[K]>);
    };
    heard.push(take);
  });

const provider = `http://127.0.0.1:${await said('port')}`;
const workspace = mkdtempSync(join(tmpdir(), 'bodies-'));
const core = await createCore({
  workspace,
  adapters: createAdapters(),
  env: {
    OPENAI_BASE_URL: `${provider}/v1`,
    OPENAI_API_KEY: 'k',
    ANTHROPIC_BASE_URL: provider,
    ANTHROPIC_API_KEY: 'k',
    GOOGLE_GEMINI_BASE_URL: provider,
    GEMINI_API_KEY: 'k',
    OLLAMA_BASE_URL: provider,
    AWS_ENDPOINT_URL: provider,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'secret',
  },
});
await core.start();
await core.prepare();
await core.token?.ensure();
await core.blocks.create({ name: 'x' });
const tokens = {
  token: core.token?.reveal() ?? '',
  key: (await core.keys?.create('plain')) ?? '',
  capped: (await core.keys?.create('capped', { usdPerDay: 1_000_000, tokensPerDay: 1_000_000_000_000 })) ?? '',
  listed: (await core.keys?.create('listed', { models: ['*'] })) ?? '',
};
const transport = createHttpTransport(core);
const url = await transport.listen(0, '127.0.0.1');

interface Watched<T> {
  readonly longestMs: number;
  /** Microseconds of the monotonic clock. */
  readonly longest: readonly [start: number, end: number];
  readonly peakMiB: number;
  readonly result: T;
}

const microseconds = (): number => Number(process.hrtime.bigint() / 1000n);

/** The longest time between two turns of the loop, and the largest memory, until `work` has ended. */
async function watched<T>(work: () => Promise<T>): Promise<Watched<T>> {
  let longest: [number, number] = [0, 0];
  let peak = 0;
  let last = microseconds();
  const timer = setInterval(() => {
    const now = microseconds();
    if (now - last > longest[1] - longest[0]) longest = [last, now];
    last = now;
    peak = Math.max(peak, process.memoryUsage.rss());
  }, TICK_MS);
  const result = await work();
  clearInterval(timer);
  return { longestMs: Math.max(0, Math.round((longest[1] - longest[0]) / 1000 - TICK_MS)), longest, peakMiB: Math.round(peak / MIB), result };
}

async function ask(name: string, count = 1, holds = 1) {
  const size = said('size');
  const answers = said('answers');
  thread.postMessage({ url, tokens, name, count, holds } satisfies Order);
  const bodyBytes = await size;
  const { longestMs, longest, peakMiB, result } = await watched(() => answers);
  return {
    bodyMiB: (bodyBytes / MIB).toFixed(1),
    longestMs,
    longest,
    peakMiB,
    answers: [...new Set(result)].map((each) => `${count === 1 ? '' : `${result.filter((one) => one === each).length} × `}${each}`).join('; '),
  };
}

/** The shortest of several longest stretches: what the case itself takes, without what else goes on in the machine. */
async function loop(name: string): Promise<number> {
  await ask(name); // the first one of a kind pays for its compilation
  let best = await ask(name);
  for (let run = 1; run < runs; run += 1) {
    const next = await ask(name);
    if (next.longestMs < best.longestMs) best = next;
  }
  print(`${String(best.longestMs).padStart(5)} ms  ${name.padEnd(36)} ${best.bodyMiB.padStart(5)} MiB  ${best.answers}`);
  if (!given.profile) return best.longestMs;
  const profile = await LoopProfile.start();
  const profiled = await ask(name);
  for (const line of await profile.end(profiled.longest)) print(`          ${line}`);
  return best.longestMs;
}

try {
  if (half !== 'memory') {
    const figures: [string, number][] = [];
    for (const name of BODY_CASES.keys()) if (only === undefined || only.some((each) => name.startsWith(each))) figures.push([name, await loop(name)]);
    const late = figures.filter(([, ms]) => ms > 50);
    print(`${figures.length} bodies; ${late.length} hold the loop for more than 50 ms: ${late.map(([name, ms]) => `${name} ${ms}`).join(', ')}`);
  }
  for (const count of half === 'loop' || only !== undefined ? [] : [16, 64]) {
    for (const model of ['openai', 'ollama']) {
      const before = Math.round(process.memoryUsage.rss() / MIB);
      const { peakMiB, longestMs, answers } = await ask(`chat.image.${model}`, count);
      print(`${count} bodies of 30 MiB to ${model} at once: ${before} → ${peakMiB} MiB; the loop stood ${longestMs} ms; ${answers}`);
    }
  }
} finally {
  await transport.close();
  await core.stop();
  await core.close();
  await thread.terminate();
  rmSync(workspace, { recursive: true, force: true });
}
