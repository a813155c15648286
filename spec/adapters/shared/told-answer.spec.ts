// What answers say of themselves, as the adapters read it: whole ones, streams, and those that go through as they are.
import t from 'tap';
import { readTold } from '../../../adapters/google/response.ts';
import { MESSAGES } from '../../../adapters/anthropic/protocol.ts';
import { ChatDecoder } from '../../../adapters/openai/stream-chat.ts';
import { protocolOf } from '../../../adapters/openai/protocol.ts';
import { dataOf, eventOf } from '../../../adapters/shared/frame-text.ts';
import { toldAnswer, toldName } from '../../../adapters/shared/told-answer.ts';
import type { ResolvedSettings } from '../../../core/index.ts';

t.test('names that are none are left out', async (t) => {
  t.same(toldAnswer('id-1', 'm'), { id: 'id-1', model: 'm' });
  t.equal(toldAnswer(undefined, 7), undefined);
  t.equal(toldName('x'.repeat(257)), undefined, 'it would keep a whole answer in memory');
  t.equal(toldName(''), undefined);
  t.same(readTold({ responseId: 'r', modelVersion: 'gemini-9' }), { id: 'r', model: 'gemini-9' });
});

t.test('a stream says its id and its model once it has begun', async (t) => {
  const decoder = new ChatDecoder();
  t.equal(decoder.told, undefined);
  decoder.push(Buffer.from('data: {"id":"chatcmpl-1","model":"m-2026","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n'));
  t.same(decoder.told, { id: 'chatcmpl-1', model: 'm-2026' });
});

t.test('of an answer that goes through as it is, id, model and the reason of its end are read', async (t) => {
  const settings = (api: string): ResolvedSettings => ({ values: { api, baseURL: 'https://api.example/v1' }, sources: {} }) as unknown as ResolvedSettings;
  const chat = protocolOf(settings('chat'));
  t.match(chat.readFrame('{"id":"c1","model":"m","choices":[{"delta":{},"finish_reason":"tool_calls"}]}').answer, {
    id: 'c1',
    model: 'm',
    stopReason: 'tool_use',
  });
  const usageOnly = chat.readFrame('{"id":"c1","model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}').answer;
  t.notOk(usageOnly !== undefined && 'stopReason' in usageOnly, 'a reason that came before stays');
  t.match(chat.readFacts?.({ id: 'c1', model: 'm', choices: [{ finish_reason: 'length' }] }), { stopReason: 'max_tokens' });
  const responses = protocolOf(settings('responses'));
  const last = '{"type":"response.incomplete","response":{"id":"r1","model":"m","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}';
  t.match(responses.readFrame(last).answer, { id: 'r1', model: 'm', stopReason: 'max_tokens' });
  t.match(MESSAGES.readFrame('{"type":"message_start","message":{"id":"msg_1","model":"claude"}}').answer, { id: 'msg_1', model: 'claude' });
  t.same(MESSAGES.readFrame('{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{}}').answer, { stopReason: 'end_turn' });
  t.match(MESSAGES.readFacts?.({ id: 'msg_1', model: 'claude', stop_reason: 'tool_use' }), { id: 'msg_1', stopReason: 'tool_use' });
});

t.test('the data and the name of a frame', async (t) => {
  t.equal(dataOf('event: x\ndata: {"a":\ndata:1}\n\n'), '{"a":\n1}');
  t.equal(dataOf(': comment\n\n'), undefined);
  t.equal(eventOf('event: ping\ndata: {}\n\n'), 'ping');
});
