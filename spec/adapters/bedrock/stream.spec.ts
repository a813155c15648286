import t from 'tap';
import { readAnswer } from '../../../adapters/bedrock/response.ts';
import { BedrockDecoder } from '../../../adapters/bedrock/stream.ts';
import { StreamError } from '../../../adapters/shared/provider.ts';
import type { ProviderError } from '../../../adapters/shared/provider-errors.ts';
import { BlockhouseError, type ChatEvent } from '../../../core/index.ts';
import { withoutPieces } from '../../support/adapter-call.ts';
import { swept } from '../../support/sweep.ts';
import { contextOf, eventFrame, frameOf, HEX_EXCEPTION_FRAME, HEX_TEXT_FRAME, streamOf, textOf } from './help.ts';

const USAGE = { inputTokens: 10, outputTokens: 5, totalTokens: 15, cacheReadInputTokens: 3, cacheWriteInputTokens: 0 };
const STOP = eventFrame('messageStop', { stopReason: 'end_turn' });

/** Reasoning, text with multi-byte characters, and two calls. */
const FIXTURE = streamOf(
  ['messageStart', { role: 'assistant', p: 'abc' }],
  ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'hm' } } }],
  ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { signature: 'sig' } } }],
  ['contentBlockStop', { contentBlockIndex: 0 }],
  ['contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'Grüße ' }, p: 'abcdefgh' }],
  ['contentBlockDelta', { contentBlockIndex: 1, delta: { text: '🌍' } }],
  ['contentBlockStop', { contentBlockIndex: 1 }],
  ['contentBlockStart', { contentBlockIndex: 2, start: { toolUse: { toolUseId: 't1', name: 'f' } } }],
  ['contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: '{"ci' } } }],
  ['contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: 'ty":"Oslo"}' } } }],
  ['contentBlockStop', { contentBlockIndex: 2 }],
  ['contentBlockStart', { contentBlockIndex: 3, start: { toolUse: { toolUseId: 't2', name: 'g' } } }],
  ['contentBlockStop', { contentBlockIndex: 3 }],
  ['messageStop', { stopReason: 'tool_use' }],
  ['metadata', { usage: USAGE, metrics: { latencyMs: 1 } }],
);

/** The provider error that decoding throws. */
function errorIn(...chunks: Buffer[]): ProviderError | undefined {
  try {
    decode(...chunks);
    return undefined;
  } catch (error) {
    if (error instanceof StreamError) return error.providerError;
    throw error;
  }
}

function isCutShort(bytes: Buffer): boolean {
  try {
    decode(bytes);
    return false;
  } catch (error) {
    return error instanceof BlockhouseError && error.code === 'UPSTREAM_MALFORMED' && error.message.includes('cut short');
  }
}

function decode(...chunks: Buffer[]): ChatEvent[] {
  const decoder = new BedrockDecoder(contextOf());
  const events = chunks.flatMap((chunk) => decoder.push(chunk));
  return [...events, ...decoder.end()];
}

t.test('the stop text that ended a streamed answer is named', async (t) => {
  const fields = { delta: { stop_sequence: 'END' } };
  t.same(decode(eventFrame('messageStop', { stopReason: 'stop_sequence', additionalModelResponseFields: fields })), [
    { type: 'stop', stopReason: 'stop_sequence', stopSequence: 'END' },
  ]);
});

t.test('gotcha 6: text needs no contentBlockStart', async (t) => {
  t.equal(textOf(decode(Buffer.from(HEX_TEXT_FRAME, 'hex'), STOP)), 'Hé');
});

t.test('the known exception frame is a provider error of rate limiting', async (t) => {
  t.match(errorIn(Buffer.from(HEX_EXCEPTION_FRAME, 'hex')), { kind: 'rateLimited', message: 'slow down' });
});

t.test('a stream cut in two at every byte, and into single bytes, gives the same events', async (t) => {
  const whole = decode(FIXTURE);
  t.match(withoutPieces(whole), [
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'Grüße ' },
    { type: 'text', text: '🌍' },
    { type: 'toolCall', toolCall: { id: 't1', name: 'f', arguments: { city: 'Oslo' } } },
    { type: 'toolCall', toolCall: { id: 't2', name: 'g', arguments: {} } },
    { type: 'providerMetadata' },
    { type: 'stop', stopReason: 'tool_use' },
    { type: 'usage', usage: { inputTokens: 13, outputTokens: 5, cacheReadTokens: 3, cacheWriteTokens: 0 } },
  ]);
  const expected = JSON.stringify(whole);
  for (const at of swept(FIXTURE.length, 3)) {
    if (JSON.stringify(decode(FIXTURE.subarray(0, at), FIXTURE.subarray(at))) !== expected) t.fail(`cut at byte ${at}`);
  }
  t.same(decode(...Array.from(FIXTURE, (byte) => Buffer.from([byte]))), whole);
});

t.test('a whole answer of the same meaning gives the same state, calls, stop and usage', async (t) => {
  const content = [
    { reasoningContent: { reasoningText: { text: 'hm', signature: 'sig' } } },
    { text: 'Grüße 🌍' },
    { toolUse: { toolUseId: 't1', name: 'f', input: { city: 'Oslo' } } },
    { toolUse: { toolUseId: 't2', name: 'g', input: {} } },
  ];
  const whole = readAnswer({ output: { message: { role: 'assistant', content } }, stopReason: 'tool_use', usage: USAGE }, contextOf());
  const streamed = decode(FIXTURE);
  t.equal(textOf(whole), textOf(streamed));
  const rest = (events: ChatEvent[]) =>
    new Set(
      withoutPieces(events)
        .filter(({ type }) => type !== 'text')
        .map((event) => JSON.stringify(event)),
    );
  t.same(rest(whole), rest(streamed));
});

t.test('a stream that ends anywhere before its last frame but one is an error', async (t) => {
  const metadata = eventFrame('metadata', { usage: USAGE, metrics: { latencyMs: 1 } });
  const quiet: number[] = [];
  for (let at = 0; at < FIXTURE.length; at += 1) if (!isCutShort(FIXTURE.subarray(0, at))) quiet.push(at);
  t.same(quiet, [FIXTURE.length - metadata.length]);
});

t.test('gotcha 5: usage comes behind messageStop, and its absence is no error', async (t) => {
  const decoder = new BedrockDecoder(contextOf());
  t.same(decoder.push(STOP), [{ type: 'stop', stopReason: 'end_turn' }]);
  t.match(decoder.push(eventFrame('metadata', { usage: USAGE })), [{ type: 'usage', usage: { inputTokens: 13 } }]);
  t.same(decoder.end(), []);
  t.same(decode(STOP), [{ type: 'stop', stopReason: 'end_turn' }]);
});

t.test('an exception after the first block says that the model has run, also if nobody can read what it thought', async (t) => {
  const exception = frameOf({ ':message-type': 'exception', ':exception-type': 'modelStreamErrorException' }, '{"message":"why"}');
  const opening = eventFrame('messageStart', { role: 'assistant' });
  const hidden = eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { redactedContent: 'aGlkZGVu' } } });
  t.equal(errorIn(opening, exception)?.mayHaveRun, undefined);
  t.equal(errorIn(opening, hidden, exception)?.mayHaveRun, true);
  t.equal(errorIn(opening, hidden, frameOf({ ':message-type': 'error', ':error-code': 'InternalFailure' }, ''))?.mayHaveRun, true);
});

t.test('exceptions and errors in the stream are provider errors by their types', async (t) => {
  const exception = (type: string, body: unknown) => frameOf({ ':message-type': 'exception', ':exception-type': type }, JSON.stringify(body));
  const table: [string, string][] = [
    ['internalServerException', 'failed'],
    ['modelStreamErrorException', 'failed'],
    ['serviceUnavailableException', 'failed'],
    ['throttlingException', 'rateLimited'],
    ['validationException', 'rejected'],
  ];
  for (const [type, kind] of table) t.match(errorIn(exception(type, { message: 'why' })), { kind, message: 'why' }, type);
  t.match(errorIn(exception('throttlingException', { Message: 'capital' })), { message: 'capital' });
  t.match(errorIn(frameOf({ ':message-type': 'exception' }, 'no json')), { kind: 'failed' });
  const error = frameOf({ ':message-type': 'error', ':error-code': 'InternalFailure', ':error-message': 'why' }, '');
  t.match(errorIn(error), { kind: 'failed', message: 'why' });
});

t.test('what came in the same chunk before a provider error is handed over all the same', async (t) => {
  for (const bad of [Buffer.from(HEX_EXCEPTION_FRAME, 'hex'), Buffer.from('<html>')]) {
    const events: ChatEvent[] = [];
    t.throws(() => new BedrockDecoder(contextOf()).push(Buffer.concat([Buffer.from(HEX_TEXT_FRAME, 'hex'), bad]), events));
    t.same(events, [{ type: 'text', text: 'Hé' }]);
  }
});

t.test('malformed output of the model is a provider error', async (t) => {
  t.match(errorIn(eventFrame('messageStop', { stopReason: 'malformed_tool_use' })), { kind: 'failed' });
});

t.test('types that are not known yet are skipped, whatever they carry', async (t) => {
  const unknown = [eventFrame('futureEvent', 7), frameOf({ ':message-type': 'future' }, 'x'), frameOf({ ':message-type': 'event' }, ''), frameOf({}, '')];
  t.same(decode(...unknown, STOP), [{ type: 'stop', stopReason: 'end_turn' }]);
});

t.test('a known event whose payload is no JSON object is damage', async (t) => {
  for (const payload of ['{', '7', '']) {
    const frame = frameOf({ ':message-type': 'event', ':event-type': 'contentBlockDelta' }, payload);
    t.throws(() => decode(frame), { code: 'UPSTREAM_MALFORMED' });
  }
});

t.test('a damaged frame and what is no event stream at all are damage', async (t) => {
  const damaged = Buffer.from(HEX_TEXT_FRAME, 'hex');
  damaged[damaged.length - 10] = 0;
  t.throws(() => decode(damaged), { code: 'UPSTREAM_MALFORMED', message: /a frame is damaged/ });
  t.throws(() => decode(Buffer.from('<html>')), { code: 'UPSTREAM_MALFORMED' });
});

t.test('a call that the token limit cut off is left out with a warning, otherwise it is damage', async (t) => {
  const pieces = [
    eventFrame('contentBlockStart', { contentBlockIndex: 0, start: { toolUse: { toolUseId: 't1', name: 'f' } } }),
    eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { toolUse: { input: '{"city":"Os' } } }),
  ];
  const cut = decode(...pieces, eventFrame('messageStop', { stopReason: 'max_tokens' }));
  t.match(withoutPieces(cut), [
    { type: 'warning', warning: { field: 'message.toolCalls' } },
    { type: 'stop', stopReason: 'max_tokens' },
  ]);
  t.throws(() => decode(...pieces, eventFrame('messageStop', { stopReason: 'tool_use' })), { code: 'UPSTREAM_MALFORMED' });
});

t.test('a second messageStop says nothing new', async (t) => {
  t.same(decode(STOP, STOP), [{ type: 'stop', stopReason: 'end_turn' }]);
});

t.test('a picture is left out with one warning, and a citation in silence', async (t) => {
  const events = decode(
    eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Here:' } }),
    eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { citation: { title: 'T' } } }),
    eventFrame('contentBlockStart', { contentBlockIndex: 1, start: { image: { format: 'png' } } }),
    eventFrame('contentBlockDelta', { contentBlockIndex: 1, delta: { image: { source: { bytes: 'AAAA' } } } }),
    eventFrame('contentBlockDelta', { contentBlockIndex: 1, delta: { image: { source: { bytes: 'AAAA' } } } }),
    STOP,
  );
  t.match(events, [{ type: 'text', text: 'Here:' }, { type: 'warning', warning: { field: 'message.content' } }, { type: 'stop' }]);
});
