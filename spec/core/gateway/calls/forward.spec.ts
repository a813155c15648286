import t from 'tap';
import { BlockhouseError } from '../../../../core/errors.ts';

import { Forward } from '../../../../core/gateway/calls/forward.ts';
import type { ForwardCall, ForwardedAnswer, ForwardTarget } from '../../../../core/ports.ts';
import { createCore } from '../../../../core/runtime.ts';
import { steppedAdapter } from '../../../support/stepped-adapter.ts';

const REQUEST = { path: '/v1/words', search: '', headers: {}, body: Buffer.from('{"model":"m"}'), hidesUsage: false };

function coreWith(...steps: readonly ((call: ForwardCall) => Promise<void>)[]) {
  let made = 0;
  const forward = (call: ForwardCall): Promise<void> => (steps[Math.min(made++, steps.length - 1)] as (typeof steps)[number])(call);
  const core = createCore({
    adapters: [steppedAdapter([], { protocol: () => '/v1/words', forward })],
    env: { STEPPED_API_KEY: 'k' },
    random: () => 0,
  });
  const facts: Record<string, unknown>[] = [];
  core.events.on('call.finished', (fact) => facts.push({ ...fact }));
  return { core, facts, attempts: () => made };
}

function target(reader?: { readonly opened: boolean; readonly opensInMs: number }): ForwardTarget & { readonly got: string[] } {
  const got: string[] = [];
  return {
    got,
    reader,
    head: (_headers, isStream) => got.push(isStream ? 'stream' : 'whole'),
    bytes: (bytes) => got.push(bytes.toString()) > 0,
    onceWritable: (resume) => resume(),
  };
}

t.test('the bytes reach the client, and the usage that the provider reports is that of the call', async (t) => {
  const { core, facts } = coreWith(async ({ sink }) => {
    sink.usage({ inputTokens: 7, cacheReadTokens: 3, outputTokens: undefined });
    sink.head({}, true);
    sink.bytes(Buffer.from('a'));
    sink.usage({ inputTokens: undefined, outputTokens: 5, reasoningTokens: 2 });
    sink.bytes(Buffer.from('b'));
  });
  t.same(core.lane('stepped', '/v1/words', 'm', {}), []);
  t.equal(core.lane('stepped', '/v1/other', 'm', {}), undefined);
  const to = target();
  await core.forward('stepped', 'm', REQUEST, to, { caller: 'app' });
  t.same(to.got, ['stream', 'a', 'b']);
  t.match(facts, [
    {
      model: 'm',
      caller: 'app',
      attempts: 1,
      code: undefined,
      usage: { inputTokens: 7, outputTokens: 5, totalTokens: 12, cacheReadTokens: 3, reasoningTokens: 2 },
    },
  ]);
});

t.test('of a request that passes as it is, the answer may have as much output as its adapter reads in it, for each of its choices', (t) => {
  const mostOf = (answer: ForwardedAnswer | undefined, more = {}, reader: ForwardTarget['reader'] | null = { opened: false, opensInMs: 0 }) => {
    const fields = { max_tokens: 5, n: 9 };
    const request = { ...REQUEST, body: Buffer.from(JSON.stringify(fields)), fields };
    const adapter = steppedAdapter([], { ...(answer !== undefined && { forwardedAnswer: ({ fields = {} }) => (fields['n'] === 9 ? answer : {}) }), ...more });
    const parts = { adapter, model: 'm', signal: new AbortController().signal, requestId: 'r', options: {} };
    const call = new Forward({ ...parts, request, target: target(reader ?? undefined) });
    const most = call.mostUnseen;
    call.forgetRequest();
    t.equal(call.mostUnseen, most, 'it is known without the request');
    t.equal(call.choices, answer?.choices ?? 1);
    t.equal(request.body.length, 0);
    return most;
  };
  t.equal(mostOf({ limit: 70 }), 70);
  t.equal(mostOf({ limit: 70, choices: 3 }), 210);
  t.equal(mostOf({ choices: 2 }), 256_000, 'without a limit');
  t.equal(mostOf({ limit: Number.MAX_SAFE_INTEGER, choices: 3 }), 30_000_000, 'more than can be written is a count all the same, and so has a price');
  t.equal(mostOf(undefined), 128_000, 'of an adapter that reads nothing in it');
  t.equal(mostOf({ limit: 7 }, { openModels: /^m$/ }), 0, 'a stream of such a model shows everything');
  t.equal(mostOf({ limit: 7 }, { openModels: /^m$/ }, null), 7, 'a whole answer shows nothing before its end');
  t.end();
});

t.test('a request asks for an hour in the cache in whatever way that is written', async (t) => {
  const asks = (body: string): boolean => {
    const request = { ...REQUEST, body: Buffer.from(body), fields: JSON.parse(body) as Record<string, unknown> };
    const parts = { adapter: steppedAdapter([]), model: 'm', signal: new AbortController().signal, requestId: '1', options: {}, target: target() };
    return new Forward({ ...parts, request }).asksForHourInCache();
  };
  for (const hour of ['"1h"', '"\\u0031h"', '"1\\u0068"']) t.equal(asks(`{"system":[{"cache_control":{"ttl":${hour}}}]}`), true, hour);
  for (const other of ['"5m"', '"\\u0035m"']) t.equal(asks(`{"system":[{"cache_control":{"ttl":${other}}}]}`), false, other);
});

t.test('after its client has left, a stream is read on for so many bytes and no more', async (t) => {
  const adapter = steppedAdapter();
  const parts = { adapter, model: 'm', signal: new AbortController().signal, requestId: 'r', options: {} };
  const call = new Forward({ ...parts, request: REQUEST, target: target() });
  const permit = { succeed: () => undefined, fail: () => undefined } as unknown as Parameters<Forward['newAttempt']>[0];
  const attempt = call.newAttempt(permit, () => 0);
  attempt.head({}, true);
  attempt.leave();
  const megabytes = Buffer.alloc(64 * 1024 * 1024);
  t.ok(attempt.bytes(megabytes) && attempt.bytes(megabytes));
  t.throws(() => attempt.bytes(Buffer.alloc(1)), { code: 'UPSTREAM_MALFORMED', mayHaveRun: true });
});

t.test('usage that the provider does not report is estimated, also of an answer that broke off', async (t) => {
  const { core, facts } = coreWith(async ({ sink }) => {
    sink.head({}, true);
    sink.bytes(Buffer.from(`data: {"delta":"${'word '.repeat(200)}"}\n\n`));
    throw new BlockhouseError('UPSTREAM_MALFORMED', 'Cut.', { mayHaveRun: true });
  });
  const opened = { opened: true, opensInMs: 0 };
  await t.rejects(core.forward('stepped', 'm', REQUEST, target(opened)), { code: 'UPSTREAM_MALFORMED' });
  t.match(facts, [{ kind: 'forward', code: 'UPSTREAM_MALFORMED', attempts: 1, usage: { inputTokens: 4, outputTokens: 250, estimated: true } }]);
});

t.test('a failed attempt is repeated while nothing has reached the client', async (t) => {
  const fails = async (): Promise<void> => {
    throw new BlockhouseError('UPSTREAM_FAILED', 'Overloaded.');
  };
  const { core, facts, attempts } = coreWith(fails, async ({ sink }) => {
    sink.head({}, false);
    sink.bytes(Buffer.from('whole'));
  });
  const to = target();
  await core.forward('stepped', 'm', REQUEST, to);
  t.same(to.got, ['whole', 'whole']);
  t.equal(attempts(), 2);
  t.match(facts, [{ attempts: 2, code: undefined }]);
});

t.test('what comes after the caller has left reaches nobody', async (t) => {
  const abort = new AbortController();
  const { core, facts } = coreWith(async ({ sink, signal }) => {
    sink.head({}, true);
    abort.abort();
    signal.throwIfAborted();
    sink.bytes(Buffer.from('late'));
  });
  const to = target();
  await t.rejects(core.forward('stepped', 'm', REQUEST, to, { signal: abort.signal }), { code: 'CANCELLED' });
  t.same(to.got, ['stream']);
  t.match(facts, [{ code: 'CANCELLED' }]);
});

t.test('a request is refused at once without a credential, and after the end', async (t) => {
  const core = createCore({ adapters: [steppedAdapter([], { forward: async () => undefined })], env: {} });
  await t.rejects(core.forward('stepped', 'm', REQUEST, target()), { code: 'ADAPTER_NOT_CONFIGURED' });
  await core.close();
  await t.rejects(core.forward('stepped', 'm', REQUEST, target()), { code: 'SHUTTING_DOWN' });
});

t.test('of a long request, what it was parsed to is not kept while the call waits and runs; what is asked of it stays known', (t) => {
  const callOf = (fields: Readonly<Record<string, unknown>>) => {
    const request = { ...REQUEST, body: Buffer.from(JSON.stringify(fields)), fields };
    const parts = { adapter: steppedAdapter([]), model: 'm', signal: new AbortController().signal, requestId: 'r', options: {} };
    return { request, call: new Forward({ ...parts, request, target: target() }) };
  };
  const fields = { stream: true, messages: [{ role: 'user', content: 'hi' }], x: Array.from({ length: 30_000 }, () => ({})), stop: null };
  const long = callOf(fields);
  t.same(long.request.fields, { stream: true, messages: {}, x: {}, stop: null });
  t.equal(long.request.body.length, JSON.stringify(fields).length);
  const short = callOf({ ...fields, x: [] });
  t.same(short.request.fields, { ...fields, x: [] }, 'a short one stays as it is');
  t.equal(long.call.conversation(), short.call.conversation());
  t.equal(long.call.inputTokens(), Math.ceil(long.request.body.length / 4));
  t.end();
});

t.test('an hour in the cache is found however it is escaped', (t) => {
  const asks = (text: string): boolean => {
    const parts = { adapter: steppedAdapter([]), model: 'm', signal: new AbortController().signal, requestId: 'r', options: {} };
    return new Forward({ ...parts, request: { ...REQUEST, body: Buffer.from(`{"ttl":${text}}`) }, target: target() }).asksForHourInCache();
  };
  for (const text of ['"1h"', '"\\u0031h"', '"1\\u0068"', '"\\u0031\\u0068"']) t.ok(asks(text), text);
  for (const text of ['"5m"', '"11h"', '"\\u0031 h"']) t.notOk(asks(text), text);
  t.end();
});
