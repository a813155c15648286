import t from 'tap';
import { createOpenAI } from '../../../adapters/openai/index.ts';
import { forwardedAnswer, protocolOf } from '../../../adapters/openai/protocol.ts';
import { settingsFor } from '../../support/adapter-call.ts';

const at = (base: string) => settingsFor(createOpenAI(), { env: { OPENAI_BASE_URL: base } });
const chat = protocolOf(at('http://127.0.0.1:1/v1'));
const responses = protocolOf(at('https://api.openai.com/v1'));

t.test("OpenAI's own hosts speak Responses, other servers Chat Completions", async (t) => {
  t.equal(responses.path, '/v1/responses');
  t.equal(responses.url(at('https://api.openai.com'), '?a=b').href, 'https://api.openai.com/v1/responses?a=b');
  t.equal(chat.path, '/v1/chat/completions');
  t.equal(chat.url(at('http://127.0.0.1:1/api/v1'), '').href, 'http://127.0.0.1:1/api/v1/chat/completions');
});

t.test('chunks with usage, a finish reason or an error are read', async (t) => {
  t.match(chat.readFrame('{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}'), {
    isUsageOnly: true,
    usage: { inputTokens: 3, outputTokens: 2 },
  });
  t.match(chat.readFrame('{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}'), { isUsageOnly: false, mayEnd: true });
  t.match(chat.readFrame('{"choices":[{"delta":{},"finish_reason":null}],"usage":null}'), { isUsageOnly: false, mayEnd: false, usage: undefined });
  t.match(chat.readFrame('{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":3,"completion_tokens":2}}]}'), {
    isUsageOnly: false,
    usage: { inputTokens: 3, outputTokens: 2 },
  });
  t.match(chat.readFrame('[DONE]'), { isEnd: true });
  t.match(chat.readFrame('{"error":{"message":"Busy"}}'), { error: { message: 'Busy' } });
  t.match(chat.readFrame('{"error":{"message":"Busy"},"usage":{"completion_tokens":5}}'), { error: { message: 'Busy' }, usage: { outputTokens: 5 } });
  t.match(chat.readFrame('{"error":null,"choices":[]}'), { isUsageOnly: false });
  for (const odd of ['', 'null', '{']) t.same(chat.readFrame(odd), { isCut: true });
  t.notOk(chat.marks.some((mark) => '{"choices":[{"delta":{"content":"usage"},"finish_reason":null}],"usage":null}'.includes(mark)));
  t.same(chat.members, ['usage', 'finish_reason']);
});

t.test('a whole answer reports a failure by an error, in a choice as well, or by having nothing of an answer', async (t) => {
  const failures = [
    {},
    { code: 401, msg: 'no' },
    { choices: null },
    { choices: [] },
    { choices: [{}], error: { message: 'no' } },
    { choices: [{ error: {} }] },
  ];
  for (const answer of failures) t.equal(chat.tellsFailure(answer), true, JSON.stringify(answer));
  for (const answer of [{ choices: [{}] }, { choices: [{ error: null }], error: null }]) t.equal(chat.tellsFailure(answer), false, JSON.stringify(answer));
  for (const answer of [{}, { object: 'list' }, { object: 'response', status: 'failed' }, { object: 'response', error: { message: 'no' } }])
    t.equal(responses.tellsFailure(answer), true, JSON.stringify(answer));
  t.equal(responses.tellsFailure({ id: 'resp_1' }), false, 'of a server that leaves out the object');
  for (const status of ['completed', 'incomplete']) t.equal(responses.tellsFailure({ object: 'response', status, error: null }), false, status);
});

t.test('events that end a response are read', async (t) => {
  const usage = { input_tokens: 4, output_tokens: 6, output_tokens_details: { reasoning_tokens: 5 } };
  for (const type of ['response.completed', 'response.incomplete']) {
    t.match(responses.readFrame(JSON.stringify({ type, response: { usage } })), {
      isEnd: true,
      usage: { inputTokens: 4, outputTokens: 6, reasoningTokens: 5 },
    });
  }
  t.match(responses.readFrame('{"type":"response.failed","response":{"error":{"code":"server_error","message":"Broken"}}}'), { error: { message: 'Broken' } });
  t.match(responses.readFrame('{"type":"error","message":"Broken"}'), { error: { message: 'Broken' } });
  for (const type of ['response.in_progress', 'response.cancelled']) {
    const facts = responses.readFrame(JSON.stringify({ type, response: { usage } }));
    t.match(facts, { usage: { inputTokens: 4, outputTokens: 6 } }, 'and what an answer has used before it breaks off');
    t.equal(facts.isEnd, undefined);
  }
  t.match(responses.readFrame(JSON.stringify({ response: { usage } }), 'response.completed'), { isEnd: true, usage: { outputTokens: 6 } });
  t.same(responses.readFrame('{"type":"response.output_text.delta","delta":"a"}'), { usage: undefined });
  t.same(responses.readFrame('{'), {});
});

t.test('a request says how long its answer may be by the fields of its own protocol, and how many it asks for', async (t) => {
  const saidBy = (path: string, fields: Record<string, unknown>) =>
    forwardedAnswer({ path, search: '', headers: {}, body: Buffer.alloc(0), fields, hidesUsage: false });
  const limitOf = (path: string, fields: Record<string, unknown>) => saidBy(path, fields).limit;
  t.equal(limitOf(chat.path, { max_tokens: 7, max_completion_tokens: 70, max_output_tokens: 700 }), 70);
  t.equal(limitOf(responses.path, { max_tokens: 7, max_completion_tokens: 70, max_output_tokens: 700 }), 700);
  t.equal(limitOf(chat.path, { max_output_tokens: 1 }), undefined, 'a server may ignore the field of another protocol');
  t.equal(limitOf(responses.path, { max_tokens: 1 }), undefined);
  for (const limit of [0, -1, '7', null]) t.equal(limitOf(chat.path, { max_tokens: limit }), undefined, `${limit} limits nothing`);
  t.equal(saidBy(chat.path, { n: 3, tools: [{ n: 9 }] }).choices, 3);
  t.equal(saidBy(chat.path, { n: '3' }).choices, 3);
  t.equal(saidBy(chat.path, { n: 70_000 }).choices, 9999);
  for (const n of [undefined, null, 1, 0, -3, 2.5, 'x', {}]) t.equal(saidBy(chat.path, { n }).choices, undefined);
  t.equal(saidBy(responses.path, { n: 3 }).choices, undefined);
});

t.test('a body with an error is one, except for a response that has failed, which clients know as an answer', async (t) => {
  const error = { code: 'server_error', message: 'Broken' };
  t.match(responses.errorIn?.({ error }), { message: 'Broken' });
  t.equal(responses.errorIn?.({ object: 'response', status: 'failed', error }), undefined);
  t.equal(responses.errorIn?.({ object: 'response', status: 'completed', error: null }), undefined);
  t.equal(responses.errorIn?.({ error: null }), undefined);
});
