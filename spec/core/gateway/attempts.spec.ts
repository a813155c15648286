import t from 'tap';
import { sleep, sumOf } from '../../../core/gateway/attempts.ts';
import { type ChatRequest, createCore, type StreamSink } from '../../../core/index.ts';
import { HELLO, type Step, steppedAdapter } from '../../support/stepped-adapter.ts';

const REQUEST: ChatRequest = { adapter: 'stepped', model: 'm', messages: [{ role: 'user', content: 'hi' }] };
const never = (): AbortSignal => new AbortController().signal;
const LONG_MS = 3_600_000;

t.test('a wait ends by its time, by the caller who leaves, or by the gateway that closes', async (t) => {
  await t.resolves(sleep(1, never(), never()));
  const [leaving, closing] = [new AbortController(), new AbortController()];
  const waits = [sleep(LONG_MS, leaving.signal, never()), sleep(LONG_MS, never(), closing.signal)];
  leaving.abort();
  closing.abort();
  await t.rejects(waits[0] as Promise<void>, { code: 'CANCELLED' });
  await t.resolves(waits[1] as Promise<void>);
  await t.rejects(sleep(LONG_MS, AbortSignal.abort(), never()), { code: 'CANCELLED' });
  await t.resolves(sleep(LONG_MS, never(), AbortSignal.abort()));
});

function sinkInto(calls: string[]): StreamSink {
  return {
    opened: false,
    opensInMs: Number.POSITIVE_INFINITY,
    start: () => calls.push('start'),
    content: (fragments) => calls.push(...fragments) > 0,
    onceWritable: (resume) => resume(),
  };
}

t.test('start comes once: before the first text, or right before an end without any', async (t) => {
  const silent: Step = HELLO.filter((event) => event.type !== 'text');
  for (const [step, expected] of [
    [HELLO, ['start', 'Hel', 'lo']],
    [silent, ['start']],
  ] as const) {
    const core = createCore({ adapters: [steppedAdapter([step])], env: { STEPPED_API_KEY: 'k' } });
    const calls: string[] = [];
    await core.pipe(REQUEST, sinkInto(calls));
    t.same(calls, expected);
  }
});

t.test('an unknown usage adds nothing, and two unknown ones stay unknown', async (t) => {
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
  t.equal(sumOf(undefined, undefined), undefined);
  t.equal(sumOf(usage, undefined), usage);
  t.equal(sumOf(undefined, usage), usage);
  t.same(sumOf(usage, usage), { inputTokens: 2, outputTokens: 4, totalTokens: 6 });
});
