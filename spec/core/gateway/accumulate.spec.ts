import t from 'tap';
import { Accumulator, addUsage, sumUsage } from '../../../core/gateway/accumulate.ts';
import { type Prompt, toPrompt } from '../../../core/gateway/prompt.ts';
import type { ChatEvent } from '../../../core/ports.ts';
import { STOP_REASONS } from '../../../core/schemas/chat.ts';

const PROMPT: Prompt = toPrompt({ adapter: 'a', model: 'm', messages: [{ role: 'user', content: 'x'.repeat(8) }] });
const STOP: ChatEvent = { type: 'stop', stopReason: 'end_turn' };
const call = (id: string, name = 'f'): ChatEvent => ({ type: 'toolCall', toolCall: { id, name, arguments: { a: 1 } } });
const usage = (reported: Record<string, number | undefined>): ChatEvent => ({ type: 'usage', usage: reported });

function fold(events: readonly ChatEvent[], prompt = PROMPT) {
  const answer = new Accumulator();
  const text = answer.add(events);
  return { text, done: answer.finish(prompt) };
}

t.test('text comes out in order, without empty fragments', async (t) => {
  const answer = new Accumulator();
  t.same(answer.add([{ type: 'text', text: 'a' }, call('1'), { type: 'text', text: '' }, { type: 'text', text: ' b' }]), ['a', ' b']);
  t.same(answer.add([STOP]), []);
});

t.test('a complete tool call ends in tool_use, whatever the provider said', async (t) => {
  for (const stopReason of STOP_REASONS) {
    t.equal(fold([call('1'), { type: 'stop', stopReason }]).done.stopReason, 'tool_use', stopReason);
    t.equal(fold([{ type: 'stop', stopReason }]).done.stopReason, stopReason);
  }
});

t.test('the stop sequence is in the answer that it ended, and in no other', async (t) => {
  const stop: ChatEvent = { type: 'stop', stopReason: 'stop_sequence', stopSequence: 'END' };
  t.equal(fold([stop]).done.stopSequence, 'END');
  t.notOk('stopSequence' in fold([call('1'), stop]).done);
});

t.test('the stop sequence that a provider does not name can only be the one that was asked for', async (t) => {
  const asking = (stop: string[]): Prompt => toPrompt({ adapter: 'a', model: 'm', messages: [{ role: 'user', content: 'x' }], config: { stop } });
  const unnamed: ChatEvent = { type: 'stop', stopReason: 'stop_sequence' };
  t.equal(fold([unnamed], asking(['END'])).done.stopSequence, 'END');
  for (const prompt of [PROMPT, asking(['END', 'STOP'])]) t.notOk('stopSequence' in fold([unnamed], prompt).done);
  t.notOk('stopSequence' in fold([STOP], asking(['END'])).done);
});

t.test('every tool call has an id of its own', async (t) => {
  const ids = fold([call(''), call('x'), call('x'), call(''), call('y'), STOP]).done.toolCalls?.map(({ id }) => id) ?? [];
  t.match(ids, [/^call_[0-9a-f]{24}$/, 'x', /^call_[0-9a-f]{24}$/, /^call_/, 'y']);
  t.equal(new Set(ids).size, 5);
});

t.test('a tool call is handed on whole, with its provider state', async (t) => {
  const toolCall = { id: '1', name: 'f', arguments: { a: [1, { b: null }] }, providerMetadata: { signature: 's' } };
  t.same(fold([{ type: 'toolCall', toolCall }, STOP]).done.toolCalls, [toolCall]);
});

t.test('later usage overwrites earlier usage field by field and never adds up', async (t) => {
  const { done } = fold([
    usage({ inputTokens: 10, outputTokens: 1, cacheReadTokens: 4 }),
    usage({ outputTokens: 5, inputTokens: undefined }),
    STOP,
    usage({ outputTokens: 7, reasoningTokens: 2 }),
  ]);
  t.strictSame(done.usage, { inputTokens: 10, outputTokens: 7, totalTokens: 17, cacheReadTokens: 4, reasoningTokens: 2 });
});

t.test('what the provider did not tell is absent, and a zero that it told is a zero', async (t) => {
  t.strictSame(fold([usage({ inputTokens: 0, outputTokens: 0, cacheWriteTokens: 0, cacheReadTokens: undefined }), STOP]).done.usage, {
    inputTokens: 0,
    outputTokens: 0,
    totalTokens: 0,
    cacheWriteTokens: 0,
  });
});

t.test('a provider that reports nothing for an answer with text has not counted', async (t) => {
  const none = usage({ inputTokens: 0, outputTokens: 0 });
  const text: ChatEvent = { type: 'text', text: 'x'.repeat(9) };
  for (const events of [
    [none, text, STOP],
    [text, STOP, none],
  ])
    t.strictSame(fold(events).done.usage, { inputTokens: 2, outputTokens: 3, totalTokens: 5, estimated: true });
  t.strictSame(fold([text, usage({ inputTokens: 9, outputTokens: 0 }), STOP]).done.usage, {
    inputTokens: 9,
    outputTokens: 3,
    totalTokens: 12,
    estimated: true,
  });
  const broken = new Accumulator();
  broken.add([none, text]);
  t.strictSame(broken.usageSoFar(PROMPT), { inputTokens: 2, outputTokens: 3, totalTokens: 5, estimated: true });
});

t.test('a stream whose first reports have 0 tokens, and whose last one no count of the input, has not counted the input', async (t) => {
  const none = usage({ inputTokens: 0, outputTokens: 0 });
  const text: ChatEvent = { type: 'text', text: 'x'.repeat(9) };
  const late = usage({ inputTokens: undefined, outputTokens: 5 });
  t.strictSame(fold([none, text, late, STOP]).done.usage, { inputTokens: 2, outputTokens: 5, totalTokens: 7, estimated: true });
  const told = usage({ inputTokens: 0, outputTokens: 500 }); // the output has all of it
  t.strictSame(fold([none, text, told, STOP]).done.usage, { inputTokens: 0, outputTokens: 500, totalTokens: 500 });
  t.strictSame(fold([none, text, late, usage({ inputTokens: 9, outputTokens: 5 }), STOP]).done.usage, { inputTokens: 9, outputTokens: 5, totalTokens: 14 });
});

t.test('usage that was not reported is guessed from the text and marked', async (t) => {
  t.strictSame(fold([{ type: 'text', text: 'x'.repeat(9) }, STOP]).done.usage, { inputTokens: 2, outputTokens: 3, totalTokens: 5, estimated: true });
  t.strictSame(fold([usage({ inputTokens: 100 }), STOP]).done.usage, { inputTokens: 100, outputTokens: 0, totalTokens: 100, estimated: true });
  t.strictSame(fold([usage({ outputTokens: 7 }), STOP]).done.usage, { inputTokens: 2, outputTokens: 7, totalTokens: 9, estimated: true });
});

t.test('a guess counts every script as a window does, so that a call that broke off is billed for what it was allowed', async (t) => {
  const text = '漢字仮名'.repeat(750);
  const asked = toPrompt({ adapter: 'a', model: 'm', messages: [{ role: 'user', content: text }] });
  const answer = new Accumulator();
  answer.add([{ type: 'text', text }]);
  t.strictSame(answer.usageSoFar(asked), { inputTokens: 2000, outputTokens: 2000, totalTokens: 4000, estimated: true });
});

t.test('a guess counts the reasoning, and the pieces of a call once, whether the call is finished or not', async (t) => {
  const start = { type: 'toolCallStart', index: 0, id: '1', name: 'f'.repeat(8) } as const;
  const piece = { type: 'toolCallDelta', index: 0, text: 'x'.repeat(400) } as const;
  const whole = { type: 'toolCall', toolCall: { id: '1', name: 'f'.repeat(8), arguments: { x: 'x'.repeat(393) } } } as const;
  const output = (...events: ChatEvent[]): number => fold([...events, STOP]).done.usage.outputTokens;
  t.equal(output({ type: 'reasoning', text: 'x'.repeat(400) }), 100);
  t.equal(output(start, piece), 102, 'unfinished');
  t.equal(output(start, piece, { ...whole, index: 0 }), 102, 'finished');
  t.equal(output(whole), 102 + 1, 'never in pieces');
  const broken = new Accumulator();
  broken.addPieces([usage({ inputTokens: 5, outputTokens: 1 }), { type: 'reasoning', text: 'x'.repeat(40) }, start, piece]);
  t.strictSame(broken.usageSoFar(PROMPT), { inputTokens: 5, outputTokens: 1 + 112, totalTokens: 6 + 112, estimated: true }, 'after the last report');
});

t.test('pieces come in their order, once each, with ids that are unique; what is no part of the answer is none', async (t) => {
  const answer = new Accumulator();
  const reasoning = { type: 'reasoning', text: 'hm' } as const;
  const text = { type: 'text', text: 'a' } as const;
  const call = { type: 'toolCall', toolCall: { id: 'c', name: 'f', arguments: {} } } as const;
  const pieces = answer.addPieces([
    usage({ inputTokens: 1 }),
    { type: 'reasoning', text: '' },
    reasoning,
    { type: 'text', text: '' },
    text,
    call,
    { type: 'toolCallStart', index: 0, id: 'c', name: 'g' },
    { ...call, index: 0 },
    { type: 'warning', warning: { field: 'x', message: 'y' } },
    STOP,
  ]);
  t.strictSame(pieces.slice(0, 3), [reasoning, text, call]);
  const [start, whole] = pieces.slice(3);
  t.match(start, { type: 'toolCallStart', id: /^call_/, name: 'g' });
  t.equal(whole?.type === 'toolCall' && whole.toolCall.id, start?.type === 'toolCallStart' && start.id);
  t.equal(pieces.length, 5);
  const deep = JSON.parse(`${'{"a":'.repeat(400)}1${'}'.repeat(400)}`) as Record<string, unknown>;
  t.strictSame(new Accumulator().addPieces([{ ...call, toolCall: { ...call.toolCall, arguments: deep } }]), [], 'a call that nests too deep is not shown');
});

t.test('a guess counts the system text, tools, results and tool calls too', async (t) => {
  const full = toPrompt({
    adapter: 'a',
    model: 'm',
    messages: [
      { role: 'system', content: 's'.repeat(400) },
      { role: 'user', content: 'u' },
      { role: 'assistant', toolCalls: [{ id: '1', name: 'f', arguments: {} }] },
      { role: 'tool', toolResults: [{ toolCallId: '1', content: 'r'.repeat(400) }] },
    ],
    tools: [{ name: 'f', description: 'd'.repeat(400) }],
  });
  const { done } = fold([call('1'), STOP], full);
  t.ok(done.usage.inputTokens >= 300 && done.usage.inputTokens < 330, String(done.usage.inputTokens));
  t.ok(done.usage.outputTokens > 0);
});

t.test('provider state is merged by key, and a __proto__ key stays a key', async (t) => {
  const { done } = fold([
    { type: 'providerMetadata', providerMetadata: { a: 1, b: 1 } },
    { type: 'providerMetadata', providerMetadata: JSON.parse('{"b":2,"__proto__":{"polluted":1}}') },
    STOP,
  ]);
  t.match(done.providerMetadata, { a: 1, b: 2 });
  t.equal((done.providerMetadata as { polluted?: unknown }).polluted, undefined);
});

t.test("warnings of the prompt come first, then the adapter's", async (t) => {
  const warned: Prompt = { ...PROMPT, warnings: [{ field: 'a', message: '1' }] };
  t.same(fold([{ type: 'warning', warning: { field: 'b', message: '2' } }, STOP], warned).done.warnings, [
    { field: 'a', message: '1' },
    { field: 'b', message: '2' },
  ]);
});

t.test('what there was none of is absent', async (t) => {
  t.same(Object.keys(fold([usage({ inputTokens: 1, outputTokens: 1 }), STOP]).done), ['usage', 'stopReason']);
});

t.test('an answer without a stop is a defect of the adapter, not a short answer', async (t) => {
  const answer = new Accumulator();
  answer.add([{ type: 'text', text: 'half' }]);
  t.throws(() => answer.finish(PROMPT), { code: 'INTERNAL_ERROR' });
});

/** `levels` objects, one in the other. */
function nested(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}

const NESTED: readonly [where: string, event: (levels: number) => ChatEvent][] = [
  ['the arguments of a tool call', (levels) => ({ type: 'toolCall', toolCall: { id: '1', name: 'f', arguments: nested(levels) } })],
  [
    'the providerMetadata of a tool call',
    (levels) => ({ type: 'toolCall', toolCall: { id: '1', name: 'f', arguments: {}, providerMetadata: nested(levels) } }),
  ],
  ['providerMetadata', (levels) => ({ type: 'providerMetadata', providerMetadata: nested(levels) })],
];

t.test('an answer nests as deep as a request that brings it back may', async (t) => {
  for (const [where, event] of NESTED) {
    t.equal(fold([event(100), STOP]).done.usage.inputTokens, 2, where);
    for (const levels of [101, 50_000]) {
      const expected = {
        code: 'UPSTREAM_MALFORMED',
        mayHaveRun: true,
        message: `The provider's answer could not be read: it nests deeper than 100 levels in ${where}.`,
      };
      t.throws(() => fold([event(levels), STOP]), expected, `${levels} levels`);
    }
  }
});

t.test('an answer that nests too deep is refused once, however it goes on, and has its usage', async (t) => {
  const answer = new Accumulator();
  t.same(answer.add([{ type: 'text', text: 'x'.repeat(40) }, ...NESTED.map(([, event]) => event(50_000)), { type: 'text', text: 'y' }]), ['x'.repeat(40), 'y']);
  answer.add([call('2'), STOP]);
  t.throws(() => answer.finish(PROMPT), { code: 'UPSTREAM_MALFORMED', message: /the arguments of a tool call/ });
  t.match(answer.usageSoFar(PROMPT), { inputTokens: 2, estimated: true });
});

t.test('an answer that failed has used what was reported of it, and an estimate of what came since', async (t) => {
  const soFar = (...events: ChatEvent[]) => {
    const answer = new Accumulator();
    answer.add(events);
    return answer.usageSoFar(PROMPT);
  };
  const text = (characters: number): ChatEvent => ({ type: 'text', text: 'x'.repeat(characters) });
  t.equal(soFar(), undefined);
  t.equal(soFar({ type: 'warning', warning: { field: 'a', message: 'b' } }, STOP), undefined, 'nothing came that is paid for');
  t.strictSame(soFar(text(40)), { inputTokens: 2, outputTokens: 10, totalTokens: 12, estimated: true });
  t.match(soFar(call('1')), { inputTokens: 2, estimated: true });
  t.strictSame(soFar(usage({ inputTokens: 7, outputTokens: 3, cacheReadTokens: 5 })), { inputTokens: 7, outputTokens: 3, totalTokens: 10, cacheReadTokens: 5 });
  t.strictSame(soFar(text(40), usage({ inputTokens: 7, outputTokens: 9 })), { inputTokens: 7, outputTokens: 9, totalTokens: 16 });
  t.strictSame(soFar(usage({ inputTokens: 7, outputTokens: 1 }), text(40)), { inputTokens: 7, outputTokens: 11, totalTokens: 18, estimated: true });
  t.match(soFar(usage({ outputTokens: 1 }), text(40), usage({ inputTokens: 7 })), { inputTokens: 7, outputTokens: 11 }, 'a report of the input alone');
  t.strictSame(soFar(usage({ inputTokens: 7 }), text(40)), { inputTokens: 7, outputTokens: 10, totalTokens: 17, estimated: true });
  t.strictSame(soFar(usage({ inputTokens: 0 })), { inputTokens: 0, outputTokens: 0, totalTokens: 0, estimated: true });
});

t.test('usages add up, field by field', async (t) => {
  const a = { inputTokens: 1, outputTokens: 2, totalTokens: 3, cacheReadTokens: 4 };
  const b = { inputTokens: 10, outputTokens: 20, totalTokens: 30, cacheWriteTokens: 5, reasoningTokens: 0, estimated: true };
  const sum = { inputTokens: 11, outputTokens: 22, totalTokens: 33, cacheReadTokens: 4, cacheWriteTokens: 5, reasoningTokens: 0, estimated: true };
  t.strictSame(addUsage(a, b), sum);
  t.strictSame(addUsage(b, a), sum);
  t.notOk('estimated' in addUsage(a, a));
  const told = { ...a, costUsd: 2 };
  t.match([addUsage(told, told), addUsage(told, a), addUsage(a, told)], [{ costUsd: 4 }, { costUsd: 2, estimated: true }, { costUsd: 2, estimated: true }]);
  t.notOk('estimated' in addUsage(told, told));
  t.strictSame(a, { inputTokens: 1, outputTokens: 2, totalTokens: 3, cacheReadTokens: 4 });
});

t.test('an unknown usage adds nothing, and two unknown ones stay unknown', async (t) => {
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
  t.equal(sumUsage(undefined, undefined), undefined);
  t.equal(sumUsage(usage, undefined), usage);
  t.equal(sumUsage(undefined, usage), usage);
  t.same(sumUsage(usage, usage), { inputTokens: 2, outputTokens: 4, totalTokens: 6 });
});

t.test('where one call is asked for, the first that begins is kept with its pieces, and the others are only counted', async (t) => {
  const answer = new Accumulator(true);
  const pieces = answer.addPieces([
    { type: 'toolCallStart', index: 0, id: 'a', name: 'f' },
    { type: 'toolCallStart', index: 1, id: 'b', name: 'g' },
    { type: 'toolCallDelta', index: 1, text: '{"a":1}' },
    { type: 'toolCallDelta', index: 0, text: '{"a":1}' },
    { ...call('b', 'g'), index: 1 } as ChatEvent,
    { type: 'text', text: 'x' },
    { ...call('a'), index: 0 } as ChatEvent,
    call('c', 'h'),
    STOP,
  ]);
  t.same(
    pieces.map((piece) => [piece.type, 'index' in piece ? piece.index : undefined]),
    [
      ['toolCallStart', 0],
      ['toolCallDelta', 0],
      ['text', undefined],
      ['toolCall', 0],
    ],
  );
  const done = answer.finish(PROMPT);
  t.same(
    done.toolCalls?.map(({ id }) => id),
    ['a'],
  );
  t.match(done, { stopReason: 'tool_use', warnings: [{ field: 'config.parallelToolCalls', message: /only the first/ }] });
  const whole = new Accumulator(true);
  t.same(
    whole.addPieces([call('a'), call('b')]).map((piece) => piece.type === 'toolCall' && piece.toolCall.id),
    ['a'],
  );
});

t.test('text that only passes to its reader may be of any length', async (t) => {
  const answer = new Accumulator(false, true);
  const text = 'x'.repeat(1024 * 1024);
  for (let count = 0; count < 100; count += 1) answer.add([{ type: 'text', text }]);
  t.equal(answer.usageSoFar(PROMPT)?.outputTokens, (100 * 1024 * 1024) / 4);
});

const ENDLESS: [title: string, event: ChatEvent, keptBytes: number][] = [
  ['text', { type: 'text', text: 'x'.repeat(4096) }, 4096],
  ['reasoning in small pieces', { type: 'reasoning', text: 'x' }, 32],
  ['the arguments of a call', { type: 'toolCallDelta', index: 0, text: 'x'.repeat(4096) }, 4096],
  ['whole calls', { type: 'toolCall', toolCall: { id: '', name: 'f', arguments: { a: 'x'.repeat(65_536) } } }, 65_536],
  ['the parsed arguments of calls', { type: 'toolCall', toolCall: { id: '', name: 'f', arguments: { a: Array.from({ length: 4096 }, () => 0) } } }, 131_072],
  ['signatures of calls', { type: 'toolCall', toolCall: { id: '', name: 'f', arguments: {}, providerMetadata: { g: 'x'.repeat(65_536) } } }, 65_536],
  ['log probabilities', { type: 'logprobs', logprobs: [{ token: 'x', logprob: 0 }] }, 32],
  ['log probabilities of long tokens', { type: 'logprobs', logprobs: [{ token: 'x'.repeat(4096), logprob: 0 }] }, 4096],
  ['the bytes of tokens', { type: 'logprobs', logprobs: [{ token: 'x', logprob: 0, bytes: Array.from({ length: 4096 }, () => 7) }] }, 32_768],
  ['the tokens beside', { type: 'logprobs', logprobs: [{ token: 'x', logprob: 0, topLogprobs: [{ token: 'x'.repeat(4096), logprob: 0 }] }] }, 4096],
  ['warnings', { type: 'warning', warning: { field: 'f', message: 'x'.repeat(4096) } }, 4096],
];

t.test('an answer that never ends is refused when too much of it would have to be kept, whatever it consists of', async (t) => {
  const most = 64 * 1024 * 1024;
  for (const [title, event, keptBytes] of ENDLESS) {
    const answer = new Accumulator();
    let count = 0;
    t.throws(
      () => {
        for (;;) {
          answer.addPieces([event]);
          count += 1;
        }
      },
      { code: 'UPSTREAM_MALFORMED', message: /more than 67108864 bytes of it would have to be kept/, mayHaveRun: true },
      title,
    );
    t.ok(count > most / keptBytes / 4 && count <= most / keptBytes, `${title}: ${count} events`);
    if (!['logprobs', 'warning'].includes(event.type)) t.ok((answer.usageSoFar(PROMPT)?.outputTokens ?? 0) > count / 4, `${title}: what came is counted`);
  }
});

t.test('an answer of very many calls is refused, whether they begin or come whole', async (t) => {
  for (const event of [
    { type: 'toolCallStart', index: 0, id: 'i', name: 'f' },
    { type: 'toolCall', toolCall: { id: '', name: 'f', arguments: {} } },
  ] as const) {
    const answer = new Accumulator();
    for (let count = 0; count < 10_000; count += 1) answer.addPieces([event]);
    t.throws(() => answer.addPieces([event]), { code: 'UPSTREAM_MALFORMED', message: /more than 10000 content blocks or tool calls/, mayHaveRun: true });
  }
});

t.test('an answer that goes to and fro between text and reasoning is refused after ten thousand blocks', (t) => {
  const text = { type: 'text', text: 'a' } as const;
  const reasoning = { type: 'reasoning', text: 'b' } as const;
  const answer = new Accumulator();
  for (let count = 0; count < 5000; count += 1) answer.addPieces([text, text, reasoning, reasoning]);
  t.throws(() => answer.addPieces([text]), { code: 'UPSTREAM_MALFORMED', message: /more than 10000 content blocks or tool calls/, mayHaveRun: true });
  t.end();
});

t.test('no cost that a provider tells takes a sum beyond all numbers', (t) => {
  for (const [told, counted] of [
    [0.5, 0.5],
    [1e308, 999_999_999],
    [-1, undefined],
    [Number.NaN, undefined],
  ] as const)
    t.equal(fold([usage({ inputTokens: 1, outputTokens: 1, costUsd: told }), STOP]).done.usage.costUsd, counted, String(told));
  t.end();
});
