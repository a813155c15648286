import t from 'tap';
import { createAnthropic } from '../../../adapters/anthropic/index.ts';
import { forwardedAnswer, MESSAGES } from '../../../adapters/anthropic/protocol.ts';
import { settingsFor } from '../../support/adapter-call.ts';

const isRead = (frame: string): boolean => MESSAGES.marks.some((mark) => frame.includes(mark));

t.test('the frames with usage, end or error are read, and no other', async (t) => {
  const start = '{"type":"message_start","message":{"usage":{"input_tokens":5,"cache_read_input_tokens":2,"output_tokens":1}}}';
  const delta = '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}';
  t.match(MESSAGES.readFrame(start), { usage: { inputTokens: 7, cacheReadTokens: 2, outputTokens: undefined } });
  t.match(MESSAGES.readFrame(delta), { usage: { outputTokens: 9 } });
  t.match(MESSAGES.readFrame('{"type":"message_stop"}'), { isEnd: true });
  t.match(MESSAGES.readFrame('{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}'), { error: { kind: 'failed', message: 'Busy' } });
  t.match(MESSAGES.readFrame('{"error":{"message":"of a proxy"}}'), { error: { message: 'of a proxy' } });
  for (const frame of [start, delta, '{"type":"message_stop"}', '{"type": "error"}']) t.ok(isRead(frame), frame);
  for (const frame of ['{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"message"}}', '{"type":"ping"}']) {
    t.notOk(isRead(frame), frame);
    t.same(MESSAGES.readFrame(frame), {});
  }
  for (const odd of ['', 'null', '[]', '{"type":7}', '{']) t.same(MESSAGES.readFrame(odd), {});
});

t.test('a whole answer reports a failure by an error, or by having nothing of a message', async (t) => {
  for (const answer of [{}, { code: 401, msg: 'no' }, { type: 'message', error: { message: 'no' } }]) t.equal(MESSAGES.tellsFailure(answer), true);
  for (const answer of [{ type: 'message' }, { type: 'message', error: null }, { id: 'msg_1' }]) t.equal(MESSAGES.tellsFailure(answer), false);
});

t.test('usage that comes with the end is read, and a version whose streams nobody here reads is not asked for', async (t) => {
  t.match(MESSAGES.readFrame('{"type":"message_stop","usage":{"input_tokens":3,"output_tokens":4}}'), {
    isEnd: true,
    usage: { inputTokens: 3, outputTokens: 4 },
  });
  const passes = (version: string) => MESSAGES.passesHeader?.('anthropic-version', version);
  for (const version of ['2023-06-01', '2026-10-21', '2031-01-01']) t.equal(passes(version), true, version);
  for (const version of ['2023-01-01', '2023-05-31', '', 'v1', '9', '2023-06-01 ', '2023-06-01, 2023-01-01']) t.equal(passes(version), false, version);
  t.equal(MESSAGES.passesHeader?.('anthropic-beta', 'x'), true);
});

t.test('the address follows the base URL, with or without a version in it, and keeps the query', async (t) => {
  for (const base of ['http://127.0.0.1:1', 'http://127.0.0.1:1/v1', 'http://127.0.0.1:1/v1/messages']) {
    const settings = settingsFor(createAnthropic(), { env: { ANTHROPIC_BASE_URL: base } });
    t.equal(MESSAGES.url(settings, '?beta=true').href, 'http://127.0.0.1:1/v1/messages?beta=true');
  }
});

t.test('limits of the provider reach the client', async (t) => {
  for (const name of ['anthropic-ratelimit-requests-remaining', 'request-id', 'retry-after']) t.match(name, MESSAGES.answerHeaders);
  t.notMatch('anthropic-organization-id', MESSAGES.answerHeaders);
});

t.test('a request says how long its answer may be', async (t) => {
  const request = { path: '/v1/messages', search: '', headers: {}, body: Buffer.alloc(0), hidesUsage: false };
  t.same(forwardedAnswer({ ...request, fields: { max_tokens: 7, max_output_tokens: 70, n: 3 } }), { limit: 7 });
  t.same(forwardedAnswer({ ...request, fields: { max_completion_tokens: 7 } }), { limit: undefined });
  t.same(forwardedAnswer(request), { limit: undefined });
});
