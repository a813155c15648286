// Numbered cases about the order of things, before each of the five providers: events of a stream, blocks of a message, images among results.
import t from 'tap';
import type { Meaning } from '../conformance/wire.ts';
import { toolOf } from '../support/client-readers.ts';
import { CLIENTS, type Client, dataOf, type Fields, startTranslating } from '../support/dialect-clients.ts';
import { answerWith, bodyOf, PLAIN, WIRES } from '../support/wire-server.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const ANSWER: Meaning = {
  ...PLAIN,
  reasoning: { text: ['Hm', '.'], state: 'b3BhcXVlIHN0YXRl' },
  toolCalls: [{ id: 'call_1', name: 'look', arguments: { at: 'it' } }],
  stop: 'tool_use',
};
const THINKING = { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 4000 };
const CALLS = ['call_1', 'call_2'];

/** A conversation with two calls, the first of which has an image for a result. */
const SEEN: Readonly<Record<Client['id'], Fields>> = {
  chat: {
    messages: [
      { role: 'user', content: 'look' },
      { role: 'assistant', content: null, tool_calls: CALLS.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } })) },
      { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }] },
      { role: 'tool', tool_call_id: 'call_2', content: 'nothing' },
    ],
  },
  responses: {
    input: [
      { role: 'user', content: 'look' },
      ...CALLS.map((call_id) => ({ type: 'function_call', call_id, name: 'look', arguments: '{}' })),
      { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_image', image_url: `data:image/png;base64,${PNG}` }] },
      { type: 'function_call_output', call_id: 'call_2', output: 'nothing' },
    ],
  },
  messages: {
    messages: [
      { role: 'user', content: 'look' },
      { role: 'assistant', content: CALLS.map((id) => ({ type: 'tool_use', id, name: 'look', input: {} })) },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }] },
          { type: 'tool_result', tool_use_id: 'call_2', content: 'nothing' },
        ],
      },
    ],
  },
};

for (const wire of WIRES) {
  for (const client of CLIENTS) {
    const at = `${client.id} before ${wire.name}`;

    t.test(`case 13: an image in the result of a tool arrives, and never between two results (${at})`, async (t) => {
      const { call, model, upstream } = await startTranslating(t, wire, answerWith(wire));
      const tools = [toolOf(client, 'look', { type: 'object' })];
      const answer = await call('POST', client.path, { body: client.ask(model, { ...SEEN[client.id], tools }) });
      t.equal(answer.status, 200, answer.text);
      const sent = upstream.requests.at(-1);
      if (sent === undefined) return t.fail('nothing was sent');
      t.ok(sent.body.includes(PNG));
      t.equal(wire.readRequest(sent).results.length, 2);
      const roles = (bodyOf(sent) as { messages?: { role: string }[] }).messages?.map(({ role }) => role);
      if (wire.name === 'openai-chat') t.same(roles, ['user', 'assistant', 'tool', 'tool', 'user']);
    });
  }

  t.test(
    `cases 19 and 20: events are numbered from the beginning, and every item is added, done, and in the response (responses before ${wire.name})`,
    async (t) => {
      const { call, model } = await startTranslating(t, wire, answerWith(wire, ANSWER));
      const body = { model, input: 'hi', stream: true, include: ['reasoning.encrypted_content'] };
      const events = dataOf((await call('POST', '/v1/responses', { body })).text);
      t.same(
        events.map((event) => event['sequence_number']),
        events.map((_, index) => index),
      );
      const types = events.map(({ type }) => type);
      t.same([...types.slice(0, 2), types.at(-1)], ['response.created', 'response.in_progress', 'response.completed']);
      const of = (type: string): Fields[] => events.filter((event) => event['type'] === type);
      const [added, done] = [of('response.output_item.added'), of('response.output_item.done')];
      t.same(
        added.map((event) => event['output_index']),
        added.map((_, index) => index),
      );
      const inOrder = [...done].sort((one, other) => Number(one['output_index']) - Number(other['output_index'])).map(({ item }) => item as Fields);
      t.same(
        inOrder.map(({ id, type }) => [id, type]),
        added.map(({ item }) => [(item as Fields)['id'], (item as Fields)['type']]),
      );
      t.same((events.at(-1)?.['response'] as Fields | undefined)?.['output'], inOrder);
      t.same(
        inOrder.slice(0, 3).map(({ type }) => type),
        ['reasoning', 'message', 'function_call'],
      );
    },
  );

  t.test(
    `case 29: the start has a usage and comes first, and thinking, text and call are blocks one after the other (messages before ${wire.name})`,
    async (t) => {
      const { call, model } = await startTranslating(t, wire, answerWith(wire, ANSWER));
      const body = { model, messages: [{ role: 'user', content: 'hi' }], stream: true, ...THINKING };
      const events = dataOf((await call('POST', '/v1/messages', { body })).text).filter(({ type }) => type !== 'ping');
      t.match(events[0], { type: 'message_start', message: { usage: { input_tokens: Number, output_tokens: Number } } });
      const blocks = events.filter(({ type }) => type === 'content_block_start').map((event) => [event['index'], (event['content_block'] as Fields)['type']]);
      t.same(blocks.slice(0, 3), [
        [0, 'thinking'],
        [1, 'text'],
        [2, 'tool_use'],
      ]);
      const borders = events.filter(({ type }) => type === 'content_block_start' || type === 'content_block_stop').map((event) => event['index']);
      t.same(
        borders,
        blocks.flatMap(([index]) => [index, index]),
      );
      t.same(
        events.slice(-2).map(({ type }) => type),
        ['message_delta', 'message_stop'],
      );
    },
  );
}
