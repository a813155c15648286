import t from 'tap';
import { readAnswer, readStopReason, readUsage } from '../../../adapters/bedrock/response.ts';
import { StreamError } from '../../../adapters/shared/provider.ts';
import { contextOf, textOf } from './help.ts';

function answer(content: unknown[], rest: Record<string, unknown> = {}) {
  return { output: { message: { role: 'assistant', content } }, stopReason: 'end_turn', usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 }, ...rest };
}

t.test('text, calls, usage and stop reason of a whole answer', async (t) => {
  const content = [{ text: 'Let me look.' }, { toolUse: { toolUseId: 't1', name: 'f', input: { city: 'Oslo' } } }];
  t.same(readAnswer(answer(content, { stopReason: 'tool_use', metrics: { latencyMs: 5 } }), contextOf()), [
    { type: 'text', text: 'Let me look.' },
    { type: 'toolCall', toolCall: { id: 't1', name: 'f', arguments: { city: 'Oslo' } } },
    { type: 'usage', usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: undefined, cacheWriteTokens: undefined } },
    { type: 'stop', stopReason: 'tool_use' },
  ]);
});

t.test('arguments that nest too deep to be written are handed over as they came, for the gateway to refuse', async (t) => {
  let input: Record<string, unknown> = {};
  for (let level = 0; level < 20_000; level += 1) input = { a: input };
  const events = readAnswer(answer([{ toolUse: { toolUseId: 't1', name: 'f', input } }], { stopReason: 'tool_use' }), contextOf());
  const call = events.find((event) => event.type === 'toolCall');
  t.ok(call?.toolCall.arguments === input);
});

t.test('cached tokens are counted into the input', async (t) => {
  const usage = readUsage({ usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15, cacheReadInputTokens: 100, cacheWriteInputTokens: 7 } });
  t.same(usage, { inputTokens: 117, outputTokens: 5, cacheReadTokens: 100, cacheWriteTokens: 7 });
});

t.test('what is dear is reported: an hour in the cache, and a tier above the standard one', async (t) => {
  const cacheDetails = [
    { ttl: '1h', inputTokens: 7 },
    { ttl: '5m', inputTokens: 2 },
  ];
  const dear = readUsage({ usage: { inputTokens: 1, outputTokens: 1, cacheWriteInputTokens: 9, cacheDetails }, serviceTier: { type: 'priority' } });
  t.match(dear, { inputTokens: 10, cacheWriteTokens: 9, cacheWrite1hTokens: 7, unpricedTier: true });
  for (const type of ['default', 'flex', undefined]) {
    t.notMatch(readUsage({ usage: { inputTokens: 1, outputTokens: 1 }, serviceTier: { type } }), { unpricedTier: true });
  }
});

t.test('no request has 0 tokens, and an answer never has less than the total says', async (t) => {
  const of = (usage: object) => readUsage({ usage });
  for (const none of [{ inputTokens: 0 }, {}]) t.match(of({ ...none, outputTokens: 3, totalTokens: 3 }), { inputTokens: undefined, outputTokens: 3 });
  t.match(of({ inputTokens: 10, outputTokens: 3, totalTokens: 500 }), { inputTokens: 10, outputTokens: 490 });
  t.match(of({ inputTokens: 10, totalTokens: 500 }), { inputTokens: 10, outputTokens: 490 });
  t.match(of({ inputTokens: 10, outputTokens: 3, cacheReadInputTokens: 100, totalTokens: 13 }), { inputTokens: 110, outputTokens: 3 });
  t.match(of({ inputTokens: 10 }), { inputTokens: 10, outputTokens: undefined });
});

t.test('what is kept for an hour is all that stands under that time', async (t) => {
  const cacheDetails = [
    { ttl: '5m', inputTokens: 1 },
    { ttl: '1h', inputTokens: 4 },
    { ttl: '1h', inputTokens: 3 },
  ];
  t.match(readUsage({ usage: { inputTokens: 1, outputTokens: 1, cacheWriteInputTokens: 8, cacheDetails } }), { cacheWrite1hTokens: 7 });
});

t.test('usage that is missing is unknown, not 0', async (t) => {
  for (const value of [undefined, null, 'x', {}]) {
    const usage = { inputTokens: undefined, outputTokens: undefined, cacheReadTokens: undefined, cacheWriteTokens: undefined };
    t.same(readUsage({ usage: value }), usage);
  }
});

t.test('every stop reason has its meaning', async (t) => {
  const table = {
    end_turn: 'end_turn',
    tool_use: 'tool_use',
    max_tokens: 'max_tokens',
    model_context_window_exceeded: 'max_tokens',
    stop_sequence: 'stop_sequence',
    guardrail_intervened: 'content_filter',
    content_filtered: 'content_filter',
    refusal: 'refusal',
    something_new: 'unknown',
    constructor: 'unknown',
  };
  for (const [raw, unified] of Object.entries(table)) t.equal(readStopReason(raw), unified);
  t.equal(readStopReason(undefined), 'unknown');
});

t.test('the stop text that ended a whole answer is named, wherever the model puts it', async (t) => {
  const stopOf = (additionalModelResponseFields: unknown) =>
    readAnswer(answer([{ text: 'a' }], { stopReason: 'stop_sequence', additionalModelResponseFields }), contextOf()).at(-1);
  for (const fields of [{ stop_sequence: 'END' }, { delta: { stop_sequence: 'END' } }])
    t.same(stopOf(fields), { type: 'stop', stopReason: 'stop_sequence', stopSequence: 'END' });
  for (const fields of [undefined, null, {}, { stop_sequence: null }, { delta: 'x' }]) t.same(stopOf(fields), { type: 'stop', stopReason: 'stop_sequence' });
});

t.test('malformed output of the model is an error of the provider', async (t) => {
  for (const reason of ['malformed_model_output', 'malformed_tool_use']) {
    const error = t.throws(() => readAnswer(answer([], { stopReason: reason }), contextOf()));
    t.ok(error instanceof StreamError);
    t.match(error, { providerError: { kind: 'failed', message: new RegExp(reason) } });
  }
});

t.test('what has no stop reason is no answer', async (t) => {
  for (const json of [{}, [], 'x', { message: 'hello' }, answer([], { stopReason: null })]) {
    t.throws(() => readAnswer(json, contextOf()), { code: 'UPSTREAM_MALFORMED' });
  }
});

t.test('a text with citations is a text, and a picture is left out with a warning', async (t) => {
  const cited = { citationsContent: { content: [{ text: 'It is ' }, { text: 'green.' }], citations: [{ title: 'T' }] } };
  const events = readAnswer(answer([cited, { image: { format: 'png', source: { bytes: 'AAAA' } } }]), contextOf());
  t.match(events, [{ type: 'text', text: 'It is green.' }, { type: 'warning', warning: { field: 'message.content' } }, { type: 'usage' }, { type: 'stop' }]);
});

t.test('an answer without content is empty, and unknown blocks are skipped', async (t) => {
  t.same(textOf(readAnswer({ stopReason: 'content_filtered' }, contextOf())), '');
  t.same(textOf(readAnswer(answer([{ hologram: {} }, { text: 'x' }]), contextOf())), 'x');
});

t.test('a call that the token limit cut off is left out; its input must be an object otherwise', async (t) => {
  const cut = answer([{ toolUse: { toolUseId: 't1', name: 'f', input: {} } }], { stopReason: 'max_tokens' });
  t.match(readAnswer(cut, contextOf()), [{ type: 'warning', warning: { field: 'message.toolCalls' } }, { type: 'usage' }, { stopReason: 'max_tokens' }]);
  t.match(readAnswer(answer([{ toolUse: { toolUseId: 't1', name: 'f' } }]), contextOf()), [{ type: 'toolCall', toolCall: { arguments: {} } }]);
  t.throws(() => readAnswer(answer([{ toolUse: { toolUseId: 't1', name: 'f', input: '{}' } }]), contextOf()), { code: 'UPSTREAM_MALFORMED' });
});

t.test('reasoning is no text; its state rides in providerMetadata', async (t) => {
  const content = [{ reasoningContent: { reasoningText: { text: 'hm', signature: 's' } } }, { text: 'x' }];
  const events = readAnswer(answer(content), contextOf());
  t.equal(textOf(events), 'x');
  t.match(events, [
    { type: 'reasoning', text: 'hm' },
    { type: 'text' },
    { type: 'providerMetadata', providerMetadata: { bedrock: { content } } },
    { type: 'usage' },
    { type: 'stop' },
  ]);
});
