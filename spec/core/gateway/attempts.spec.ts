// The attempts of a chat request: what is repeated, what an abort ends, what the bus is told.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BlockhouseError } from '../../../core/errors.ts';
import type { ChatEvent, StreamSink } from '../../../core/ports.ts';
import { type CoreOptions, createCore } from '../../../core/runtime.ts';
import type { ChatRequest } from '../../../core/schemas/chat.ts';
import { gate, HELLO, passingFault, type Step, type SteppedAdapter, steppedAdapter, untilAborted } from '../../support/stepped-adapter.ts';
import { testFolder } from '../../support/test-folder.ts';
import { until } from '../../support/until.ts';

const REQUEST: ChatRequest = { adapter: 'stepped', model: 'model-1', messages: [{ role: 'user', content: 'hi' }] };
const ELSEWHERE: ChatRequest = { ...REQUEST, config: { baseURL: 'https://elsewhere.example', apiKey: 'mine' } };

type Fact = { readonly name: string } & Readonly<Record<string, unknown>>;

function coreWith(steps: readonly Step[], options: Partial<CoreOptions> = {}) {
  const adapter = steppedAdapter(steps);
  const core = createCore({ adapters: [adapter], env: { STEPPED_API_KEY: 'stored-key' }, random: () => 0, ...options });
  const facts: Fact[] = [];
  const attempts: Fact[] = [];
  core.events.on('*', (name, fact) => (name.startsWith('attempt.') ? attempts : facts).push({ name, ...fact }));
  return { core, adapter, facts, attempts, names: () => facts.map(({ name }) => name) };
}

function sinkOf(opened = false): StreamSink & { readonly texts: string[]; opened: boolean } {
  return {
    texts: [],
    opened,
    opensInMs: Number.POSITIVE_INFINITY,
    start() {
      this.opened = true;
    },
    content(fragments) {
      this.texts.push(...fragments);
      return true;
    },
    onceWritable: (resume) => resume(),
  };
}

/** Half an answer, then a failure that may be repeated. */
const halfThenFault: Step = async (call) => {
  call.sink.emit([
    { type: 'text', text: 'half' },
    { type: 'usage', usage: { inputTokens: 99, cacheReadTokens: 98 } },
    { type: 'toolCall', toolCall: { id: 'lost', name: 'f', arguments: {} } },
    { type: 'warning', warning: { field: 'lost', message: 'lost' } },
    { type: 'providerMetadata', providerMetadata: { lost: true } },
  ]);
  throw passingFault();
};

// First in its file: Node tells of each signal once only.
t.test('many calls without a signal leave no warning about listeners', async (t) => {
  const warnings: string[] = [];
  const note = (warning: Error) => warnings.push(warning.message);
  process.on('warning', note);
  t.teardown(() => process.off('warning', note));
  const held = gate();
  const { core } = coreWith([
    async (call) => {
      await held.opened;
      call.sink.emit(HELLO);
    },
  ]);
  const runs = Array.from({ length: 100 }, () => core.chat(REQUEST));
  await new Promise(setImmediate);
  held.open();
  await Promise.all(runs);
  await new Promise(setImmediate);
  t.same(warnings, []);
});

t.test('a passing failure is repeated, at most twice', async (t) => {
  const { core, adapter } = coreWith([passingFault(), passingFault(), HELLO]);
  t.equal((await core.chat(REQUEST)).message.content, 'Hello');
  t.equal(adapter.calls.length, 3);
  const never = coreWith([passingFault('first'), passingFault('second'), passingFault('third')]);
  await t.rejects(never.core.chat(REQUEST), { code: 'UPSTREAM_FAILED', message: 'third' });
  t.equal(never.adapter.calls.length, 3);
});

t.test('the number of repetitions can be lowered, down to none', async (t) => {
  for (const retries of [0, 1]) {
    const { core, adapter } = coreWith([passingFault()], { retries });
    await t.rejects(core.chat(REQUEST), { code: 'UPSTREAM_FAILED' });
    t.equal(adapter.calls.length, retries + 1);
  }
});

t.test('what may not be repeated is not', async (t) => {
  const final = [
    new BlockhouseError('UPSTREAM_AUTH', 'x'),
    new BlockhouseError('UPSTREAM_REJECTED', 'x'),
    new BlockhouseError('UPSTREAM_UNREACHABLE', 'x', { mayHaveRun: true }),
    new BlockhouseError('UPSTREAM_RATE_LIMITED', 'x', { retryable: false }),
    new Error('a defect'),
  ];
  for (const error of final) {
    const { core, adapter } = coreWith([error, HELLO]);
    await t.rejects(core.chat(REQUEST), { code: error instanceof BlockhouseError ? error.code : 'INTERNAL_ERROR' });
    t.equal(adapter.calls.length, 1, error.message);
  }
});

t.test('nothing of a failed attempt survives in a whole answer', async (t) => {
  const { core } = coreWith([halfThenFault, HELLO]);
  t.strictSame(await core.chat(REQUEST), {
    provider: 'stepped',
    model: 'model-1',
    message: { role: 'assistant', content: 'Hello' },
    usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
    stopReason: 'end_turn',
  });
});

t.test('once the sink has opened, an attempt is never repeated', async (t) => {
  const { core, adapter, names } = coreWith([halfThenFault, HELLO]);
  const sink = sinkOf();
  await t.rejects(core.pipe(REQUEST, sink), { code: 'UPSTREAM_FAILED' });
  t.equal(adapter.calls.length, 1);
  t.same(names(), ['call.started', 'call.finished'], 'nor announced');
  t.same(sink.texts, ['half']);
});

t.test('a sink that a keep-alive opened ends the attempts too, also when it opens during the wait', async (t) => {
  const opened = coreWith([passingFault(), HELLO]);
  await t.rejects(opened.core.pipe(REQUEST, sinkOf(true)), { code: 'UPSTREAM_FAILED' });
  t.equal(opened.adapter.calls.length, 1);

  const opening = coreWith([passingFault('while waiting'), HELLO]);
  const sink = sinkOf();
  opening.core.events.on('call.retried', () => {
    sink.opened = true;
  });
  await t.rejects(opening.core.pipe(REQUEST, sink), { message: 'while waiting' });
  t.equal(opening.adapter.calls.length, 1);
});

t.test('before it opened, a stream is repeated like a whole answer', async (t) => {
  const { core, adapter } = coreWith([passingFault(), HELLO]);
  const sink = sinkOf();
  await core.pipe(REQUEST, sink);
  t.equal(adapter.calls.length, 2);
  t.same(sink.texts, ['Hel', 'lo']);
});

t.test('of 1,000 failing requests at most 1,100 calls reach the provider', async (t) => {
  const { core, adapter } = coreWith([passingFault()], { now: () => 0, queue: { concurrency: 1000, waiting: 1000 } });
  const outcomes = await Promise.allSettled(Array.from({ length: 1000 }, () => core.chat(REQUEST)));
  t.equal(outcomes.filter(({ status }) => status === 'rejected').length, 1000);
  t.ok(adapter.calls.length <= 1100, `${adapter.calls.length} calls`);
});

/** `levels` objects, one in the other. */
function nested(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}

/** A core whose provider has failed so often that one call is let through to try; `trying` is what that one meets. */
async function coreAtTrial(trying: SteppedAdapter['chat']) {
  const clock = { ms: 0 };
  const adapter = steppedAdapter();
  const fails = async (): Promise<void> => {
    throw passingFault();
  };
  let chat: SteppedAdapter['chat'] = fails;
  const core = createCore({
    adapters: [{ ...adapter, chat: (call) => chat(call) }],
    env: { STEPPED_API_KEY: 'k' },
    retries: 0,
    now: () => clock.ms,
  });
  for (let call = 0; call < 20; call += 1) await t.rejects(core.chat(REQUEST), { code: 'UPSTREAM_FAILED' });
  await t.rejects(core.chat(REQUEST), { code: 'UPSTREAM_UNREACHABLE', message: /calls to it are paused/ });
  clock.ms += 5000;
  chat = trying;
  return {
    core,
    clock,
    recover: () => {
      chat = adapter.chat;
    },
  };
}

t.test('a provider that answers again is called again, whatever became of the call that was let through to try', async (t) => {
  const uncountable: ChatEvent = { type: 'toolCall', toolCall: { id: '1', name: 'f', arguments: { a: 1n } } };
  const tries: [title: string, SteppedAdapter['chat']][] = [
    [
      'the adapter throws at once',
      () => {
        throw new Error('a defect');
      },
    ],
    ['the adapter gives no promise', () => undefined as unknown as Promise<void>],
    ['the usage of the answer can not be told', async ({ sink }) => void sink.emit([uncountable, { type: 'stop', stopReason: 'end_turn' }])],
    [
      'nor that of the failure',
      async ({ sink }) => {
        sink.emit([uncountable]);
        throw new Error('a defect');
      },
    ],
  ];
  for (const [title, trying] of tries) {
    const { core, recover } = await coreAtTrial(trying);
    await t.rejects(core.chat(REQUEST), { code: 'INTERNAL_ERROR' }, title);
    recover();
    t.match(await core.chat(REQUEST), { message: { content: 'Hello' } }, title);
  }
});

t.test('a call that was let through to try, and whose adapter does not notice that the caller left, holds up nobody', async (t) => {
  const leaving = new AbortController();
  const { core, recover } = await coreAtTrial(() => {
    leaving.abort();
    return new Promise(() => undefined);
  });
  await t.rejects(core.chat(REQUEST, { signal: leaving.signal }), { code: 'CANCELLED' });
  recover();
  t.match(await core.chat(REQUEST), { message: { content: 'Hello' } });
});

t.test('an answer that nests too deep fails as one that could not be read, in both forms, and is not asked for again', async (t) => {
  const deep: readonly ChatEvent[] = [...HELLO, { type: 'toolCall', toolCall: { id: '1', name: 'f', arguments: nested(50_000) } }];
  const { core, adapter, names } = coreWith([deep]);
  const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
  await t.rejects(core.chat(REQUEST), { code: 'UPSTREAM_MALFORMED', usage });
  const sink = sinkOf();
  await t.rejects(core.pipe(REQUEST, sink), { code: 'UPSTREAM_MALFORMED', usage });
  t.same(sink.texts, ['Hel', 'lo']);
  t.equal(adapter.calls.length, 2);
  t.notOk(names().includes('call.retried'));
});

t.test('a call that was let through to try, and whose answer nests too deep, has failed', async (t) => {
  const { core, clock, recover } = await coreAtTrial(
    async ({ sink }) =>
      void sink.emit([
        { type: 'toolCall', toolCall: { id: '1', name: 'f', arguments: nested(50_000) } },
        { type: 'stop', stopReason: 'tool_use' },
      ]),
  );
  await t.rejects(core.chat(REQUEST), { code: 'UPSTREAM_MALFORMED' });
  await t.rejects(core.chat(REQUEST), { code: 'UPSTREAM_UNREACHABLE', retryAfterMs: 10_000 });
  clock.ms += 10_000;
  recover();
  t.match(await core.chat(REQUEST), { message: { content: 'Hello' } });
});

t.test('keys are read again for each attempt', async (t) => {
  const workspace = t.testdir({ 'auth.json': '{"stepped":{"apiKey":"old"}}' });
  const clock = { ms: 0 };
  const { core, adapter } = coreWith(
    [
      async () => {
        writeFileSync(join(workspace, 'auth.json'), '{"stepped":{"apiKey":"rotated"}}');
        clock.ms += 1000;
        throw passingFault();
      },
      HELLO,
    ],
    { workspace, now: () => clock.ms },
  );
  await core.chat(REQUEST);
  t.same(
    adapter.calls.map(({ settings }) => settings.values['apiKey']),
    ['old', 'rotated'],
  );
});

t.test('a key that is gone at the next attempt ends the request with the way to give one', async (t) => {
  const workspace = t.testdir({ 'auth.json': '{"stepped":{"apiKey":"old"}}' });
  const clock = { ms: 0 };
  const spoil: Step = async () => {
    writeFileSync(join(workspace, 'auth.json'), '{}');
    clock.ms += 1000;
    throw passingFault();
  };
  const { core, adapter } = coreWith([spoil, HELLO], { workspace, env: {}, now: () => clock.ms });
  await t.rejects(core.chat(REQUEST), { code: 'ADAPTER_NOT_CONFIGURED' });
  t.equal(adapter.calls.length, 1);
});

t.test('an abort while waiting ends the request; it never runs and its place is free', async (t) => {
  const held = gate();
  const { core, adapter, facts } = coreWith(
    [
      async (call) => {
        await held.opened;
        call.sink.emit(HELLO);
      },
      HELLO,
    ],
    { queue: { concurrency: 1, waiting: 1 } },
  );
  const first = core.chat(REQUEST);
  const leaver = new AbortController();
  const left = core.chat(REQUEST, { signal: leaver.signal, requestId: 'left' });
  leaver.abort();
  await t.rejects(left, { code: 'CANCELLED', status: 499 });
  const third = core.chat(REQUEST);
  held.open();
  await Promise.all([first, third]);
  t.equal(adapter.calls.length, 2);
  t.match(
    facts.find((fact) => fact.name === 'call.finished' && fact['requestId'] === 'left'),
    { code: 'CANCELLED', attempts: 0 },
  );
});

t.test('an abort during an attempt ends the request, and the adapter sees it', async (t) => {
  for (const streamed of [false, true]) {
    const { core, adapter } = coreWith([untilAborted]);
    const leaver = new AbortController();
    const options = { signal: leaver.signal };
    const run: Promise<unknown> = streamed ? core.pipe(REQUEST, sinkOf(), options) : core.chat(REQUEST, options);
    await until('the adapter is called', () => adapter.calls.length === 1);
    leaver.abort();
    await t.rejects(run, { code: 'CANCELLED' });
    t.equal(adapter.calls[0]?.signal.aborted, true);
    t.equal(adapter.calls.length, 1);
  }
});

t.test('whatever the adapter says after an abort, the request was cancelled', async (t) => {
  for (const says of [passingFault(), new Error('socket destroyed'), new BlockhouseError('UPSTREAM_UNREACHABLE', 'reset')]) {
    const leaver = new AbortController();
    const { core, adapter, names } = coreWith([
      async () => {
        leaver.abort();
        throw says;
      },
    ]);
    await t.rejects(core.chat(REQUEST, { signal: leaver.signal }), { code: 'CANCELLED' });
    await new Promise(setImmediate);
    t.equal(adapter.calls.length, 1);
    t.same(names(), ['call.started', 'call.finished'], 'nothing is announced after the end');
  }
});

t.test('an abort during the wait between attempts ends the request at once', async (t) => {
  const { core, adapter, facts } = coreWith([new BlockhouseError('UPSTREAM_RATE_LIMITED', 'slow down', { retryAfterMs: 60_000 }), HELLO]);
  const leaver = new AbortController();
  core.events.on('call.retried', () => setImmediate(() => leaver.abort()));
  const startedAt = performance.now();
  await t.rejects(core.chat(REQUEST, { signal: leaver.signal }), { code: 'CANCELLED' });
  t.ok(performance.now() - startedAt < 30_000, 'long before the minute is over');
  t.equal(adapter.calls.length, 1);
  t.match(facts.at(-1), { name: 'call.finished', code: 'CANCELLED', attempts: 1 });
});

t.test('a request that had left before it came makes no call', async (t) => {
  const { core, adapter, names } = coreWith([HELLO]);
  await t.rejects(core.chat(REQUEST, { signal: AbortSignal.abort() }), { code: 'CANCELLED' });
  t.equal(adapter.calls.length, 0);
  t.same(names(), ['call.started', 'call.finished']);
});

t.test('an abort after the end changes nothing', async (t) => {
  const leaver = new AbortController();
  const { core, facts } = coreWith([HELLO]);
  await core.chat(REQUEST, { signal: leaver.signal });
  leaver.abort();
  await new Promise(setImmediate);
  t.equal(facts.length, 2);
  t.equal(facts[1]?.['code'], undefined);
});

t.test('after close every request ends in SHUTTING_DOWN: waiting for a repetition, waiting for a place, or new', async (t) => {
  const held = gate();
  const busy = new BlockhouseError('UPSTREAM_RATE_LIMITED', 'slow down', { retryAfterMs: 60_000 });
  const held429: Step = async () => {
    await held.opened;
    throw busy;
  };
  const { core, adapter, facts } = coreWith([busy, held429, HELLO], { queue: { concurrency: 1, waiting: 2 } });
  const ended = ['waits to repeat', 'running', 'waits for a place'].map((requestId) =>
    t.rejects(core.chat(REQUEST, { requestId }), { code: 'SHUTTING_DOWN', retryable: true, mayHaveRun: false }, requestId),
  );
  await until('one waits for a repetition', () => facts.some(({ name }) => name === 'call.retried'));
  await until('another one is at work', () => adapter.calls.length === 2);
  const closing = core.close();
  held.open();
  await Promise.all(ended);
  await t.rejects(core.chat(REQUEST), { code: 'SHUTTING_DOWN' });
  await t.rejects(core.models('stepped'), { code: 'SHUTTING_DOWN' });
  t.match(await core.verify('stepped'), { ok: false, detail: /shutting down/ });
  t.equal(adapter.calls.length, 2);
  await Promise.all([closing, core.close()]);
  t.equal(adapter.closed, 1, 'a second close is the first one');
});

t.test('many requests that wait for a repetition leave no warning about listeners', async (t) => {
  const warnings: string[] = [];
  const note = (warning: Error) => warnings.push(warning.message);
  process.on('warning', note);
  t.teardown(() => process.off('warning', note));
  const slow = new BlockhouseError('UPSTREAM_RATE_LIMITED', 'slow down', { retryAfterMs: 60_000 });
  const { core, facts } = coreWith([slow], { now: () => 0 });
  const ended = Promise.allSettled(Array.from({ length: 20 }, (_, index) => core.chat(index % 2 === 0 ? REQUEST : ELSEWHERE)));
  await until('more wait than a signal may have listeners by default', () => facts.filter(({ name }) => name === 'call.retried').length > 10);
  await core.close();
  await ended;
  await new Promise(setImmediate);
  t.same(warnings, []);
});

t.test('a request that waits for its next attempt holds no place in the queue', async (t) => {
  const limited = new BlockhouseError('UPSTREAM_RATE_LIMITED', 'slow down', { retryAfterMs: 60_000 });
  const { core, adapter, facts } = coreWith([limited, HELLO], { queue: { concurrency: 1, waiting: 0 } });
  const leaver = new AbortController();
  const waiting = core.chat(REQUEST, { signal: leaver.signal });
  await until('the first waits for its next attempt', () => facts.some(({ name }) => name === 'call.retried'));
  t.match(await core.chat(REQUEST), { message: { content: 'Hello' } });
  t.equal(adapter.calls.length, 2);
  leaver.abort();
  await t.rejects(waiting, { code: 'CANCELLED', mayHaveRun: false });
});

t.test('a further attempt waits for its turn like a first one, and is refused when the waiting room is full', async (t) => {
  for (const waiting of [0, 1]) {
    const held = gate();
    const slow: Step = async (call) => {
      await held.opened;
      call.sink.emit(HELLO);
    };
    const { core, adapter, facts } = coreWith([passingFault(), slow, HELLO], { queue: { concurrency: 1, waiting } });
    const first = core.chat(REQUEST);
    const second = new Promise((resolve, reject) => {
      core.events.on('call.retried', () => setImmediate(() => core.chat(REQUEST).then(resolve, reject)));
    });
    if (waiting === 0) {
      await t.rejects(first, { code: 'QUEUE_FULL', retryAfterMs: 2000 });
      t.match(facts.at(-1), { name: 'call.finished', code: 'QUEUE_FULL', attempts: 1 });
      t.equal(facts.filter(({ name }) => name === 'call.retried').length, 1, 'a full queue is no reason for another attempt');
    }
    await until('the second is at work', () => adapter.calls.length === 2);
    held.open();
    t.match(await second, { message: { content: 'Hello' } });
    if (waiting === 1) t.match(await first, { message: { content: 'Hello' } });
  }
});

t.test('a call that was ended while it was made may have run, and one that was not made has not', async (t) => {
  for (const step of [untilAborted, () => new Promise<never>(() => undefined)]) {
    const { core, adapter } = coreWith([step], { queue: { concurrency: 1, waiting: 1 } });
    const leaver = new AbortController();
    const [made, waited] = [core.chat(REQUEST, { signal: leaver.signal }), core.chat(REQUEST, { signal: leaver.signal })];
    await until('the adapter is called', () => adapter.calls.length === 1);
    leaver.abort();
    await Promise.all([t.rejects(made, { code: 'CANCELLED', mayHaveRun: true }), t.rejects(waited, { code: 'CANCELLED', mayHaveRun: false })]);
  }
});

t.test('a call that was ended before its request was sent has not run', async (t) => {
  const connecting: Step = async ({ signal }) => {
    if (!signal.aborted) await once(signal, 'abort');
    throw new BlockhouseError('CANCELLED', 'The client closed the connection or aborted the request.');
  };
  const silent: Step = async ({ signal }) => {
    if (!signal.aborted) await once(signal, 'abort');
    throw new Error('of an adapter that does not say how far it came');
  };
  for (const [step, mayHaveRun] of [
    [connecting, false],
    [silent, true],
  ] as const) {
    const { core, adapter } = coreWith([step]);
    const leaver = new AbortController();
    const made = core.chat(REQUEST, { signal: leaver.signal });
    await until('the adapter is called', () => adapter.calls.length === 1);
    leaver.abort();
    await t.rejects(made, { code: 'CANCELLED', mayHaveRun });
  }
});

t.test('what a provider sends after its caller left is dropped', async (t) => {
  const leaver = new AbortController();
  const held = gate();
  const { core } = coreWith([
    async (call) => {
      call.sink.emit([{ type: 'text', text: 'early' }]);
      await held.opened;
      call.sink.emit([{ type: 'text', text: 'late' }]);
    },
  ]);
  const sink = sinkOf();
  const run = core.pipe(REQUEST, sink, { signal: leaver.signal });
  await until('the text has come', () => sink.texts.length === 1);
  leaver.abort();
  await t.rejects(run, { code: 'CANCELLED' });
  held.open();
  await new Promise(setImmediate);
  t.same(sink.texts, ['early']);
});

t.test('leaving the loop of a stream aborts the call', async (t) => {
  const { core, adapter } = coreWith([
    async (call) => {
      call.sink.emit([{ type: 'text', text: 'a' }]);
      await untilAborted(call);
    },
  ]);
  for await (const event of core.stream(REQUEST)) if (event.type === 'content') break;
  t.equal(adapter.calls[0]?.signal.aborted, true);
});

t.test('the bus hears one end for each start, with what happened between', async (t) => {
  const clock = { ms: 1000 };
  const slow: Step = async (call) => {
    clock.ms += 2;
    call.onAnswer?.();
    clock.ms += 3;
    call.onAnswer?.();
    call.sink.emit(HELLO);
    clock.ms += 10;
  };
  const { core, facts, attempts } = coreWith([passingFault('busy'), slow], { now: () => clock.ms });
  await core.pipe(REQUEST, sinkOf(), { requestId: 'req-1' });
  const call = Number(facts[0]?.['call']);
  const fact = { kind: 'chat', call, requestId: 'req-1', adapter: 'stepped', model: 'model-1' };
  t.same(facts, [
    { name: 'call.started', ...fact, stream: true },
    { name: 'call.retried', ...fact, attempt: 1, delayMs: 1, code: 'UPSTREAM_FAILED', error: 'busy' },
    {
      name: 'call.finished',
      ...fact,
      stream: true,
      attempts: 2,
      failed: [{ sentMs: 0, endedMs: 0, code: 'UPSTREAM_FAILED', next: 'repeat', delayMs: 1 }],
      durationMs: 15,
      queuedMs: 0,
      sentMs: 0,
      firstTextMs: 5,
      usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
      answer: { stopReason: 'end_turn' },
    },
  ]);
  t.same(attempts, [
    { name: 'attempt.started', ...fact, attempt: 1 },
    { name: 'attempt.ended', ...fact, attempt: 1, durationMs: 0, code: 'UPSTREAM_FAILED' },
    { name: 'attempt.started', ...fact, attempt: 2, after: 'UPSTREAM_FAILED', next: 'repeat', delayMs: 1 },
    { name: 'attempt.ended', ...fact, attempt: 2, durationMs: 15, firstByteMs: 2, firstTextMs: 5 },
  ]);
});

t.test('each attempt that was sent has one end, also of a call that is given up; nothing is made of them where nobody listens', async (t) => {
  const { core, attempts } = coreWith([untilAborted]);
  const leaving = new AbortController();
  const calls = [core.chat(REQUEST, { signal: leaving.signal }), core.chat(REQUEST, { signal: leaving.signal })];
  await until('both are sent', () => attempts.length === 2);
  leaving.abort();
  for (const call of calls) await t.rejects(call, { code: 'CANCELLED' });
  const ends = attempts.filter(({ name }) => name === 'attempt.ended');
  t.same(
    ends.map(({ code }) => code),
    ['CANCELLED', 'CANCELLED'],
  );
  t.same(new Set(ends.map(({ call }) => call)).size, 2);

  const adapter = steppedAdapter([HELLO]);
  const quiet = createCore({ adapters: [adapter], env: { STEPPED_API_KEY: 'stored-key' } });
  await quiet.chat(REQUEST);
  t.equal(adapter.calls[0]?.onAnswer, undefined);
});

t.test('what a provider says of its answer is told at the end of its call', async (t) => {
  const answer: Step = [...HELLO, { type: 'answer', id: 'chatcmpl-1', model: 'model-1-2026' }];
  const { core, facts } = coreWith([answer]);
  await core.chat(REQUEST);
  t.same(facts.at(-1)?.['answer'], { stopReason: 'end_turn', id: 'chatcmpl-1', model: 'model-1-2026' });
});

t.test('every outcome has one start and one end', async (t) => {
  const outcomes: [Step[], string | undefined][] = [
    [[HELLO], undefined],
    [[passingFault()], 'UPSTREAM_FAILED'],
    [[new Error('x')], 'INTERNAL_ERROR'],
    [[[{ type: 'text', text: 'no stop' }]], 'INTERNAL_ERROR'],
    [[halfThenFault, HELLO], undefined],
  ];
  for (const [steps, code] of outcomes) {
    const { core, facts } = coreWith(steps);
    await Promise.allSettled([core.chat(REQUEST)]);
    t.equal(facts.filter(({ name }) => name === 'call.started').length, 1);
    const ends = facts.filter(({ name }) => name === 'call.finished');
    t.equal(ends.length, 1);
    t.equal(ends[0]?.['code'], code);
    t.match(ends[0]?.['requestId'], /^req_[0-9a-f]{24}$/);
  }
});

t.test('back-pressure of the sink reaches the adapter, and a whole answer has none', async (t) => {
  const answers: boolean[] = [];
  let resumed = 0;
  const step: Step = async (call) => {
    answers.push(call.sink.emit([{ type: 'text', text: 'a' }]));
    await new Promise<void>((resolve) => call.sink.onceWritable(resolve));
    resumed += 1;
    call.sink.emit(HELLO);
  };
  const waiting: (() => void)[] = [];
  const { core } = coreWith([step]);
  const piped = core.pipe(REQUEST, { ...sinkOf(), content: () => false, onceWritable: (resume) => waiting.push(resume) });
  await until('the adapter waits', () => waiting.length === 1);
  t.equal(resumed, 0);
  waiting[0]?.();
  await piped;
  await core.chat(REQUEST);
  t.same([answers, resumed], [[false, true], 2]);
});

t.test('a wait that would outlast the opening of the stream is not begun, and the failure keeps its status', async (t) => {
  const limited = new BlockhouseError('UPSTREAM_RATE_LIMITED', 'slow down', { retryAfterMs: 20_000 });
  const { core, adapter, names } = coreWith([limited, HELLO]);
  await t.rejects(core.pipe(REQUEST, { ...sinkOf(), opensInMs: 10_000 }), { code: 'UPSTREAM_RATE_LIMITED', retryAfterMs: 20_000 });
  t.equal(adapter.calls.length, 1);
  t.notOk(names().includes('call.retried'));
});

/** What a request used that fails: of its error, and of its last fact. */
async function usagesOf(steps: readonly Step[], run: (core: ReturnType<typeof coreWith>['core']) => Promise<unknown>) {
  const { core, facts } = coreWith(steps);
  const error: unknown = await run(core).then(
    () => undefined,
    (failure: unknown) => failure,
  );
  return { error: error as BlockhouseError | undefined, fact: facts.at(-1)?.['usage'] };
}

t.test('a request that failed tells what it has used', async (t) => {
  const used = { inputTokens: 99, outputTokens: 2, totalTokens: 101, cacheReadTokens: 98, estimated: true };
  const streamed = await usagesOf([halfThenFault], (core) => core.pipe(REQUEST, sinkOf()));
  t.match(streamed.error, { code: 'UPSTREAM_FAILED', message: 'overloaded', retryAfterMs: 1, retryable: true, usage: used });
  t.strictSame(streamed.fact, used);
  const reported: Step = async (call) => {
    call.sink.emit([...HELLO]);
    throw new BlockhouseError('UPSTREAM_MALFORMED', 'cut short', { mayHaveRun: true, upstreamStatus: 200, cause: 'c', details: [{ path: 'a', message: 'b' }] });
  };
  const whole = await usagesOf([reported], (core) => core.chat(REQUEST));
  t.match(whole.error, {
    code: 'UPSTREAM_MALFORMED',
    mayHaveRun: true,
    upstreamStatus: 200,
    cause: 'c',
    details: [{ path: 'a', message: 'b' }],
    usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
  });
  t.strictSame(whole.fact, whole.error?.usage);
});

t.test('what several attempts have used adds up, whether the last one fails or not', async (t) => {
  const step: Step = async (call) => {
    call.sink.emit([{ type: 'usage', usage: { inputTokens: 10, outputTokens: 0 } }]);
    throw passingFault();
  };
  const failed = await usagesOf([step, passingFault(), step], (core) => core.chat(REQUEST));
  t.strictSame(failed.error?.usage, { inputTokens: 20, outputTokens: 0, totalTokens: 20 });
  t.strictSame(failed.fact, failed.error?.usage);
  const answered = await usagesOf([step, HELLO], async (core) => {
    t.strictSame((await core.chat(REQUEST)).usage, { inputTokens: 3, outputTokens: 2, totalTokens: 5 }, 'an answer has its own usage alone');
  });
  t.strictSame(answered.fact, { inputTokens: 13, outputTokens: 2, totalTokens: 15 }, 'the fact has that of the whole request');
});

t.test('an answer that the caller left tells what it has used, also while it waits for a repetition', async (t) => {
  const halfThenSilence: Step = async (call) => {
    call.sink.emit([{ type: 'text', text: 'x'.repeat(40) }]);
    await untilAborted(call);
  };
  const leaving = new AbortController();
  const sink = sinkOf();
  sink.content = () => {
    setImmediate(() => leaving.abort());
    return true;
  };
  const left = await usagesOf([halfThenSilence], (core) => core.pipe(REQUEST, sink, { signal: leaving.signal }));
  t.match(left.error, { code: 'CANCELLED', usage: { inputTokens: 1, outputTokens: 10, totalTokens: 11, estimated: true } });
  t.strictSame(left.fact, left.error?.usage);

  const waiting = new AbortController();
  const step: Step = async (call) => {
    call.sink.emit([{ type: 'usage', usage: { inputTokens: 10, outputTokens: 0 } }]);
    throw new BlockhouseError('UPSTREAM_RATE_LIMITED', 'later', { retryAfterMs: 60_000 });
  };
  const waited = await usagesOf([step], (core) => {
    core.events.on('call.retried', () => waiting.abort());
    return core.chat(REQUEST, { signal: waiting.signal });
  });
  t.match(waited.error, { code: 'CANCELLED', usage: { inputTokens: 10, outputTokens: 0, totalTokens: 10 } });
});

t.test('a request that was sent is paid for, also where no answer came; one that the provider refused is not', async (t) => {
  const leaving = new AbortController();
  const silence: Step = async (call) => {
    setImmediate(() => leaving.abort());
    await untilAborted(call);
  };
  const timeout = new BlockhouseError('UPSTREAM_TIMEOUT', 'Silent.', { mayHaveRun: true });
  const input = { inputTokens: 1, outputTokens: 0, totalTokens: 1, estimated: true };
  for (const [step, code, usage] of [
    [passingFault(), 'UPSTREAM_FAILED', undefined],
    [new BlockhouseError('UPSTREAM_UNREACHABLE', 'No route.'), 'UPSTREAM_UNREACHABLE', undefined],
    [timeout, 'UPSTREAM_TIMEOUT', input],
    [silence, 'CANCELLED', input],
  ] as const) {
    const { error, fact } = await usagesOf([step], (core) => core.chat(REQUEST, { signal: leaving.signal }));
    t.equal(error?.code, code);
    t.same(error?.usage, usage, code);
    t.same(fact, usage, code);
  }
});

t.test('an answer that could not be read counts by its size', async (t) => {
  const unread: Step = async (call) => {
    call.sink.emit([{ type: 'unread', bytes: 4000 }]);
    throw new BlockhouseError('UPSTREAM_MALFORMED', 'Cut.', { mayHaveRun: true });
  };
  const { error } = await usagesOf([unread], (core) => core.chat(REQUEST));
  t.match(error?.usage, { inputTokens: 1, outputTokens: 1000, estimated: true });
});

t.test('a call that does not heed the end of the gateway is settled all the same', async (t) => {
  const deaf: Step = async () => new Promise(() => undefined);
  const { core, facts } = coreWith([deaf]);
  const chat = core.chat(REQUEST);
  chat.catch(() => undefined);
  await new Promise(setImmediate);
  await core.close();
  t.match(facts.at(-1), { name: 'call.finished', code: 'SHUTTING_DOWN', usage: { inputTokens: 1, estimated: true } });
});

t.test('what is still read of an answer when the gateway ends counts by what has come, with a cap', async (t) => {
  const parsing: Step = async ({ until: cut, sink }) =>
    new Promise((_, reject) => {
      cut?.addEventListener('abort', () => {
        sink.emit([{ type: 'unread', bytes: 4000 }]);
        reject(cut.reason);
      });
    });
  const { core, adapter, facts } = coreWith([parsing], { workspace: testFolder(t) });
  await core.start();
  await core.keys?.create('app', { tokensPerDay: 100_000 });
  const ended = t.rejects(core.chat(REQUEST, { key: 'app' }), { code: 'SHUTTING_DOWN' });
  await until('it is sent', () => adapter.calls.length === 1);
  await core.close();
  await ended;
  t.match(
    facts.find(({ name }) => name === 'call.finished'),
    { code: 'SHUTTING_DOWN', usage: { inputTokens: 1, outputTokens: 1000, estimated: true } },
  );
});

t.test('an answer that breaks off after its caller has held it up counts what its model may have generated meanwhile, with a cap alone', async (t) => {
  for (const [heldMs, cap, outputs] of [
    [4999, 100_000, 1],
    [60_000, 100_000, 6000],
    [60_000, null, 1],
  ] as const)
    for (const isForwarded of [false, true]) {
      const workspace = testFolder(t);
      const clock = { ms: 0 };
      const holdUp = (sink: { onceWritable(resume: () => void): void }): never => {
        for (let time = 0; time < 2; time += 1) sink.onceWritable(() => undefined);
        throw new BlockhouseError('UPSTREAM_MALFORMED', 'Cut.', { mayHaveRun: true });
      };
      const adapter = steppedAdapter(
        [
          async ({ sink }) => {
            sink.emit([{ type: 'text', text: 'a' }]);
            holdUp(sink);
          },
        ],
        {
          openModels: /./,
          protocol: () => '/v1/words',
          forward: async ({ sink }) => {
            sink.head({}, true);
            sink.bytes(Buffer.from('data: {"delta":"a"}\n\n'));
            holdUp(sink);
          },
        },
      );
      const core = createCore({ adapters: [adapter], env: { STEPPED_API_KEY: 'k' }, workspace, now: () => clock.ms });
      await core.start();
      t.teardown(() => core.close());
      await core.keys?.create('app', { tokensPerDay: cap });
      const ends: unknown[] = [];
      core.events.on('call.finished', (fact) => ends.push(fact));
      const onceWritable = (resume: () => void): void => {
        clock.ms += heldMs / 2;
        resume();
      };
      const sink = { ...sinkOf(), onceWritable, head: () => undefined, bytes: () => false, reader: { opened: true, opensInMs: 0 } };
      const request = { path: '/v1/words', search: '', headers: {}, body: Buffer.from('{}'), hidesUsage: false };
      const long = { ...REQUEST, config: { maxTokens: 10_000 } };
      const call: Promise<unknown> = isForwarded ? core.forward('stepped', 'm', request, sink, { key: 'app' }) : core.pipe(long, sink, { key: 'app' });
      await t.rejects(() => call, { code: 'UPSTREAM_MALFORMED' });
      t.match(ends, [{ usage: { outputTokens: outputs, estimated: true } }], `${heldMs} ms, cap ${cap}, ${isForwarded ? 'forwarded' : 'chat'}`);
    }
});
