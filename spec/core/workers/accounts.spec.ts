import t from 'tap';
import type { BlockhouseError } from '../../../core/errors.ts';
import { gate, HELLO, type Step, untilAborted } from '../../support/stepped-adapter.ts';
import { until } from '../../support/until.ts';
import { startWorkers } from '../../support/workers.ts';

const REQUEST = { adapter: 'stepped', model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] } as const;
const APP = { key: 'app' } as const;
const refusalOf = (work: Promise<unknown>): Promise<BlockhouseError | undefined> =>
  work.then(
    () => undefined,
    (error: BlockhouseError) => error,
  );

t.test('a refusal until midnight is given without a question, until the key is changed', async (t) => {
  const { workers } = await startWorkers(t, [HELLO]);
  const { core, adapter } = workers[0];
  await core.keys?.create('app', { tokensPerDay: 5 });
  t.equal(await refusalOf(core.chat(REQUEST, APP)), undefined);
  const asked = await refusalOf(core.chat(REQUEST, APP));
  const known = await refusalOf(core.chat(REQUEST, APP));
  t.match(known, { code: 'KEY_CAP_REACHED', message: asked?.message, retryAfterMs: Number });
  t.ok((known?.retryAfterMs ?? 0) <= (asked?.retryAfterMs ?? 0));
  await core.keys?.revoke('app');
  await core.keys?.create('app', { tokensPerDay: 1000 });
  t.equal(await refusalOf(core.chat(REQUEST, APP)), undefined);
  t.equal(adapter.calls.length, 2);
});

t.test('a key that is revoked, replaced or gets a cap while its call waits is refused before it is sent', async (t) => {
  const held = gate();
  const wait: Step = async (call) => {
    await held.opened;
    call.sink.emit(HELLO);
  };
  const { workers } = await startWorkers(t, [wait], { queue: { concurrency: 1 } });
  const { core, adapter } = workers[0];
  await core.keys?.create('app');
  const first = core.chat(REQUEST);
  await until('it is sent', () => adapter.calls.length === 1);
  const waiting = refusalOf(core.chat(REQUEST, APP));
  await core.keys?.revoke('app');
  await core.keys?.create('app', { tokensPerDay: 0 });
  held.open();
  await first;
  t.match(await waiting, { code: 'KEY_FORBIDDEN' });
  t.match(await refusalOf(core.chat(REQUEST, APP)), { code: 'KEY_CAP_REACHED' });
  t.equal(adapter.calls.length, 1);
});

t.test('what a stream has used so far counts for the others within a moment', async (t) => {
  let sent = 0;
  const stream: Step = async (call) => {
    sent += 1;
    if (sent > 1) {
      call.sink.emit(HELLO);
      return;
    }
    call.sink.emit([{ type: 'text', text: 'word '.repeat(9000) }]);
    await untilAborted(call);
  };
  const { workers } = await startWorkers(t, [stream]);
  const [one, two] = workers;
  await one.core.keys?.create('app', { tokensPerDay: 8000 });
  const leaving = new AbortController();
  const first = refusalOf(one.core.chat(REQUEST, { ...APP, signal: leaving.signal }));
  await until('it is sent', () => one.adapter.calls.length === 1);
  let refusal: BlockhouseError | undefined;
  while (refusal === undefined) refusal = await refusalOf(two.core.chat(REQUEST, APP));
  t.match(refusal, { code: 'KEY_CAP_REACHED', message: /under way/, retryAfterMs: 1000 });
  leaving.abort();
  one.core.stopReading((await two.core.view.calls()).live[0]?.requestId ?? '');
  await first;
});

t.test('a worker that closes has told all its ends, also those of calls that it cuts off', async (t) => {
  const { workers, core } = await startWorkers(t, [HELLO, untilAborted]);
  const [one] = workers;
  await one.core.keys?.create('app', { tokensPerDay: 100_000 });
  await one.core.chat(REQUEST, APP);
  void refusalOf(one.core.chat(REQUEST, APP)); // its adapter does not hear that the gateway closes
  await until('it is sent', () => one.adapter.calls.length === 2);
  await one.core.close();
  t.match(await core.accounts?.spentToday('app'), { calls: 2 });
});
