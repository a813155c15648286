import t from 'tap';
import { readAnswer, readRecord } from '../../../adapters/google/response.ts';
import { StreamError } from '../../../adapters/shared/provider.ts';
import { parseJson } from '../../../core/base/json.ts';
import type { ChatEvent } from '../../../core/index.ts';

const MODEL = 'gemini-3.8-flash';
const answer = (json: unknown): ChatEvent[] => readAnswer(json, { model: MODEL });
const candidate = (parts: unknown[], finishReason: string | undefined = 'STOP') => ({ candidates: [{ content: { role: 'model', parts }, finishReason }] });
const text = (events: readonly ChatEvent[]): string => events.map((event) => (event.type === 'text' ? event.text : '')).join('');

t.test('a thought is reasoning and no text', async (t) => {
  const events = answer(candidate([{ text: 'hm', thought: true, thoughtSignature: 'hidden' }, { text: 'Hel' }, { text: 'lo' }, { text: '' }]));
  t.strictSame(events, [
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'Hel' },
    { type: 'text', text: 'lo' },
    { type: 'stop', stopReason: 'end_turn' },
  ]);
});

t.test('a picture is left out with a warning, and a thought in pictures without one', async (t) => {
  const picture = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
  t.match(answer(candidate([{ text: 'Here:' }, { ...picture, thoughtSignature: 'c2ln' }, { ...picture, thought: true }])), [
    { type: 'text', text: 'Here:' },
    { type: 'warning', warning: { field: 'message.content', message: /image\/png/ } },
    { type: 'stop' },
  ]);
});

t.test("a call carries its id, the model and the signature as the provider's own state", async (t) => {
  const events = answer(candidate([{ functionCall: { id: 'fc-1', name: 'weather', args: { city: 'Oslo' } }, thoughtSignature: 'c2ln' }]));
  t.strictSame(events[0], {
    type: 'toolCall',
    toolCall: {
      id: 'fc-1',
      name: 'weather',
      arguments: { city: 'Oslo' },
      providerMetadata: { google: { model: MODEL, thought_signature: 'c2ln', id: 'fc-1' } },
    },
  });
});

t.test('gotcha 3: a call without an id leaves it to the core, and its metadata names none', async (t) => {
  const events = answer(candidate([{ functionCall: { name: 'now' } }]));
  t.strictSame(events[0], { type: 'toolCall', toolCall: { id: '', name: 'now', arguments: {}, providerMetadata: { google: { model: MODEL } } } });
});

t.test('the model in the metadata has no prefix', async (t) => {
  const [event] = readAnswer(candidate([{ functionCall: { name: 'now' } }]), { model: `models/${MODEL}` });
  t.strictSame(event?.type === 'toolCall' && event.toolCall.providerMetadata, { google: { model: MODEL } });
});

t.test('the signature of a text part rides on the message, of an empty part too', async (t) => {
  const events = answer(candidate([{ text: 'hi' }, { text: '', thoughtSignature: 'dGV4dA==' }]));
  t.strictSame(events[1], { type: 'providerMetadata', providerMetadata: { google: { model: MODEL, textSignature: 'dGV4dA==' } } });
  t.equal(text(events), 'hi');
});

t.test('arguments with __proto__ stay data', async (t) => {
  const [event] = answer(
    parseJson('{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"__proto__":{"polluted":1}}}}]},"finishReason":"STOP"}]}'),
  );
  t.equal(event?.type === 'toolCall' && JSON.stringify(event.toolCall.arguments), '{"__proto__":{"polluted":1}}');
  t.equal(({} as { polluted?: number }).polluted, undefined);
});

for (const [what, call] of [
  ['no name', { args: {} }],
  ['arguments that are a list', { name: 'f', args: [] }],
  ['arguments that are text', { name: 'f', args: '{"a"' }],
] as const) {
  t.test(`a call with ${what} is malformed`, async (t) => {
    t.throws(() => answer(candidate([{ functionCall: call }])), { code: 'UPSTREAM_MALFORMED' });
  });
}

const STOPS: [string, string][] = [
  ['STOP', 'end_turn'],
  ['MAX_TOKENS', 'max_tokens'],
  ['CONTINUATION', 'max_tokens'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['LANGUAGE', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
  ['IMAGE_OTHER', 'content_filter'],
  ['OTHER', 'unknown'],
  ['FINISH_REASON_UNSPECIFIED', 'unknown'],
  ['SOMETHING_OF_NEXT_MONTH', 'unknown'],
  ['constructor', 'unknown'],
];
for (const [reason, stopReason] of STOPS) {
  t.test(`${reason} means ${stopReason}`, async (t) => {
    t.strictSame(answer(candidate([{ text: 'a' }], reason)).at(-1), { type: 'stop', stopReason });
  });
}

for (const reason of ['MALFORMED_FUNCTION_CALL', 'MALFORMED_RESPONSE', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'NO_IMAGE']) {
  t.test(`${reason} is a failure with its message, and is not repeated by us`, async (t) => {
    const json = { candidates: [{ finishReason: reason, finishMessage: 'print(x)' }] };
    try {
      answer(json);
      t.fail('must throw');
    } catch (error) {
      t.ok(error instanceof StreamError);
      t.strictSame((error as StreamError).providerError, {
        kind: 'failed',
        message: `the answer ended with ${reason}: print(x)`,
        retryable: false,
        mayHaveRun: true,
      });
    }
  });
}

t.test('a failure without a message names its reason alone', async (t) => {
  t.throws(() => answer({ candidates: [{ finishReason: 'NO_IMAGE' }] }), { message: 'the answer ended with NO_IMAGE' });
});

t.test('a whole answer without a finish reason stopped for an unknown one', async (t) => {
  t.strictSame(answer({ candidates: [{ content: { parts: [{ text: 'a' }] } }] }).at(-1), { type: 'stop', stopReason: 'unknown' });
});

t.test('content and parts may be missing', async (t) => {
  t.strictSame(answer({ candidates: [{ finishReason: 'MAX_TOKENS' }] }), [{ type: 'stop', stopReason: 'max_tokens' }]);
  t.strictSame(answer({ candidates: [{ content: {}, finishReason: 'STOP' }] }), [{ type: 'stop', stopReason: 'end_turn' }]);
});

t.test('gotcha 5: a blocked prompt is an answer without text, with a warning that says why', async (t) => {
  t.strictSame(answer({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 } }), [
    { type: 'usage', usage: { inputTokens: 4, outputTokens: 0, cacheReadTokens: 0, reasoningTokens: 0 } },
    { type: 'warning', warning: { field: 'message.content', message: 'blocked: SAFETY' } },
    { type: 'stop', stopReason: 'content_filter' },
  ]);
});

t.test('feedback beside a candidate blocks nothing', async (t) => {
  const events = answer({ ...candidate([{ text: 'a' }]), promptFeedback: { blockReason: 'SAFETY' } });
  t.strictSame(events, [
    { type: 'text', text: 'a' },
    { type: 'stop', stopReason: 'end_turn' },
  ]);
});

for (const json of [{}, { candidates: [] }, { promptFeedback: {} }, [], 'text', null]) {
  t.test(`${JSON.stringify(json)} is no answer`, async (t) => {
    t.throws(() => answer(json), { code: 'UPSTREAM_MALFORMED' });
  });
}

t.test('an error in a 200 is a provider error, in an array too', async (t) => {
  const error = { code: 503, message: 'overloaded', status: 'UNAVAILABLE' };
  t.throws(() => answer({ error }), { message: 'overloaded', providerError: { kind: 'failed' } });
  t.throws(() => answer([{ error }]), { message: 'overloaded', providerError: { kind: 'failed' } });
});

const usageOf = (usageMetadata: unknown) => readRecord({ candidates: [{}], usageMetadata }, MODEL)[0];

t.test('gotcha 8: thoughts count as output beside the candidate, cached tokens stay inside the input', async (t) => {
  const usageMetadata = {
    promptTokenCount: 100,
    toolUsePromptTokenCount: 7,
    cachedContentTokenCount: 60,
    candidatesTokenCount: 18,
    thoughtsTokenCount: 478,
    totalTokenCount: 603,
  };
  t.strictSame(usageOf(usageMetadata), { type: 'usage', usage: { inputTokens: 107, outputTokens: 496, cacheReadTokens: 60, reasoningTokens: 478 } });
  t.match(
    usageOf({ promptTokenCount: 107, candidatesTokenCount: 18, totalTokenCount: 603 }),
    { usage: { inputTokens: 107, outputTokens: 496 } },
    'thoughts in the total alone',
  );
  t.match(usageOf({ promptTokenCount: 107, candidatesTokenCount: 18, totalTokenCount: 110 }), { usage: { inputTokens: 107, outputTokens: 18 } });
});

t.test('counts that the server left out are 0', async (t) => {
  t.strictSame(usageOf({ promptTokenCount: 9 }), { type: 'usage', usage: { inputTokens: 9, outputTokens: 0, cacheReadTokens: 0, reasoningTokens: 0 } });
});

t.test('no request has 0 tokens: who says so beside an answer has not counted it, and the estimate decides', async (t) => {
  for (const said of [
    { candidatesTokenCount: 1 },
    { promptTokenCount: 0, candidatesTokenCount: 1, totalTokenCount: 1 },
    { promptTokenCount: 0.2, candidatesTokenCount: 1 },
    { cachedContentTokenCount: 11_000, candidatesTokenCount: 1 },
    { toolUsePromptTokenCount: 3, candidatesTokenCount: 1 },
  ])
    t.match(usageOf(said), { usage: { inputTokens: undefined, outputTokens: 1 } }, JSON.stringify(said));
  t.match(usageOf({ thoughtsTokenCount: 500 }), { usage: { inputTokens: undefined, outputTokens: 500 } });
  t.match(usageOf({ totalTokenCount: 500 }), { usage: { inputTokens: 0, outputTokens: 500 } }, 'a total has both');
  t.match(usageOf({ promptTokenCount: 0, candidatesTokenCount: 0 }), { usage: { inputTokens: 0, outputTokens: 0 } }, 'and nothing was answered');
});

t.test('usage without any count is no report', async (t) => {
  t.equal(usageOf({}), undefined);
  t.equal(usageOf({ trafficType: 'ON_DEMAND' }), undefined);
});
