// What clients of Messages have stumbled over at other gateways: Anthropic's own client before a whole server, with a provider's own bytes behind it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import type { ContentBlockParam, MessageParam } from '@anthropic-ai/sdk/resources/messages';
import t, { type Test } from 'tap';
import type { Wire } from '../conformance/wire.ts';
import { anthropic } from '../conformance/wires/anthropic.ts';
import { bedrock } from '../conformance/wires/bedrock.ts';
import { type Answerer, sendJson } from '../support/upstream.ts';
import { PLAIN, startWireServer, WIRES } from '../support/wire-server.ts';

/** The whole answer, whatever is asked. */
const wholly =
  (wire: Wire): Answerer =>
  (_request, res) => {
    const { type, body } = wire.whole(PLAIN);
    res.writeHead(200, { 'content-type': type });
    res.end(body);
  };

async function rig(t: Test, wire: Wire, answer: Answerer = wholly(wire), model = wire.model) {
  const server = await startWireServer(t, wire, answer);
  const client = new Anthropic({ apiKey: server.token, baseURL: server.url, maxRetries: 0 });
  const sent = (): Record<string, unknown> => JSON.parse(server.upstream.requests.at(-1)?.body ?? 'null');
  return { ...server, client, sent, model: `${wire.adapter}/${model}` };
}

const CLAUDE = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
const THOUGHT = { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'c2ln' } } };
const CALL = { toolUse: { toolUseId: 'tooluse_1', name: 'look', input: { at: 'it' } } };
const LOOK = { name: 'look', description: 'Looks', input_schema: { type: 'object' as const } };
const converse = (content: unknown[], stopReason: string, usage: object = {}): object => ({
  output: { message: { role: 'assistant', content } },
  stopReason,
  usage: { inputTokens: 5, outputTokens: 3, totalTokens: 8, ...usage },
});

t.test('case 30: the state of a provider goes out as a signature and comes back to it as it was, and to no other model', async (t) => {
  const { client, sent, model } = await rig(
    t,
    bedrock,
    (_request, res) => sendJson(res, converse([THOUGHT, { text: 'Let me look.' }, CALL], 'tool_use')),
    CLAUDE,
  );
  const asked = { model, max_tokens: 4000, thinking: { type: 'enabled' as const, budget_tokens: 1024 }, tools: [LOOK] };
  const start: MessageParam[] = [{ role: 'user', content: 'hi' }];
  const { content } = await client.messages.create({ ...asked, messages: start });
  t.match(content, [{ type: 'thinking', thinking: 'Hm.', signature: /^bh1\./ }, { type: 'text' }, { type: 'tool_use', id: 'tooluse_1' }]);
  const next: MessageParam[] = [
    ...start,
    { role: 'assistant', content: content as ContentBlockParam[] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'tooluse_1', content: 'seen' }] },
  ];
  await client.messages.create({ ...asked, messages: next });
  t.match(sent()['messages'], [{}, { role: 'assistant', content: [THOUGHT, { text: 'Let me look.' }, CALL] }, {}]);
  const other = await client.messages.create({ ...asked, model: 'bedrock/eu.anthropic.claude-opus-4-5-20251101-v1:0', messages: next }).withResponse();
  t.equal(other.response.status, 200);
  t.ok(other.response.headers.get('x-blockhouse-warnings'));
  t.notMatch(JSON.stringify(sent()), 'c2ln');
});

t.test('case 30: an empty thought with a signature survives', async (t) => {
  const bare = { reasoningContent: { redactedContent: 'cmVk' } };
  const { client, sent, model } = await rig(t, bedrock, (_request, res) => sendJson(res, converse([bare, { text: 'Yes.' }], 'end_turn')), CLAUDE);
  const asked = { model, max_tokens: 4000, thinking: { type: 'enabled' as const, budget_tokens: 1024 } };
  const { content } = await client.messages.create({ ...asked, messages: [{ role: 'user', content: 'hi' }] });
  t.match(content, [
    { type: 'text', text: 'Yes.' },
    { type: 'thinking', thinking: '', signature: /^bh1\./ },
  ]);
  const messages: MessageParam[] = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: content as ContentBlockParam[] },
    { role: 'user', content: 'and?' },
  ];
  await client.messages.create({ ...asked, messages });
  t.match(sent()['messages'], [{}, { content: [bare, { text: 'Yes.' }] }, {}]);
});

for (const wire of WIRES) {
  t.test(`case 31: a system message in the middle reaches ${wire.name} as system text, and the order of the turns stays`, async (t) => {
    const server = await startWireServer(t, wire, wholly(wire));
    const messages = [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
      { role: 'system', content: 'Now in French.' },
      { role: 'user', content: 'three' },
    ];
    const body = { model: `${wire.adapter}/${wire.model}`, max_tokens: 100, system: 'Be brief.', messages };
    t.match(await server.call('POST', '/v1/messages', { body }), { status: 200, json: { content: [{ type: 'text', text: PLAIN.text.join('') }] } });
    const [request] = server.upstream.requests;
    if (wire.adapter === 'anthropic') t.match(JSON.parse(request?.body ?? ''), { messages, system: 'Be brief.' }, 'as it is: Anthropic knows the role');
    else {
      const { system, texts } = wire.readRequest(request as NonNullable<typeof request>);
      t.equal(system, 'Be brief.\n\nNow in French.');
      t.same(texts, ['user: one', 'assistant: two', 'user: three']);
    }
  });
}

t.test('case 32: a tool runner that asks for a thread goes on without it, and ends with the right answer', async (t) => {
  const { client, model, upstream } = await rig(
    t,
    bedrock,
    ({ body }, res) => sendJson(res, body.includes('toolResult') ? converse([{ text: 'It is cold.' }], 'end_turn') : converse([CALL], 'tool_use')),
    CLAUDE,
  );
  const tool = betaTool({ name: 'look', description: 'Looks', inputSchema: { type: 'object', properties: {} } as const, run: () => 'snow' });
  const last = await client.beta.messages.toolRunner({ model, max_tokens: 500, messages: [{ role: 'user', content: 'hi' }], tools: [tool] });
  t.match(last.content, [{ type: 'text', text: 'It is cold.' }]);
  t.match(upstream.requests.at(-1)?.body, 'snow');
  for (const thread of [{ type: 'create' }, { id: 'thread_1' }]) {
    const refused = await client
      .post('/v1/messages', { body: { model, max_tokens: 5, messages: [{ role: 'user', content: 'hi' }], thread } })
      .catch((error: unknown) => error);
    t.match(refused, { status: 400, error: { error: { details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } } } });
  }
});

t.test('case 33: betas, versions, queries and fields of next month do no harm', async (t) => {
  for (const wire of WIRES) {
    const { call, model } = await rig(t, wire);
    const body = { model, max_tokens: 100, messages: [{ role: 'user', content: 'hi', next: 1 }], next_month: { a: [1] }, tools: [] };
    const headers = { 'anthropic-beta': 'never-heard-2027-01-01', 'anthropic-version': '2027-01-01' };
    t.match(await call('POST', '/v1/messages?beta=true&more=1', { body, headers }), { status: 200, json: { type: 'message' } }, wire.name);
  }
});

t.test('case 34: marks for caching become cache points behind the same places, and usage shows what was read and written', async (t) => {
  const { client, sent, model } = await rig(
    t,
    bedrock,
    (_request, res) => sendJson(res, converse([{ text: 'Yes.' }], 'end_turn', { cacheReadInputTokens: 7, cacheWriteInputTokens: 9 })),
    CLAUDE,
  );
  const cache_control = { type: 'ephemeral' as const };
  const message = await client.messages.create({
    model,
    max_tokens: 100,
    system: [{ type: 'text', text: 'Be brief.', cache_control }],
    tools: [{ ...LOOK, cache_control }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'long', cache_control },
          { type: 'text', text: 'short' },
        ],
      },
    ],
  });
  t.match(message.usage, { input_tokens: 5, cache_read_input_tokens: 7, cache_creation_input_tokens: 9 });
  const point = { cachePoint: { type: 'default' } };
  t.match(sent(), {
    system: [{ text: 'Be brief.' }, point],
    toolConfig: { tools: [{ toolSpec: { name: 'look' } }, point] },
    messages: [{ content: [{ text: 'long' }, point, { text: 'short' }] }],
  });
});

/** Every place that may bear a mark, each with one. */
const marked = (ttl?: '1h') => {
  const cache_control = { type: 'ephemeral' as const, ...(ttl !== undefined && { ttl }) };
  const system = (text: string) => ({ type: 'text' as const, text, cache_control });
  const LATER = { role: 'user' as const, content: [{ type: 'text' as const, text: 'More.' }] };
  return {
    system: { system: [system('Who you are.'), system('What you know.'), { type: 'text' as const, text: 'Today.' }], messages: [LATER] },
    tools: {
      tools: [
        { ...LOOK, cache_control },
        { ...LOOK, name: 'see' },
      ],
      messages: [LATER],
    },
    steps: {
      tools: [LOOK],
      messages: [
        { role: 'user' as const, content: [system('Look.')] },
        {
          role: 'assistant' as const,
          content: [
            { type: 'tool_use' as const, id: 'a', name: 'look', input: {}, cache_control },
            { type: 'tool_use' as const, id: 'b', name: 'look', input: {} },
          ],
        },
        {
          role: 'user' as const,
          content: [
            { type: 'tool_result' as const, tool_use_id: 'a', content: 'seen', cache_control },
            { type: 'tool_result' as const, tool_use_id: 'b', cache_control },
          ],
        },
      ],
    },
  };
};

t.test('case 34: each part of the system, each tool, call and result keeps its own mark and its place', async (t) => {
  for (const ttl of [undefined, '1h'] as const) {
    const point = { cachePoint: { type: 'default', ...(ttl !== undefined && { ttl }) } };
    const { system, tools, steps } = marked(ttl);
    const { client, sent, model } = await rig(t, bedrock, undefined, CLAUDE);
    await client.messages.create({ model, max_tokens: 9, ...system });
    t.same(sent()['system'], [{ text: 'Who you are.' }, point, { text: 'What you know.' }, point, { text: 'Today.' }]);
    await client.messages.create({ model, max_tokens: 9, ...tools });
    t.match(sent()['toolConfig'], { tools: [{ toolSpec: { name: 'look' } }, point, { toolSpec: { name: 'see' } }] });
    await client.messages.create({ model, max_tokens: 9, ...steps });
    t.match(sent()['messages'], [
      { content: [{ text: 'Look.' }, point] },
      { content: [{ toolUse: { toolUseId: 'a' } }, point, { toolUse: { toolUseId: 'b' } }] },
      { content: [{ toolResult: { toolUseId: 'a' } }, point, { toolResult: { toolUseId: 'b' } }, point] },
    ]);
  }
});

t.test('case 34: a request before Anthropic that is translated is as it was, marks included', async (t) => {
  const { client, sent, model, workspace } = await rig(t, anthropic);
  writeFileSync(join(workspace, 'models.json'), JSON.stringify({ native: { anthropic: false } }));
  const { system, tools, steps } = marked('1h');
  for (const asked of [system, tools, steps]) {
    await client.messages.create({ model, max_tokens: 9, ...asked });
    const { messages, ...rest } = asked;
    t.match(sent(), rest);
    t.match(
      sent()['messages'],
      messages.map(({ role, content }) => ({ role, content: content.map((block) => ({ ...block })) })),
    );
  }
});

t.test('case 34: a fifth mark is left out, from the front, and warned of', async (t) => {
  const cache_control = { type: 'ephemeral' as const };
  const content = ['1', '2', '3', '4', '5'].map((text) => ({ type: 'text' as const, text, cache_control }));
  for (const wire of [bedrock, anthropic]) {
    const { client, sent, model, workspace } = await rig(t, wire, undefined, wire === bedrock ? CLAUDE : undefined);
    writeFileSync(join(workspace, 'models.json'), JSON.stringify({ native: { anthropic: false } }));
    const { response } = await client.messages.create({ model, max_tokens: 9, messages: [{ role: 'user', content }] }).withResponse();
    t.match(response.headers.get('x-blockhouse-warnings'), /messages/);
    t.equal(JSON.stringify(sent()).split(/cachePoint|cache_control/).length - 1, 4);
    t.notMatch(JSON.stringify(sent()), /"1"[^"]*"cache/);
  }
});

t.test('case 34: marks reach Anthropic at the same places, also where the request is translated', async (t) => {
  const server = await startWireServer(t, anthropic, wholly(anthropic));
  const body = {
    model: `anthropic/${anthropic.model}`,
    messages: [{ role: 'user', content: 'hi' }],
    max_tokens: 9,
    system: [{ type: 'text', text: 'S', cache_control: { type: 'ephemeral', ttl: '1h' } }],
  };
  await server.call('POST', '/v1/messages', { body });
  t.match(JSON.parse(server.upstream.requests[0]?.body ?? ''), { system: [{ text: 'S', cache_control: { type: 'ephemeral', ttl: '1h' } }] });
});
