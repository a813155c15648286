// The order of a streamed response before each provider's own bytes, judged by the official SDK, whose helper throws where an event has no item.
import OpenAI from 'openai';
import t from 'tap';
import type { Meaning } from '../conformance/wire.ts';
import { sse } from '../conformance/wire.ts';
import { dataOf, type Fields, startTranslating } from '../support/dialect-clients.ts';
import { orderFaults } from '../support/response-order.ts';
import type { Answerer } from '../support/upstream.ts';
import { answerWith, PLAIN, WIRES } from '../support/wire-server.ts';

const CALLS = [
  { id: 'call_1', name: 'weather', arguments: { city: 'Oslo' } },
  { id: 'call_2', name: 'weather', arguments: { city: 'Rome', days: [1, 2] } },
];
const REASONING = { text: ['Hm', '.'], state: 'c3RhdGU=' };
const MEANINGS: Readonly<Record<string, Meaning>> = {
  'two calls': { ...PLAIN, text: [], toolCalls: CALLS, stop: 'tool_use' },
  'reasoning, text and two calls': { ...PLAIN, reasoning: REASONING, toolCalls: CALLS, stop: 'tool_use' },
  'reasoning and text': { ...PLAIN, reasoning: REASONING },
  'reasoning and a call': { ...PLAIN, reasoning: REASONING, text: [], toolCalls: CALLS.slice(0, 1), stop: 'tool_use' },
};
const outputOf = (events: readonly Fields[]): Fields[] => (events.at(-1)?.['response'] as { output: Fields[] } | undefined)?.output ?? [];
const ASK = {
  input: 'hi',
  include: ['reasoning.encrypted_content' as const],
  reasoning: { effort: 'low' as const },
  tools: [{ type: 'function' as const, name: 'weather', parameters: { type: 'object' }, strict: false }],
};

/** A chunk of a Chat Completions stream. */
const delta = (fields: object, finish: string | null = null): Buffer =>
  sse({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: fields, finish_reason: finish }] });
const piece = (index: number, args: string, name?: string): Buffer =>
  delta({
    tool_calls: [
      { index, ...(name !== undefined && { id: `call_${index}`, type: 'function' }), function: { ...(name !== undefined && { name }), arguments: args } },
    ],
  });

for (const wire of WIRES) {
  for (const [title, meaning] of Object.entries(MEANINGS)) {
    t.test(`${title}: one item after the other, and the SDK puts the same response together (${wire.name})`, async (t) => {
      const { call, model, token, url } = await startTranslating(t, wire, answerWith(wire, meaning));
      const events = dataOf((await call('POST', '/v1/responses', { body: { model, ...ASK, stream: true } })).text);
      t.same(orderFaults(events), []);
      const client = new OpenAI({ apiKey: token, baseURL: `${url}/v1`, maxRetries: 0 });
      const final = await client.responses.stream({ model, ...ASK }).finalResponse();
      t.same(
        final.output.flatMap((item) => (item.type === 'function_call' ? [JSON.parse(item.arguments)] : [])),
        meaning.toolCalls.map((meant) => meant.arguments),
      );
      t.equal(final.output_text, meaning.text.join(''));
    });
  }
  if (wire.name === 'anthropic' || wire.name === 'bedrock') {
    t.test(`signed thinking leaves with its own item, before the text, and comes back (${wire.name})`, async (t) => {
      const { call, model, upstream } = await startTranslating(t, wire, answerWith(wire, MEANINGS['reasoning, text and two calls']));
      const body = { model, ...ASK, stream: true };
      const output = outputOf(dataOf((await call('POST', '/v1/responses', { body })).text));
      t.same(
        output.map(({ type, encrypted_content: state }) => [type, typeof state]),
        [
          ['reasoning', 'string'],
          ['message', 'undefined'],
          ['function_call', 'undefined'],
          ['function_call', 'undefined'],
        ],
      );
      const results = CALLS.map(({ id }) => ({ type: 'function_call_output', call_id: id, output: 'fine' }));
      t.equal((await call('POST', '/v1/responses', { body: { ...body, input: [{ role: 'user', content: 'hi' }, ...output, ...results] } })).status, 200);
      const sent = upstream.requests.at(-1)?.body ?? '';
      t.ok(sent.includes(REASONING.state), 'the state reaches the model');
      t.ok(sent.indexOf(REASONING.state) < sent.indexOf('Hello'), 'in front of the text');
    });
  }
}

t.test('calls whose arguments a provider mixes come one after the other', async (t) => {
  const wire = WIRES.find(({ name }) => name === 'openai-chat');
  if (wire === undefined) return t.fail('no such wire');
  const frames = [
    delta({ role: 'assistant', content: 'So. ' }),
    piece(0, '', 'weather'),
    piece(1, '', 'weather'),
    piece(1, '{"city":'),
    piece(0, '{"city":"Os'),
    delta({ content: 'And.' }),
    piece(1, '"Rome"}'),
    piece(0, 'lo"}'),
    delta({}, 'tool_calls'),
    sse('[DONE]'),
  ];
  const answer: Answerer = (_request, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(Buffer.concat(frames));
  };
  const { call, model } = await startTranslating(t, wire, answer);
  const events = dataOf((await call('POST', '/v1/responses', { body: { model, ...ASK, stream: true } })).text);
  t.same(orderFaults(events), []);
  t.match(outputOf(events), [
    { type: 'message' },
    { arguments: '{"city":"Oslo"}' },
    { arguments: '{"city":"Rome"}' },
    { type: 'message', content: [{ text: 'And.' }] },
  ]);
});
