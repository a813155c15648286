// `npx tsx bench/faults/failing-upstream.ts [--calls 1000]`: providers that fail everything, each in its own way. Needs a build; loopback only.
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { until } from '../../spec/support/until.ts';
import { percentile } from '../harness/stats.ts';
import { print, Verdict, wholeNumber } from './verdict.ts';
import { chat, friendly, startWorld } from './world.ts';

/** Callers at the same time; fewer than have a place in the queue, so that none is turned away for want of one. */
const AT_ONCE = 32;
const FAILURES_TO_OPEN = 20;
/** The longest time that a breaker stays open at its first openings, and some more. */
const RECOVERY_LIMIT_MS = 120_000;

const { values } = parseArgs({ options: { calls: { type: 'string' } } });
const calls = wholeNumber('calls', values.calls ?? '1000', 100_000);

/** By the provider's adapter. */
const FAILURES: Readonly<Record<string, (res: ServerResponse) => void>> = {
  ollama: (res) => void res.writeHead(503).end('{"error":"overloaded"}'),
  anthropic: (res) => void res.writeHead(529, { 'retry-after': '0' }).end('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
  google: (res) => void res.socket?.resetAndDestroy(),
  bedrock: (res) => void res.writeHead(200, { 'content-type': 'application/json' }).end('<html>not today</html>'),
};

let asked = 0;
const reached: Record<string, number> = {};
/** Not while the server is warmed up, and not any more at the end. */
let isFailing = false;
const world = await startWorld({
  provider: (asked, res) => {
    const { adapter } = asked.framing;
    reached[adapter] = (reached[adapter] ?? 0) + 1;
    const fail = isFailing ? FAILURES[adapter] : undefined;
    if (fail === undefined) return friendly(asked, res);
    fail(res);
  },
});
isFailing = true;
const verdict = new Verdict();
try {
  print(`${calls} calls to each of ${Object.keys(FAILURES).length} providers that fail everything, ${AT_ONCE} at a time`);
  let log = '';
  world.child.stderr?.on('data', (bytes: Buffer) => {
    log += bytes.toString();
  });
  for (const adapter of Object.keys(FAILURES)) await failAll(adapter, () => log);
  isFailing = false;
  for (const adapter of Object.keys(FAILURES)) await recover(adapter);
  await verdict.sayInvariants(world);
} finally {
  await world.close();
}
verdict.end();

async function failAll(adapter: string, log: () => string): Promise<void> {
  reached[adapter] = 0;
  let refused = 0;
  let answered = 0;
  const times: number[] = [];
  let left = calls;
  const failing = Array.from({ length: AT_ONCE }, async () => {
    while (left > 0) {
      left -= 1;
      const from = performance.now();
      const { status } = await call(adapter, left % 2 === 0);
      times.push(performance.now() - from);
      if (status === 502 || status === 429) refused += 1;
      else print(`a call to ${adapter} was answered with ${status}`);
    }
  });
  let isOver = false;
  let other = 0;
  const otherCalls = (async () => {
    while (!isOver) {
      other += 1;
      const { status, text } = await call('openai', other % 2 === 0);
      if (status === 200 && text.includes('Hello, you')) answered += 1;
    }
  })();
  await Promise.all(failing);
  isOver = true;
  await otherCalls;
  // The log comes by a pipe of its own.
  const openings = (): { failures: number }[] => pausesOf(log(), adapter);
  await until('the breaker has told that it is open', () => openings().length > 0).catch(() => undefined);
  const first = openings()[0]?.failures ?? Number.POSITIVE_INFINITY;
  const most = Math.floor(calls * 1.1);
  const count = reached[adapter] ?? 0;
  verdict.of(adapter);
  verdict.say('calls that reach it', `${count} of ${calls}`, `at most ${most}`, count <= most);
  verdict.say('failures until the breaker opens', `${first}`, `at most ${FAILURES_TO_OPEN}`, first <= FAILURES_TO_OPEN);
  verdict.say('calls that end in an error', `${refused}, p99 ${percentile(times, 0.99).toFixed(0)} ms`, `${calls}`, refused === calls);
  verdict.say('another provider meanwhile', `${answered} of ${other} answered`, 'all', answered === other && other > 0);
}

async function recover(adapter: string): Promise<void> {
  const from = performance.now();
  let status = 0;
  while (status !== 200 && performance.now() - from < RECOVERY_LIMIT_MS) {
    ({ status } = await call(adapter, false));
    if (status !== 200) await delay(200);
  }
  verdict.say(`${adapter} answers again`, `after ${((performance.now() - from) / 1000).toFixed(1)} s`, 'by itself', status === 200);
}

/** Each with a prompt of its own: one prompt that fails again and again would be paused alone. */
async function call(adapter: string, stream: boolean): Promise<{ readonly status: number; readonly text: string }> {
  asked += 1;
  const answer = await world.call('POST', '/v1/chat', chat({ adapter, stream, content: `question ${asked}` }));
  world.canaries.hear(adapter, Buffer.from(answer.text));
  return answer;
}

function pausesOf(log: string, adapter: string): { failures: number }[] {
  return log
    .split('\n')
    .filter((line) => line.includes(`"adapter":"${adapter}"`) && line.includes('"openMs":'))
    .map((line) => JSON.parse(line) as { failures: number });
}
