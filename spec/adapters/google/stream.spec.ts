import t from 'tap';
import { GoogleDecoder } from '../../../adapters/google/stream.ts';
import { StreamError } from '../../../adapters/shared/provider.ts';
import type { ChatEvent } from '../../../core/index.ts';

const MODEL = 'gemini-3.8-flash';

/** Written after the shapes in Google's thought-signature guide and genai.d.ts; the umlaut and the emoji are there to be cut. */
const RECORDS = [
  { candidates: [{ content: { role: 'model', parts: [{ text: 'Grüße 🌧' }] }, index: 0 }], usageMetadata: { promptTokenCount: 40, totalTokenCount: 40 } },
  { candidates: [{ content: { role: 'model', parts: [{ text: ' aus Oslo' }] }, index: 0 }], usageMetadata: { promptTokenCount: 40, candidatesTokenCount: 5 } },
  {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { functionCall: { id: 'fc-1', name: 'weather', args: { city: 'Oslo' } }, thoughtSignature: 'c2lnLTE=' },
            { functionCall: { id: 'fc-2', name: 'weather', args: { city: 'Rome' } } },
          ],
        },
        index: 0,
      },
    ],
  },
  {
    candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 40, candidatesTokenCount: 12, thoughtsTokenCount: 30, cachedContentTokenCount: 8, totalTokenCount: 82 },
  },
  { candidates: [{ content: { role: 'model', parts: [{ text: '', thoughtSignature: 'dGV4dA==' }] }, index: 0 }] },
];

const WANT: ChatEvent[] = [
  { type: 'text', text: 'Grüße 🌧' },
  { type: 'usage', usage: { inputTokens: 40, outputTokens: 0, cacheReadTokens: 0, reasoningTokens: 0 } },
  { type: 'text', text: ' aus Oslo' },
  { type: 'usage', usage: { inputTokens: 40, outputTokens: 5, cacheReadTokens: 0, reasoningTokens: 0 } },
  {
    type: 'toolCall',
    toolCall: {
      id: 'fc-1',
      name: 'weather',
      arguments: { city: 'Oslo' },
      providerMetadata: { google: { model: MODEL, thought_signature: 'c2lnLTE=', id: 'fc-1' } },
    },
  },
  { type: 'toolCall', toolCall: { id: 'fc-2', name: 'weather', arguments: { city: 'Rome' }, providerMetadata: { google: { model: MODEL, id: 'fc-2' } } } },
  { type: 'usage', usage: { inputTokens: 40, outputTokens: 42, cacheReadTokens: 8, reasoningTokens: 30 } },
  { type: 'providerMetadata', providerMetadata: { google: { model: MODEL, textSignature: 'dGV4dA==' } } },
  { type: 'stop', stopReason: 'end_turn' },
];

function sse(records: readonly unknown[], lineEnd = '\n'): string {
  return records.map((record) => `data: ${JSON.stringify(record)}${lineEnd}${lineEnd}`).join('');
}

function decode(...chunks: (Buffer | string)[]): ChatEvent[] {
  const decoder = new GoogleDecoder(MODEL);
  return [...chunks.flatMap((chunk) => decoder.push(Buffer.from(chunk))), ...decoder.end()];
}

function errorIn(...chunks: string[]): unknown {
  try {
    decode(...chunks);
  } catch (error) {
    return error instanceof StreamError ? error.providerError : error;
  }
  return undefined;
}

for (const [name, lineEnd] of [
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
] as const) {
  t.test(`a stream with ${name} reads the same, wherever it is cut in two`, async (t) => {
    const bytes = Buffer.from(sse(RECORDS, lineEnd));
    t.strictSame(decode(bytes), WANT);
    for (let at = 1; at < bytes.length; at += 1) {
      const events = decode(bytes.subarray(0, at), bytes.subarray(at));
      if (JSON.stringify(events) !== JSON.stringify(WANT)) t.strictSame(events, WANT, `cut at byte ${at}`);
    }
  });

  t.test(`a stream with ${name} reads the same byte by byte`, async (t) => {
    const bytes = Buffer.from(sse(RECORDS, lineEnd));
    t.strictSame(decode(...Array.from(bytes, (byte) => Buffer.from([byte]))), WANT);
  });
}

t.test('events come as soon as their record is complete, the stop at the end', async (t) => {
  const decoder = new GoogleDecoder(MODEL);
  t.strictSame(decoder.push(Buffer.from(sse(RECORDS.slice(0, 1)))), WANT.slice(0, 2));
  decoder.push(Buffer.from(sse([{ candidates: [{ finishReason: 'STOP' }] }])));
  t.strictSame(decoder.end(), [{ type: 'stop', stopReason: 'end_turn' }]);
});

t.test('events before a provider error are handed over, though they came in the same chunk', async (t) => {
  const events: ChatEvent[] = [];
  const bytes = Buffer.from(sse([...RECORDS.slice(0, 1), { error: { code: 500, message: 'm' } }]));
  t.throws(() => new GoogleDecoder(MODEL).push(bytes, events), { message: 'm', providerError: { kind: 'failed' } });
  t.strictSame(events, WANT.slice(0, 2));
});

t.test('the last record needs no blank line', async (t) => {
  t.strictSame(decode(sse(RECORDS).trimEnd()), WANT);
});

t.test('a finish reason that is repeated stops once, with the last one', async (t) => {
  const events = decode(sse([{ candidates: [{ finishReason: 'FINISH_REASON_UNSPECIFIED' }] }, { candidates: [{ finishReason: 'MAX_TOKENS' }] }]));
  t.strictSame(events, [{ type: 'stop', stopReason: 'max_tokens' }]);
});

t.test('a stream without a finish reason was cut short', async (t) => {
  t.throws(() => decode(sse(RECORDS.slice(0, 3))), { code: 'UPSTREAM_MALFORMED', message: /cut short/ });
  t.throws(() => decode(''), { code: 'UPSTREAM_MALFORMED', message: /cut short/ });
});

t.test('an empty finish reason is none', async (t) => {
  t.throws(() => decode(sse([{ candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason: '' }] }])), { message: /cut short/ });
});

t.test('gotcha 5: a blocked prompt ends a stream in good order', async (t) => {
  t.strictSame(decode(sse([{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }])), [
    { type: 'warning', warning: { field: 'message.content', message: 'blocked: PROHIBITED_CONTENT' } },
    { type: 'stop', stopReason: 'content_filter' },
  ]);
});

t.test('a record that is not JSON is malformed', async (t) => {
  t.throws(() => decode('data: {"candidates":\n\n'), { code: 'UPSTREAM_MALFORMED', message: /not JSON/ });
});

t.test('a failed answer is a provider error', async (t) => {
  t.match(errorIn(sse([{ candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] }])), { kind: 'failed', message: /MALFORMED_FUNCTION_CALL/ });
});

t.test('[DONE], comments and empty records are skipped', async (t) => {
  t.strictSame(decode(`: hi\n\n${sse(RECORDS)}data:\n\ndata: [DONE]\n\n`), WANT);
});

const ERROR = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } };
const FAULT = { kind: 'failed', message: 'The model is overloaded.' };
const ERRORS: [string, string][] = [
  ['as a record', sse([ERROR])],
  ['as a record in an array', sse([[ERROR]])],
  ['bare, on one line', JSON.stringify(ERROR)],
  ['bare, in an array', JSON.stringify([ERROR])],
  ['bare, over several lines', JSON.stringify(ERROR, null, 2)],
  ['bare, over several CRLF lines', JSON.stringify(ERROR, null, 2).replaceAll('\n', '\r\n')],
  ['bare, begun on its first line', '{"error": {\n"code": 503,\n"message": "The model is overloaded."\n}}\n\n'],
];
for (const [how, text] of ERRORS) {
  t.test(`an error ${how} is a provider error, wherever it is cut`, async (t) => {
    t.strictSame(errorIn(text), FAULT);
    const whole = sse(RECORDS.slice(0, 2)) + text;
    for (let at = 1; at < whole.length; at += 1) {
      const fault = errorIn(whole.slice(0, at), whole.slice(at));
      if (JSON.stringify(fault) !== JSON.stringify(FAULT)) t.strictSame(fault, FAULT, `cut at ${at}`);
    }
  });
}

t.test('a bare error in pieces is found behind a large record', async (t) => {
  const large = sse([{ candidates: [{ content: { parts: [{ text: 'x'.repeat(65_000) }] } }] }]);
  const text = JSON.stringify({ error: { ...ERROR.error, details: ['y'.repeat(1000)] } }, null, 2);
  t.strictSame(errorIn(large + text.slice(0, 100), text.slice(100)), FAULT);
});

t.test('a bare error is found behind half a million chunks of one byte, whose number costs no more than their bytes', async (t) => {
  const decoder = new GoogleDecoder('m');
  const comment = Buffer.from(`:${'x'.repeat(1022)}\n`);
  const begin = process.cpuUsage();
  for (let round = 0; round < 500; round += 1) for (let at = 0; at < comment.length; at += 1) decoder.push(comment.subarray(at, at + 1));
  for (const byte of Buffer.from(JSON.stringify(ERROR))) decoder.push(Buffer.of(byte));
  t.throws(() => decoder.end(), { message: FAULT.message });
  t.ok(process.cpuUsage(begin).user < 5_000_000, 'processor time: a tenth of a second, and half a minute if each chunk moved all before it');
});

t.test('an error in the words of the model is text', async (t) => {
  const said = JSON.stringify(ERROR, null, 2);
  const events = decode(sse([{ candidates: [{ content: { parts: [{ text: said }] }, finishReason: 'STOP' }] }]));
  t.strictSame(events[0], { type: 'text', text: said });
});

t.test('a flood without records is cut short', async (t) => {
  const comment = `:${'x'.repeat(1023)}\n`;
  t.throws(() => decode(...Array.from({ length: 200 }, () => comment)), { message: /cut short/ });
});
