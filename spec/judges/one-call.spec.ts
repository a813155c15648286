// A client that asks for at most one call gets at most one, also from a provider that knows no such limit: each protocol before each of the five.
import t from 'tap';
import type { Meaning } from '../conformance/wire.ts';
import { READ_STREAM, READ_WHOLE, STREAMED_USAGE, toolOf } from '../support/client-readers.ts';
import { CLIENTS, type Client, type Fields, startTranslating } from '../support/dialect-clients.ts';
import { answerWith, PLAIN, WIRES } from '../support/wire-server.ts';

const CALLS: Meaning = {
  ...PLAIN,
  toolCalls: ['Oslo', 'Rome', 'Lima'].map((city, index) => ({ id: `call_${index}`, name: 'weather', arguments: { city } })),
  stop: 'tool_use',
};
const ONE: Readonly<Record<Client['id'], Fields>> = {
  chat: { parallel_tool_calls: false, stream_options: { include_usage: true } },
  responses: { parallel_tool_calls: false },
  messages: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
};
const STOPS = { chat: 'tool_calls', responses: 'completed', messages: 'tool_use' } as const;

for (const wire of WIRES) {
  for (const client of CLIENTS) {
    t.test(`of several calls the first is the answer, whole and streamed, and all are in the usage (${client.id} before ${wire.name})`, async (t) => {
      const { call, model } = await startTranslating(t, wire, answerWith(wire, CALLS));
      const ask = (more: Fields): Fields => client.ask(model, { tools: [toolOf(client, 'weather', { type: 'object' })], ...more });
      const whole = await call('POST', client.path, { body: ask(ONE[client.id]) });
      const streamed = await call('POST', client.path, { body: ask({ ...ONE[client.id], stream: true }) });
      t.match(READ_WHOLE[client.id](whole.json), { calls: [{ arguments: { city: 'Oslo' } }], stop: STOPS[client.id] });
      for (const calls of [READ_WHOLE[client.id](whole.json).calls, READ_STREAM[client.id](streamed.text)]) {
        t.same(
          calls.map((one) => one.arguments),
          [{ city: 'Oslo' }],
        );
      }
      t.ok(client.hasEndMark(streamed.text), streamed.text);
      t.notMatch(streamed.text, /Rome|Lima/);
      t.match(whole.headers['x-blockhouse-warnings'], /parallel_tool_(?:calls|use)/);
      const counts = client.id === 'chat' ? { prompt_tokens: 12, completion_tokens: 5 } : { input_tokens: 12, output_tokens: 5 };
      for (const usage of [whole.json['usage'], STREAMED_USAGE[client.id](streamed.text)]) t.match(usage, counts);
      const free = await call('POST', client.path, { body: ask({}) });
      t.equal(READ_WHOLE[client.id](free.json).calls.length, 3);
    });
  }
}
