// One call of a model on behalf of a block, and what it costs.
import t from 'tap';
import { judgeFailure } from '../../../../core/block/actor/backoff.ts';
import { CallRefused } from '../../../../core/block/actor/call-refused.ts';
import { AnswerText } from '../../../../core/block/reply/answer-text.ts';
import { mayAskFallback } from '../../../../core/block/reply/attempt.ts';
import type { BillingOptions } from '../../../../core/block/reply/billing.ts';
import { type ModelCall, ModelCallFailure, ModelCalls } from '../../../../core/block/reply/call-model.ts';
import type { Candidate } from '../../../../core/block/status/candidates.ts';
import { nextTurn } from '../../../../core/base/next-turn.ts';
import { createBus } from '../../../../core/bus.ts';
import { BlockhouseError } from '../../../../core/errors.ts';
import { Gateway } from '../../../../core/gateway/gateway.ts';
import { Prices } from '../../../../core/gateway/pricing.ts';
import type { Adapter } from '../../../../core/ports.ts';
import type { LedgerLine, LedgerStore } from '../../../../core/store/port.ts';
import { gate, HELLO, passingFault, type Step, steppedAdapter, untilAborted } from '../../../support/stepped-adapter.ts';
import { until } from '../../../support/until.ts';

const CANDIDATE: Candidate = { provider: 'stepped', model: 'gpt-4o', config: {} };
const USAGE = { inputTokens: 1000, outputTokens: 100, totalTokens: 1100 };

interface Options {
  readonly concurrency?: number;
  readonly adapter?: Partial<Adapter>;
  append?(line: LedgerLine): Promise<void>;
  release?: LedgerStore['release'];
  ready?(): Promise<void>;
  halted?(): boolean;
  isSure?(): boolean;
  assertForKey?: BillingOptions['assertForKey'];
  countForKey?: NonNullable<BillingOptions['countForKey']>;
}

function callsOf(
  steps: readonly Step[],
  {
    concurrency = 16,
    adapter = {},
    append,
    release = () => undefined,
    ready = async () => undefined,
    halted = () => false,
    isSure = () => true,
    assertForKey = async () => undefined,
    countForKey = async () => undefined,
  }: Options = {},
) {
  const other = steppedAdapter([HELLO], { id: 'other', missingCredential: () => undefined });
  const stepped = steppedAdapter(steps, { pricesAs: 'openai', missingCredential: () => undefined, ...adapter });
  const bus = createBus();
  const lines: LedgerLine[] = [];
  const billed: unknown[] = [];
  bus.on('call.billed', (fact) => billed.push(fact));
  const ledger = { append: append ?? (async (line: LedgerLine) => void lines.push(line)), release, ready } as unknown as LedgerStore;
  const gateway = new Gateway({
    adapters: [stepped, other],
    credentials: undefined,
    env: {},
    bus,
    timeouts: {},
    queue: { concurrency: 64, waiting: 64 },
    allowedOrigins: new Set(['http://127.0.0.1:9']),
    retries: 2,
    now: () => performance.now(),
    random: () => 0,
    newRequestId: () => 'req_1',
  });
  let now = 1_800_000_000_000;
  const clock = (): number => (now += 10);
  const state = () => ({ halted: halted(), since: null, reason: null });
  return {
    calls: new ModelCalls({ gateway, ledger, prices: new Prices(), bus, now: clock, halted: state, isSure, assertForKey, countForKey, concurrency }),
    stepped,
    lines,
    billed,
  };
}

function callOf(fields: Partial<ModelCall> = {}): ModelCall {
  const messages = [{ role: 'user', content: 'a question' }] as const;
  return { block: 'ada', candidate: CANDIDATE, messages: [...messages], purpose: 'chat', messageId: 'm1', signal: new AbortController().signal, ...fields };
}

async function failureOf(promise: Promise<unknown>): Promise<ModelCallFailure> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ModelCallFailure)) throw new Error(`it did not fail as it should: ${error}`);
  return error;
}

t.test('an answer has its text and a bill that is already in the ledger', async (t) => {
  const { calls, lines, billed } = callsOf([HELLO]);
  const texts: string[] = [];
  const { message, stopReason, bill } = await calls.make(callOf({ onText: (text) => texts.push(text) }));
  t.strictSame(message, { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] });
  t.equal(texts.join(''), 'Hello');
  t.equal(stopReason, 'end_turn');
  t.match(bill, { provider: 'stepped', model: 'gpt-4o', usage: { inputTokens: 3, outputTokens: 2 }, failed: false, latencyMs: Number, ttftMs: Number });
  t.ok((bill.costUsd ?? 0) > 0);
  t.match(lines, [{ block: 'ada', purpose: 'chat', messageId: 'm1', costUsd: bill.costUsd }]);
  t.notOk('failed' in (lines[0] ?? {}));
  t.match(billed, [{ block: 'ada', purpose: 'chat', costUsd: bill.costUsd }]);
});

t.test('an answer is a message that a later prompt can have as it is: its text, its calls and the state of its provider', async (t) => {
  const toolCall = { id: 'c1', name: 'look', arguments: { at: 'x' } };
  const answer: Step = async (call) => {
    call.sink.emit([
      { type: 'reasoning', text: 'hm' },
      { type: 'toolCall', toolCall },
      { type: 'providerMetadata', providerMetadata: { state: 1 } },
      { type: 'stop', stopReason: 'end_turn' },
    ]);
  };
  const { calls, stepped } = callsOf([answer]);
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'look' }] }] as const;
  const { message, stopReason } = await calls.make(callOf({ messages }));
  t.strictSame(message, { role: 'assistant', content: [], toolCalls: [toolCall], providerMetadata: { state: 1 } });
  t.equal(stopReason, 'tool_use');
  const result = { role: 'tool', toolResults: [{ toolCallId: 'c1', content: 'seen' }] } as const;
  await calls.make(callOf({ messages: [...messages, message, result] }));
  t.match(stepped.calls[1]?.prompt.turns, [
    { role: 'user', text: 'look' },
    { role: 'assistant', text: '', toolCalls: [toolCall], providerMetadata: { state: 1 } },
    { role: 'tool', results: [{ toolName: 'look', content: 'seen' }] },
  ]);
});

t.test('one call is one attempt', async (t) => {
  const { calls, stepped } = callsOf([passingFault(), HELLO]);
  const { failure, bill } = await failureOf(calls.make(callOf()));
  t.match(failure, { code: 'UPSTREAM_FAILED' });
  t.equal(bill, undefined);
  t.equal(stepped.calls.length, 1);
});

t.test('a failed call with reported usage has a bill', async (t) => {
  const { calls, lines } = callsOf([new BlockhouseError('UPSTREAM_MALFORMED', 'cut', { usage: USAGE })]);
  const { bill } = await failureOf(calls.make(callOf()));
  t.match(bill, { usage: USAGE, failed: true, ttftMs: null });
  t.match(lines, [{ failed: true, usage: USAGE }]);
});

t.test('an aborted call is billed with an estimate of what was received', async (t) => {
  const { calls, lines } = callsOf([
    async (call) => {
      call.sink.emit([{ type: 'text', text: 'Half an answer' }]);
      await untilAborted(call);
    },
  ]);
  const controller = new AbortController();
  const { failure, bill } = await failureOf(calls.make(callOf({ signal: controller.signal, onText: () => controller.abort() })));
  t.equal(failure.code, 'CANCELLED');
  t.match(bill, { usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7, estimated: true }, failed: true });
  t.ok((bill?.costUsd ?? 0) > 0);
  t.equal(lines.length, 1);
});

t.test('a failed call is billed with an estimate only if the provider may have worked on it', async (t) => {
  for (const [mayHaveRun, text, expected] of [
    [true, '', { inputTokens: 3, outputTokens: 0, totalTokens: 3, estimated: true }],
    [true, 'Half an answer', { inputTokens: 3, outputTokens: 4, totalTokens: 7, estimated: true }],
    [false, '', undefined],
  ] as const) {
    const broken: Step = async (call) => {
      if (text !== '') call.sink.emit([{ type: 'text', text }]);
      throw new BlockhouseError('UPSTREAM_UNREACHABLE', 'broken', { mayHaveRun });
    };
    const { calls, lines } = callsOf([broken]);
    const { bill } = await failureOf(calls.make(callOf()));
    t.strictSame(bill?.usage, expected);
    t.equal(lines.length, expected === undefined ? 0 : 1);
    if (expected !== undefined) t.match(lines, [{ failed: true, usage: expected, costUsd: Number }]);
  }
});

t.test('a call that is aborted before its request was sent has no bill', async (t) => {
  const controller = new AbortController();
  const connecting: Step = async ({ signal }) => {
    controller.abort();
    throw new BlockhouseError('CANCELLED', 'The client closed the connection or aborted the request.', { cause: signal.reason });
  };
  const { calls, lines } = callsOf([connecting]);
  const { failure, bill } = await failureOf(calls.make(callOf({ signal: controller.signal })));
  t.match(failure, { code: 'CANCELLED', mayHaveRun: false });
  t.equal(bill, undefined);
  t.equal(lines.length, 0);
});

t.test('an answer that does not fit is cut, and the part that fits is kept', async (t) => {
  const text = new AnswerText(10);
  const { calls, lines } = callsOf([
    async (call) => {
      for (let n = 0; n < 4; n += 1) call.sink.emit([{ type: 'text', text: 'four' }]);
      await untilAborted(call);
    },
  ]);
  const shown: string[] = [];
  const { message, stopReason, isCut, bill } = await calls.make(callOf({ text, onText: (fragment) => shown.push(fragment) }));
  t.strictSame(message.content, [{ type: 'text', text: 'fourfourfo' }]);
  t.strictSame(shown, ['four', 'four', 'fo']);
  t.equal(stopReason, 'max_tokens');
  t.ok(isCut);
  t.match(bill, { usage: { inputTokens: 3, outputTokens: 4, estimated: true }, failed: false });
  t.match(lines, [{ usage: bill.usage }]);
});

t.test('an answer that is cut at its end has the usage that the provider reported', async (t) => {
  const { calls } = callsOf([HELLO]);
  t.match(await calls.make(callOf({ text: new AnswerText(4) })), {
    message: { content: [{ text: 'Hell' }] },
    isCut: true,
    stopReason: 'max_tokens',
    bill: { usage: { inputTokens: 3, outputTokens: 2 } },
  });
  t.match(await calls.make(callOf({ text: new AnswerText(5) })), { message: { content: [{ text: 'Hello' }] }, isCut: false, stopReason: 'end_turn' });
});

t.test('calls beyond the limit wait for their turn, and one that is aborted while it waits is never made', async (t) => {
  const held = gate();
  const wait: Step = async (call) => {
    await held.opened;
    call.sink.emit(HELLO);
  };
  const { calls, stepped } = callsOf([wait], { concurrency: 2 });
  const controller = new AbortController();
  const running = [calls.make(callOf()), calls.make(callOf())];
  const leaving = failureOf(calls.make(callOf({ signal: controller.signal })));
  const last = calls.make(callOf());
  await until('two are made', () => stepped.calls.length === 2);
  controller.abort();
  t.match(await leaving, { failure: { code: 'CANCELLED' }, bill: undefined });
  held.open();
  await Promise.all([...running, last]);
  t.equal(stepped.calls.length, 3);
  t.match(await failureOf(calls.make(callOf({ signal: AbortSignal.abort() }))), { failure: { code: 'CANCELLED' } });
  t.equal(stepped.calls.length, 3);
});

t.test('a provider whose answers have no end does not keep the blocks of others from theirs', async (t) => {
  const held = gate();
  const wait: Step = async (call) => {
    await held.opened;
    call.sink.emit(HELLO);
  };
  const { calls, stepped } = callsOf([wait], { concurrency: 8 });
  const endless = Array.from({ length: 20 }, () => calls.make(callOf()));
  await until('its calls are made', () => stepped.calls.length >= 7);
  for (let count = 0; count < 3; count += 1)
    t.match(await calls.make(callOf({ candidate: { provider: 'other', model: 'm', config: {} } })), { message: { content: [{ text: 'Hello' }] } });
  t.equal(stepped.calls.length, 7, 'the last place is kept for others');
  held.open();
  await Promise.all(endless);
  await calls.ended();
  t.equal(stepped.calls.length, 20);
});

t.test('an application whose answers have no end does not keep the blocks that others ask from theirs', async (t) => {
  const held = gate();
  const wait: Step = async (call) => {
    if (call.model === 'long') await held.opened;
    call.sink.emit(HELLO);
  };
  const { calls, stepped } = callsOf([wait], { concurrency: 12 });
  const leaving = new AbortController();
  const long = { candidate: { ...CANDIDATE, model: 'long' }, key: 'app' };
  const endless = Array.from({ length: 20 }, (_, index) => calls.make(callOf({ ...long, block: `b${index}` })));
  const left = failureOf(calls.make(callOf({ ...long, signal: leaving.signal })));
  await until('its calls are made', () => stepped.calls.length >= 8);
  for (const key of ['other', undefined, 'other']) t.match(await calls.make(callOf({ key })), { message: { content: [{ text: 'Hello' }] } });
  leaving.abort();
  t.match(await left, { failure: { code: 'CANCELLED' } });
  held.open();
  await Promise.all(endless);
  await calls.ended();
  t.equal(stepped.calls.length, 23, 'all have their turn');
});

t.test('the kill switch is checked when a call has its turn, and waiting calls are not made', async (t) => {
  const held = gate();
  let isHalted = false;
  const wait: Step = async (call) => {
    await held.opened;
    call.sink.emit(HELLO);
  };
  const { calls, stepped, lines } = callsOf([wait], { concurrency: 1, halted: () => isHalted });
  const running = calls.make(callOf());
  const reserved = gate();
  const reserve = () => reserved.opened.then(() => undefined);
  const waiting = [callOf(), callOf({ reserve })].map((call) => calls.make(call).catch((error: unknown) => error));
  await until('one is made', () => stepped.calls.length === 1);
  isHalted = true;
  held.open();
  reserved.open();
  await running;
  for (const refusal of await Promise.all(waiting)) {
    t.type(refusal, CallRefused);
    t.match(refusal, { pause: { kind: 'pause', until: null, actor: 'user', reason: { code: 'HALTED' } } });
  }
  t.equal(stepped.calls.length, 1);
  t.equal(lines.length, 1, 'one that is under way goes on');
});

t.test('a call is made after its reservation, which is released at its end', async (t) => {
  const released: unknown[] = [];
  const { calls, stepped, lines } = callsOf([passingFault(), HELLO], { release: (call) => void released.push(call) });
  const reserved: unknown[] = [];
  const reserve = async (id: string): Promise<void> => void reserved.push({ block: 'ada', id });
  await failureOf(calls.make(callOf({ reserve })));
  await calls.make(callOf({ reserve }));
  t.strictSame(released, reserved);
  t.equal(new Set(reserved.map((call) => (call as LedgerLine).id)).size, 2);
  t.match(lines, [reserved[1]], 'the line has the id of the reservation');
  const refused = new CallRefused({ kind: 'pause', until: 1, actor: 'budget', reason: { code: 'BUDGET_REACHED', message: 'no', fix: null } });
  t.equal(await calls.make(callOf({ reserve: () => Promise.reject(refused) })).catch((error: unknown) => error), refused);
  t.equal(stepped.calls.length, 2);
});

t.test('a call that is aborted during its reservation is not made, and its reservation is released after it', async (t) => {
  const order: string[] = [];
  const { calls, stepped } = callsOf([HELLO], { release: () => void order.push('released') });
  const controller = new AbortController();
  const reserved = gate();
  const reserve = async (): Promise<void> => {
    controller.abort();
    await reserved.opened;
    order.push('reserved');
  };
  const left = failureOf(calls.make(callOf({ signal: controller.signal, reserve })));
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate); // the gateway gives it up
  reserved.open();
  t.match(await left, { failure: { code: 'CANCELLED' }, bill: undefined });
  t.strictSame(order, ['reserved', 'released']);
  t.equal(stepped.calls.length, 0);
});

t.test("no call is made while a bill can't be written", async (t) => {
  const { calls, stepped } = callsOf([HELLO], { ready: () => Promise.reject(Object.assign(new Error('no'), { code: 'EISDIR' })) });
  await t.rejects(calls.make(callOf()), { code: 'STORAGE_FAILED', message: /EISDIR/ });
  t.equal(stepped.calls.length, 0);
});

t.test('no call is made while the database is away, or may have given the block to another server, and the message waits', async (t) => {
  const away = new BlockhouseError('STORE_UNREACHABLE', 'The database does not answer.');
  const cases: (Parameters<typeof callsOf>[1] & { readonly reserve?: () => Promise<undefined> })[] = [
    { isSure: () => false },
    { ready: () => Promise.reject(away) },
    { reserve: () => Promise.reject(away) },
  ];
  for (const { reserve, ...options } of cases) {
    const { calls, stepped, lines } = callsOf([HELLO], options);
    const refusal: unknown = await calls.make(callOf({ ...(reserve && { reserve }) })).catch((error: unknown) => error);
    t.type(refusal, CallRefused);
    t.match(refusal, { pause: { kind: 'wait', until: Number, reason: { code: 'STORE_UNREACHABLE' } } });
    t.equal(stepped.calls.length + lines.length, 0);
  }
});

t.test('ended() waits for all calls and their bills', async (t) => {
  const written = gate();
  const { calls, stepped } = callsOf([HELLO], { append: () => written.opened });
  await calls.ended();
  let isOver = false;
  const made = calls.make(callOf());
  const ended = calls.ended().then(() => {
    isOver = true;
  });
  await until('it is made', () => stepped.calls.length === 1);
  t.notOk(isOver);
  written.open();
  await Promise.all([made, ended]);
});

t.test("an answer whose bill can't be written is not returned, and the call is not billed twice", async (t) => {
  for (const [error, code] of [
    [Object.assign(new Error('no space'), { code: 'EIO' }), 'STORAGE_FAILED'],
    [new Error('the ledger is closed'), 'STORAGE_FAILED'],
    [new BlockhouseError('STORAGE_FULL', 'full'), 'STORAGE_FULL'],
  ] as const) {
    let asked = 0;
    const { calls, billed } = callsOf([HELLO], {
      append: () => {
        asked += 1;
        return Promise.reject(error);
      },
    });
    await t.rejects(calls.make(callOf()), { name: 'BlockhouseError', code }, 'no failure of the model');
    t.equal(asked, 1);
    t.strictSame(billed, []);
  }
});

t.test('a faulty request fails its call, and a defect is reported as a defect', async (t) => {
  const { calls } = callsOf([new TypeError('x')]);
  t.match(await failureOf(calls.make(callOf({ candidate: { ...CANDIDATE, provider: 'nope' } }))), { failure: { code: 'INVALID_REQUEST' } });
  t.match(await failureOf(calls.make(callOf())), { failure: { code: 'INTERNAL_ERROR' }, message: String });
});

t.test('a block whose calls fail repeatedly pauses the provider only for itself', async (t) => {
  const reset: Step = async (call) => {
    const turn = call.prompt.turns.at(-1);
    if (turn?.role === 'user' && turn.text.startsWith('poison')) throw new BlockhouseError('UPSTREAM_UNREACHABLE', 'reset', { mayHaveRun: true });
    call.sink.emit(HELLO);
  };
  const { calls, stepped } = callsOf([reset]);
  const ask = (block: string, content: string) => calls.make(callOf({ block, messages: [{ role: 'user', content }] }));
  for (let n = 0; n < 20; n += 1) t.match((await failureOf(ask('ada', `poison ${n}`))).failure, { message: 'reset', mayHaveRun: true });
  t.match((await failureOf(ask('ada', 'hi'))).failure, { code: 'UPSTREAM_UNREACHABLE', message: /calls to it are paused/, mayHaveRun: false });
  t.equal(stepped.calls.length, 20);
  t.match(await ask('bob', 'hi'), { message: { content: [{ text: 'Hello' }] } });
});

t.test('a call for a message of a key that its caps would not count is not made, and fails as a message does, so that a fallback may answer', async (t) => {
  const asked: unknown[] = [];
  const assertForKey: BillingOptions['assertForKey'] = async (call) => {
    asked.push(call);
    if (call.model !== 'gpt-4o') throw new BlockhouseError('PRICE_UNKNOWN', 'no price');
  };
  const { calls, stepped, lines } = callsOf([HELLO], { assertForKey });
  const unpriced = { ...CANDIDATE, model: 'other' };
  const { failure, bill } = await failureOf(calls.make(callOf({ candidate: unpriced, key: 'app' })));
  t.match(failure, { code: 'PRICE_UNKNOWN', mayHaveRun: false });
  t.equal(judgeFailure(failure), 'message');
  t.equal(mayAskFallback(failure), true);
  t.same([bill, stepped.calls.length, lines.length], [undefined, 0, 0]);
  await calls.make(callOf({ key: 'app' }));
  await calls.make(callOf({ candidate: unpriced }));
  t.match(asked, [
    { key: 'app', provider: 'stepped', model: 'other', pricedAs: { provider: 'openai', model: 'other' }, isFirst: true },
    { key: 'app', model: 'gpt-4o', isFirst: true },
  ]);
  t.equal(asked.length, 2, 'a message without a key has no caps of one');
});

t.test('an answer is given once it counts for the key of its message', async (t) => {
  let counted = 0;
  const countForKey = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    counted += 1;
  };
  const { calls } = callsOf([HELLO], { countForKey });
  await calls.make(callOf({ key: 'app' }));
  t.equal(counted, 1);
});

t.test('a key that may spend no more fails its message alone, and a database that is away lets it wait', async (t) => {
  const asked: boolean[] = [];
  let code: 'KEY_CAP_REACHED' | 'STORE_UNREACHABLE' = 'KEY_CAP_REACHED';
  const assertForKey: BillingOptions['assertForKey'] = async ({ isFirst }) => {
    asked.push(isFirst);
    if (isFirst) throw new BlockhouseError(code, 'no');
  };
  const { calls, stepped } = callsOf([HELLO], { assertForKey });
  const { failure } = await failureOf(calls.make(callOf({ key: 'app' })));
  t.same([failure.code, judgeFailure(failure), mayAskFallback(failure)], ['KEY_CAP_REACHED', 'message', false]);
  t.equal((await failureOf(calls.make(callOf({ key: 'app', step: 1 })))).failure.code, 'KEY_CAP_REACHED');
  await calls.make(callOf({ key: 'app', step: 2 }));
  code = 'STORE_UNREACHABLE';
  const waits: unknown = await calls.make(callOf({ key: 'app' })).catch((error: unknown) => error);
  t.ok(waits instanceof CallRefused);
  t.match(waits, { pause: { kind: 'wait' } });
  t.same([asked, stepped.calls.length], [[true, true, false, true], 1]);
});
