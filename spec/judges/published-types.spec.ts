// Every kind of answer of the compatible endpoints, whole and each event of its stream, is of the type that the official SDK publishes for it: nothing
// missing, nothing too much. Responses are of the Open Responses specification too. Each provider's own bytes are behind them.
import t, { type Test } from 'tap';
import type { Meaning, Wire } from '../conformance/wire.ts';
import { CLIENTS, type Client, dataOf, type Fields, startTranslating } from '../support/dialect-clients.ts';
import { sample, sweep } from '../support/sweep.ts';
import { type Answerer, sendJson } from '../support/upstream.ts';
import { answerWith, PLAIN, startWireServer, WIRES } from '../support/wire-server.ts';
import { complaints, type TypedAnswer } from './typed.ts';

const CALLS = [
  { id: 'call_1', name: 'weather', arguments: { city: 'Oslo' } },
  { id: 'call_2', name: 'weather', arguments: { city: 'Rome' } },
];
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const THOUGHT = { text: ['Let me', ' think.'], state: 'c3RhdGU=' };
const ANSWERS: Readonly<Record<string, Meaning>> = {
  text: PLAIN,
  nothing: { ...PLAIN, text: [] },
  'a call': { ...PLAIN, text: [], toolCalls: CALLS.slice(0, 1), stop: 'tool_use' },
  'text and parallel calls': { ...PLAIN, toolCalls: CALLS, stop: 'tool_use', usage: { input: 12, output: 5, cacheRead: 3, reasoning: 2 } },
  'a cut answer': { ...PLAIN, stop: 'max_tokens' },
  'a filtered answer': { ...PLAIN, stop: 'content_filter' },
  'a refusal': { ...PLAIN, stop: 'refusal' },
  'reasoning before text': { ...PLAIN, reasoning: THOUGHT, usage: { input: 12, output: 5, reasoning: 2 } },
  'reasoning before calls': { ...PLAIN, reasoning: THOUGHT, text: [], toolCalls: CALLS, stop: 'tool_use' },
  'reasoning alone': { ...PLAIN, reasoning: THOUGHT, text: [], stop: 'max_tokens' },
  'structured output': { ...PLAIN, text: ['{"city":', '"Oslo"}'] },
};

const REQUESTS: Readonly<Record<Client['id'], Fields>> = {
  chat: {
    tools: [{ type: 'function', function: { name: 'weather', description: 'Weather', parameters: SCHEMA } }],
    response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA, strict: true } },
    stream_options: { include_usage: true },
    max_tokens: 100,
  },
  responses: {
    tools: [
      { type: 'function', name: 'weather', parameters: SCHEMA },
      { type: 'custom', name: 'run' },
    ],
    text: { format: { type: 'json_schema', name: 'place', schema: SCHEMA, strict: true } },
    instructions: 'Be brief.',
    reasoning: { effort: 'low' },
    include: ['reasoning.encrypted_content'],
    metadata: { a: 'b' },
    max_output_tokens: 100,
  },
  messages: { tools: [{ name: 'weather', input_schema: SCHEMA }], thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 4000 },
};
const TYPES = {
  chat: { whole: 'ChatCompletion', event: 'ChatCompletionChunk' },
  responses: { whole: 'OpenResponse', event: 'OpenResponseEvent' },
  messages: { whole: 'AnyMessage', event: 'MessageEvent' },
} as const;

/** The SDK's type has `output_text`, which the SDK adds itself. */
const withOutputText = (response: Fields): Fields => ({ ...response, output_text: '' });

function typed(client: Client, title: string, answer: Fields): TypedAnswer {
  if (answer['type'] === 'error') return { title, type: 'Failure', value: answer };
  if ('error' in answer && !('id' in answer)) return { title, type: 'ErrorBody', value: answer };
  return { title, type: TYPES[client.id].whole, value: client.id === 'responses' ? withOutputText(answer) : answer };
}

function typedEvents(client: Client, title: string, stream: string): TypedAnswer[] {
  return dataOf(stream)
    .filter(({ type }) => type !== 'ping') // the SDK takes it out before its types begin
    .map((event) => {
      const about = `${title}, event ${String(event['type'] ?? event['object'])}`;
      if (client.id === 'chat' && 'error' in event) return { title: about, type: 'ErrorBody', value: event };
      if (client.id === 'messages' && event['type'] === 'error') return { title: about, type: 'FailureEvent', value: event };
      const value = 'response' in event ? { ...event, response: withOutputText(event['response'] as Fields) } : event;
      return { title: about, type: TYPES[client.id].event, value };
    });
}

async function answersOf(t: Test, wire: Wire, client: Client, turn: number): Promise<TypedAnswer[]> {
  let answer: Answerer = answerWith(wire);
  const { call, model } = await startTranslating(t, wire, (...sent) => answer(...sent));
  const about = `${client.id} before ${wire.name}`;
  const streamOf = async (more: Fields = {}) => (await call('POST', client.path, { body: client.ask(model, { ...more, stream: true }) })).text;
  const all: TypedAnswer[] = [];
  const kinds = sample(Object.entries(ANSWERS), 2, turn).filter(([, { stop }]) => !(stop in wire.gaps));
  for (const [kind, meaning] of kinds) {
    answer = answerWith(wire, meaning);
    for (const [title, more] of [
      [`${kind} (${about})`, {}],
      [`${kind} for a rich request (${about})`, REQUESTS[client.id]],
    ] as const) {
      const whole = await call('POST', client.path, { body: client.ask(model, more) });
      const text = await streamOf(more);
      t.ok(client.hasEndMark(text), `${title} ends`);
      const showsReasoning = meaning.reasoning !== undefined && (client.id !== 'messages' || 'thinking' in more);
      if (showsReasoning) for (const form of [whole.text, text]) t.match(form, /Let me.* think\./s, `${title} shows it`);
      all.push(typed(client, title, whole.json), ...typedEvents(client, title, text));
    }
  }
  for (const { title, status, headers, body } of wire.errors) {
    answer = (_request, res) => {
      res.writeHead(status, { 'content-type': 'application/json', ...headers });
      res.end(body);
    };
    all.push(typed(client, `${title} (${about})`, (await call('POST', client.path, { body: client.ask(model) })).json));
  }
  answer = (_request, res) => {
    const { frames, type } = wire.stream({ ...PLAIN, text: ['Hel', 'lo', ' you'] });
    res.writeHead(200, { 'content-type': type });
    res.end(Buffer.concat([...frames.slice(0, 3), wire.streamError('overloaded')]));
  };
  return [...all, ...typedEvents(client, `a stream that breaks off (${about})`, await streamOf())];
}

/** Judged together at the end: the compiler reads the types of the SDKs once. */
const said: TypedAnswer[] = [];

for (const client of CLIENTS) {
  t.test(`${client.path} answers each kind of answer before providers, whole and as a stream`, async (t) => {
    const answers: TypedAnswer[] = [];
    for (const [turn, wire] of WIRES.entries()) answers.push(...(await answersOf(t, wire, client, turn)));
    t.ok(answers.length > sweep(500, 250), `${answers.length} answers`);
    said.push(...answers);
  });
}

t.test('embeddings, models and token counts are answered', async (t) => {
  const ollama = WIRES.find(({ name }) => name === 'ollama') as Wire;
  const { call } = await startWireServer(t, ollama, (request, res) => {
    if (request.path === '/api/tags') return sendJson(res, { models: [{ name: 'm:1b' }] });
    sendJson(res, { embeddings: [[0.5, 1]], prompt_eval_count: 3 });
  });
  const embeddings = await call('POST', '/v1/embeddings', { body: { model: 'ollama/nomic', input: 'hi' } });
  const models = await call('GET', '/v1/models');
  const [first] = models.json['data'] as { id: string }[];
  const tokens = await call('POST', '/v1/messages/count_tokens', { body: { model: 'ollama/m:1b', messages: [{ role: 'user', content: 'hi' }] } });
  t.ok(first);
  said.push(
    { title: 'embeddings', type: 'CreateEmbeddingResponse', value: embeddings.json },
    { title: 'models', type: 'ModelList', value: models.json },
    { title: 'one model', type: 'Model', value: (await call('GET', `/v1/models/${first?.id}`)).json },
    { title: 'an unknown model', type: 'ErrorBody', value: (await call('GET', '/v1/models/never-heard')).json },
    { title: 'tokens', type: 'MessageTokensCount', value: tokens.json },
  );
});

t.test('every answer, and every event of a stream, is of the published type, and the judge sees what is missing, wrong and too much', async (t) => {
  t.ok(said.length > sweep(1500, 750), `${said.length} answers`);
  const model = { id: 'm', object: 'model', created: 1, owned_by: 'us' };
  const found = await complaints(t, [
    ...said,
    { title: 'right', type: 'Model', value: model },
    { title: 'missing', type: 'Model', value: { id: 'm', object: 'model', created: 1 } },
    { title: 'wrong', type: 'Model', value: { ...model, object: 'models' } },
    { title: 'too much', type: 'Model', value: { ...model, more: 1 } },
  ]);
  t.same(
    found.map((text) => text.split(':')[0]),
    ['missing', 'wrong', 'too much'],
  );
});
