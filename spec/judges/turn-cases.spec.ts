// A conversation keeps its meaning before every provider: each result with its call, texts and calls in their order. Five protocols of clients before each
// provider, judged by the bytes that reach it.
import t, { type Test } from 'tap';
import type { Wire } from '../conformance/wire.ts';
import { dataOf, type Fields, startTranslating } from '../support/dialect-clients.ts';
import { type OutlineStep, outlineOf } from '../support/outline.ts';
import { sendJson } from '../support/upstream.ts';
import { answerWith, WIRES } from '../support/wire-server.ts';

interface Call {
  readonly city: string;
  readonly id: string;
}

/** One message as a client sends it. */
type Spoken =
  | { readonly user: string }
  | { readonly system: string }
  | { readonly assistant: readonly (string | Call)[] }
  | { readonly results: readonly Call[] };

interface Protocol {
  readonly id: 'chat' | 'responses' | 'messages' | 'ollama' | 'contract';
  readonly path: string;
  body(wire: Wire, spoken: readonly Spoken[]): Fields;
}

const call = (city: string, id = `call_${city}`): Call => ({ city, id });
const isCall = (one: string | Call): one is Call => typeof one !== 'string';
const textsOf = (said: readonly (string | Call)[]): string => said.filter((one) => !isCall(one)).join('');
const modelOf = (wire: Wire): string => `${wire.adapter}/${wire.model}`;

const PROTOCOLS: readonly Protocol[] = [
  {
    id: 'chat',
    path: '/v1/chat/completions',
    body: (wire, spoken) => ({ model: modelOf(wire), messages: spoken.flatMap(toChat) }),
  },
  {
    id: 'responses',
    path: '/v1/responses',
    body: (wire, spoken) => ({ model: modelOf(wire), input: spoken.flatMap(toItems) }),
  },
  {
    id: 'messages',
    path: '/v1/messages',
    body: (wire, spoken) => ({ model: modelOf(wire), max_tokens: 1000, messages: spoken.map(toMessage) }),
  },
  {
    id: 'ollama',
    path: '/ollama/api/chat',
    body: (wire, spoken) => ({ model: modelOf(wire), stream: false, messages: spoken.flatMap((one) => toOllama(one, true)) }),
  },
  {
    id: 'contract',
    path: '/v1/chat',
    body: (wire, spoken) => ({ adapter: wire.adapter, model: wire.model, messages: spoken.map(toContract) }),
  },
];

function toChat(spoken: Spoken): Fields[] {
  if ('results' in spoken) return spoken.results.map(({ city, id }) => ({ role: 'tool', tool_call_id: id, content: `in ${city}` }));
  if (!('assistant' in spoken)) return [plain(spoken)];
  const calls = spoken.assistant.filter(isCall).map(({ city, id }) => ({ id, type: 'function', function: { name: 'f', arguments: JSON.stringify({ city }) } }));
  return [{ role: 'assistant', content: textsOf(spoken.assistant) || null, ...(calls.length > 0 && { tool_calls: calls }) }];
}

function toItems(spoken: Spoken): Fields[] {
  if ('results' in spoken) return spoken.results.map(({ city, id }) => ({ type: 'function_call_output', call_id: id, output: `in ${city}` }));
  if (!('assistant' in spoken)) return [plain(spoken)];
  return spoken.assistant.map((one) =>
    isCall(one)
      ? { type: 'function_call', call_id: one.id, name: 'f', arguments: JSON.stringify({ city: one.city }) }
      : { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: one }] },
  );
}

function toMessage(spoken: Spoken): Fields {
  if ('results' in spoken)
    return { role: 'user', content: spoken.results.map(({ city, id }) => ({ type: 'tool_result', tool_use_id: id, content: `in ${city}` })) };
  if (!('assistant' in spoken)) return plain(spoken);
  return {
    role: 'assistant',
    content: spoken.assistant.map((one) =>
      isCall(one) ? { type: 'tool_use', id: one.id, name: 'f', input: { city: one.city } } : { type: 'text', text: one },
    ),
  };
}

function toOllama(spoken: Spoken, withIds: boolean): Fields[] {
  if ('results' in spoken)
    return spoken.results.map(({ city, id }) => ({ role: 'tool', content: `in ${city}`, tool_name: 'f', ...(withIds && { tool_call_id: id }) }));
  if (!('assistant' in spoken)) return [plain(spoken)];
  const calls = spoken.assistant.filter(isCall).map(({ city, id }) => ({ ...(withIds && { id }), function: { name: 'f', arguments: { city } } }));
  return [{ role: 'assistant', content: textsOf(spoken.assistant), ...(calls.length > 0 && { tool_calls: calls }) }];
}

function toContract(spoken: Spoken): Fields {
  if ('results' in spoken) return { role: 'tool', toolResults: spoken.results.map(({ city, id }) => ({ toolCallId: id, content: `in ${city}` })) };
  if (!('assistant' in spoken)) return plain(spoken);
  const toolCalls = spoken.assistant.filter(isCall).map(({ city, id }) => ({ id, name: 'f', arguments: { city } }));
  return { role: 'assistant', content: textsOf(spoken.assistant), ...(toolCalls.length > 0 && { toolCalls }) };
}

function plain(spoken: Exclude<Spoken, { readonly assistant: unknown } | { readonly results: unknown }>): Fields {
  return 'user' in spoken ? { role: 'user', content: spoken.user } : { role: 'system', content: spoken.system };
}

/** Asks a server before a provider for what reaches it of a conversation. */
async function askingFor(t: Test, wire: Wire, { path, body }: Protocol): Promise<(title: string, spoken: readonly Spoken[]) => Promise<OutlineStep[]>> {
  const { call: ask, upstream } = await startTranslating(t, wire, answerWith(wire));
  return async (title, spoken) => {
    const answer = await ask('POST', path, { body: body(wire, spoken) });
    t.equal(answer.status, 200, `${title} ${answer.status === 200 ? '' : answer.text}`);
    const sent = upstream.requests.at(-1);
    return answer.status !== 200 || sent === undefined ? [] : outlineOf(wire, sent);
  };
}

const [OSLO, ROME, BERN] = [call('Oslo'), call('Rome'), call('Bern')];
const START: Spoken = { user: 'weather?' };
const step = (...cities: string[]): OutlineStep[] => [...cities.map((city) => `call ${city}`), ...cities.map((city) => `${city}: in ${city}`)];
const given = (...calls: Call[]): Spoken => ({ results: calls });
const says = (...assistant: (string | Call)[]): Spoken => ({ assistant });

/** Conversations with their parallel calls and results in every form, and what each provider must see of them. */
const CONVERSATIONS: readonly (readonly [title: string, spoken: readonly Spoken[], seen: readonly OutlineStep[]])[] = [
  ['two calls in one message', [START, says(OSLO, ROME), given(OSLO, ROME)], step('Oslo', 'Rome')],
  ['two calls in one message, and each result in its own', [START, says(OSLO, ROME), given(OSLO), given(ROME)], step('Oslo', 'Rome')],
  ['two messages with a call each, then their results', [START, says(OSLO), says(ROME), given(OSLO), given(ROME)], step('Oslo', 'Rome')],
  ['two messages with a call each, and results from last to first', [START, says(OSLO), says(ROME), given(ROME), given(OSLO)], step('Oslo', 'Rome')],
  ['three calls in two messages', [START, says(OSLO), says(ROME, BERN), given(BERN, OSLO), given(ROME)], step('Oslo', 'Rome', 'Bern')],
  ['one call after the other', [START, says(OSLO), given(OSLO), says(ROME), given(ROME)], [...step('Oslo'), ...step('Rome')]],
  [
    'the same id in two messages of one step',
    [START, says(call('Oslo', 'call_0')), says(call('Rome', 'call_0')), given(call('Oslo', 'call_0')), given(call('Rome', 'call_0'))],
    step('Oslo', 'Rome'),
  ],
  [
    'the same id in each step',
    [START, says(call('Oslo', 'call_0')), given(call('Oslo', 'call_0')), says(call('Rome', 'call_0')), given(call('Rome', 'call_0'))],
    [...step('Oslo'), ...step('Rome')],
  ],
  [
    'ids with odd characters, and ones that differ in them only',
    [START, says(call('Oslo', 'a:b/é'), call('Rome', 'a_b/é')), given(call('Rome', 'a_b/é'), call('Oslo', 'a:b/é'))],
    step('Oslo', 'Rome'),
  ],
  ['a system message among the results', [START, says(OSLO, ROME), given(OSLO), { system: 'Be brief.' }, given(ROME)], step('Oslo', 'Rome')],
  ['a text before each call', [START, says('First.', OSLO), says('Then.', ROME), given(OSLO, ROME)], step('Oslo', 'Rome')],
  ['a text after the calls', [START, says(OSLO), says(ROME), says('Wait.'), given(OSLO, ROME)], step('Oslo', 'Rome')],
];

/** Where the format has an order of texts and calls. */
const ORDERED: readonly Protocol['id'][] = ['responses', 'messages'];
const UNORDERED = ['openai-chat', 'ollama'];
const MIXED: readonly Spoken[] = [START, says('First.', OSLO, 'Then.', ROME), given(OSLO, ROME)];
const IN_ORDER = ['user: weather?', 'assistant: First.', 'call Oslo', 'assistant: Then.', 'call Rome', 'Oslo: in Oslo', 'Rome: in Rome'];

for (const wire of WIRES) {
  for (const protocol of PROTOCOLS) {
    t.test(`each result stays with its call, and no text is lost (${protocol.id} before ${wire.name})`, async (t) => {
      const sentFor = await askingFor(t, wire, protocol);
      for (const [title, spoken, seen] of CONVERSATIONS) {
        const sent = await sentFor(title, [...spoken, { user: 'Go on.' }]);
        t.same(
          sent.filter((one) => !/^(user|assistant|system): /.test(one)),
          seen,
          title,
        );
        t.same(
          sent.filter((one) => one.startsWith('user: ')),
          ['user: weather?', 'user: Go on.'],
          title,
        );
        const said = spoken.flatMap((one) => ('assistant' in one ? one.assistant.filter((what) => !isCall(what)) : []));
        for (const text of said)
          t.ok(
            sent.some((one) => one.startsWith('assistant: ') && one.includes(String(text))),
            title,
          );
      }
      if (protocol.id !== 'contract') {
        const late = [START, says(OSLO), { user: 'Hurry!' }, given(OSLO)];
        t.same(await sentFor('a late result', late), ['user: weather?', ...step('Oslo'), 'user: Hurry!'], 'a late result is put to its call');
      }
      if (ORDERED.includes(protocol.id) && !UNORDERED.includes(wire.name))
        t.same(await sentFor('texts and calls', MIXED), IN_ORDER, 'texts and calls keep their order');
    });
  }

  t.test(`the same tool twice without ids is answered in order (ollama before ${wire.name})`, async (t) => {
    const spoken = [START, says(OSLO), says(ROME), given(OSLO), given(ROME)];
    const protocol = PROTOCOLS.find(({ id }) => id === 'ollama') as Protocol;
    const withoutIds = { ...protocol, body: () => ({ model: modelOf(wire), stream: false, messages: spoken.flatMap((one) => toOllama(one, false)) }) };
    const sentFor = await askingFor(t, wire, withoutIds);
    t.same(await sentFor('without ids', spoken), ['user: weather?', ...step('Oslo', 'Rome')]);
  });
}

/** An answer with texts and calls in turns, whole and, where its format is text, as a stream. */
const ANSWERS: Readonly<Record<string, { readonly whole: Fields; readonly stream?: readonly Fields[] }>> = {
  bedrock: {
    whole: {
      output: {
        message: {
          role: 'assistant',
          content: [
            { text: 'First.' },
            { toolUse: { toolUseId: 'a', name: 'f', input: {} } },
            { text: 'Then.' },
            { toolUse: { toolUseId: 'b', name: 'f', input: {} } },
          ],
        },
      },
      stopReason: 'tool_use',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    },
  },
  anthropic: {
    whole: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'text', text: 'First.' },
        { type: 'tool_use', id: 'a', name: 'f', input: {} },
        { type: 'text', text: 'Then.' },
        { type: 'tool_use', id: 'b', name: 'f', input: {} },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 1 },
    },
    stream: [
      { type: 'message_start', message: { usage: { input_tokens: 1 } } },
      ...[
        { type: 'text', text: 'First.' },
        { type: 'tool_use', id: 'a', name: 'f' },
        { type: 'text', text: 'Then.' },
        { type: 'tool_use', id: 'b', name: 'f' },
      ].flatMap((content_block, index) => [
        { type: 'content_block_start', index, content_block },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ],
  },
  google: {
    whole: googleAnswer(),
    stream: [googleAnswer()],
  },
  'openai-responses': {
    whole: {
      id: 'r',
      object: 'response',
      status: 'completed',
      output: [
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'First.' }] },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Then.' }] },
        { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
      ],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    },
  },
};

function googleAnswer(): Fields {
  const parts = [{ text: 'First.' }, { functionCall: { name: 'f', args: {} } }, { text: 'Then.' }, { functionCall: { name: 'f', args: {} } }];
  return { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 } };
}

for (const wire of WIRES) {
  const answer = ANSWERS[wire.name];
  if (answer === undefined) continue;
  t.test(`texts and calls of an answer come back in their order (${wire.name})`, async (t) => {
    const { call: ask, model } = await startTranslating(t, wire, (request, res) => {
      if (!wire.readRequest(request).stream) return sendJson(res, answer.whole);
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end(answer.stream?.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
    });
    for (const stream of answer.stream === undefined ? [false] : [false, true]) {
      const messages = await ask('POST', '/v1/messages', { body: { model, max_tokens: 9, stream, messages: [{ role: 'user', content: 'hi' }] } });
      const blocks = stream
        ? dataOf(messages.text).flatMap((event) => (event['type'] === 'content_block_start' ? [event['content_block'] as Fields] : []))
        : (messages.json['content'] as Fields[]);
      t.same(
        blocks.map(({ type }) => type),
        ['text', 'tool_use', 'text', 'tool_use'],
      );
      const responses = await ask('POST', '/v1/responses', { body: { model, stream, input: 'hi' } });
      const items = stream ? (dataOf(responses.text).at(-1)?.['response'] as Fields | undefined)?.['output'] : responses.json['output'];
      t.same(
        (items as Fields[]).map(({ type }) => type),
        ['message', 'function_call', 'message', 'function_call'],
      );
    }
  });
}
