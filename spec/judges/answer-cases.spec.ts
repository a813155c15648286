// Further numbered cases of the compatible endpoints, each protocol before each of the five providers: beginnings, usage, schemas and ids.
import t from 'tap';
import type { Meaning } from '../conformance/wire.ts';
import { NEXT, STREAMED_USAGE, toolOf } from '../support/client-readers.ts';
import { CLIENTS, type Client, dataOf, type Fields, startTranslating } from '../support/dialect-clients.ts';
import { answerWith, bodyOf, PLAIN, WIRES } from '../support/wire-server.ts';

const SCHEMA = { type: 'object', properties: { city_of_answer: { type: 'string' } }, required: ['city_of_answer'], additionalProperties: false };
const CALLS: Meaning = { ...PLAIN, text: [], toolCalls: [{ id: 'a:b/c', name: 'weather', arguments: { city: 'Oslo' } }], stop: 'tool_use' };
const FORMATS: Readonly<Record<Client['id'], Fields>> = {
  chat: { response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA, strict: true } } },
  responses: { text: { format: { type: 'json_schema', name: 'place', schema: SCHEMA, strict: true } } },
  messages: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
};
const COUNTS = { chat: ['prompt_tokens', 'completion_tokens'], responses: ['input_tokens', 'output_tokens'], messages: ['input_tokens', 'output_tokens'] };

for (const wire of WIRES) {
  for (const meaning of [PLAIN, CALLS]) {
    const kind = meaning === CALLS ? 'a call' : 'text';
    t.test(`case 1: the first chunk has the role and no other has it, for ${kind} (chat before ${wire.name})`, async (t) => {
      const { call, model } = await startTranslating(t, wire, answerWith(wire, meaning));
      const { text } = await call('POST', '/v1/chat/completions', {
        body: {
          model,
          messages: [{ role: 'user', content: 'hi' }],
          tools: [{ type: 'function', function: { name: 'weather', parameters: SCHEMA } }],
          stream: true,
        },
      });
      const roles = dataOf(text).map((chunk) => (chunk['choices'] as { delta: Fields }[])[0]?.delta['role']);
      t.equal(roles[0], 'assistant');
      t.ok(roles.slice(1).every((role) => role === undefined));
    });
  }

  t.test(`case 5: usage is in a chunk of its own, and only if it is asked for (chat before ${wire.name})`, async (t) => {
    const { call, model } = await startTranslating(t, wire, answerWith(wire));
    for (const include_usage of [true, false]) {
      const body = { model, messages: [{ role: 'user', content: 'hi' }], stream: true, stream_options: { include_usage } };
      const chunks = dataOf((await call('POST', '/v1/chat/completions', { body })).text);
      const counted = chunks.filter(({ usage }) => usage !== undefined && usage !== null);
      t.equal(counted.length, include_usage ? 1 : 0);
      if (include_usage) t.match(counted[0], { choices: [], usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 } });
      t.equal(counted[0], include_usage ? chunks.at(-1) : undefined);
    }
  });

  for (const client of CLIENTS) {
    const at = `${client.id} before ${wire.name}`;

    t.test(`case 6: a provider that counts nothing has its usage estimated, whole and streamed (${at})`, async (t) => {
      const { call, model } = await startTranslating(t, wire, answerWith(wire, { ...PLAIN, usage: undefined }));
      const whole = await call('POST', client.path, { body: client.ask(model) });
      const streamed = await call('POST', client.path, {
        body: client.ask(model, { stream: true, ...(client.id === 'chat' && { stream_options: { include_usage: true } }) }),
      });
      for (const usage of [whole.json['usage'] as Fields | undefined, STREAMED_USAGE[client.id](streamed.text)])
        for (const name of COUNTS[client.id]) t.ok(Number(usage?.[name]) > 0, `${name}: ${usage?.[name]}`);
    });

    t.test(`case 10: the schema of the answer reaches the provider (${at})`, async (t) => {
      const { call, model, upstream } = await startTranslating(t, wire, answerWith(wire));
      const answer = await call('POST', client.path, { body: client.ask(model, FORMATS[client.id]) });
      t.equal(answer.status, 200, answer.text);
      t.match(JSON.stringify(bodyOf(upstream.requests.at(-1))), 'city_of_answer');
    });

    t.test(`case 36: an id of the provider comes back to it with the result, whatever characters it has (${at})`, async (t) => {
      const { call, model, upstream } = await startTranslating(t, wire, answerWith(wire, CALLS));
      const first = await call('POST', client.path, { body: client.ask(model, { tools: [toolOf(client, 'weather', SCHEMA)] }) });
      const second = await call('POST', client.path, {
        body: client.ask(model, { tools: [toolOf(client, 'weather', SCHEMA)], ...NEXT[client.id](first.json) }),
      });
      t.equal(second.status, 200, second.text);
      const last = upstream.requests.at(-1);
      if (last === undefined) return t.fail('nothing was sent');
      const { calls, results } = wire.readRequest(last);
      t.same([calls.length, results.length], [1, 1]);
      t.equal(results[0]?.id, calls[0]?.id, 'the result belongs to the call');
    });
  }
}
