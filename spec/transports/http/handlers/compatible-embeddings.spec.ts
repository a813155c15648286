import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import type { Wire } from '../../../conformance/wire.ts';
import { anthropic } from '../../../conformance/wires/anthropic.ts';
import { bedrock } from '../../../conformance/wires/bedrock.ts';
import { google } from '../../../conformance/wires/google.ts';
import { ollama } from '../../../conformance/wires/ollama.ts';
import { openaiChat } from '../../../conformance/wires/openai-chat.ts';
import { startServer } from '../../../support/server.ts';
import { type Answerer, type RecordedRequest, sendJson, startUpstream } from '../../../support/upstream.ts';

const numberOf = (text: string): number => Number(text.replace(/\D/g, ''));

/** What each provider answers: for the text `t7` the vector 7, 0.25. */
const ANSWERS: Readonly<Record<string, (request: RecordedRequest) => unknown>> = {
  openai: ({ body }) => ({
    data: textsIn(body, 'input')
      .map((text, index) => ({ index, embedding: [numberOf(text), 0.25] }))
      .reverse(),
    usage: { prompt_tokens: 1 },
  }),
  google: ({ body }) => ({
    embeddings: (JSON.parse(body).requests as { content: { parts: { text: string }[] } }[]).map(({ content }) => ({
      values: [numberOf(content.parts[0]?.text ?? ''), 0.25],
    })),
  }),
  bedrock: ({ body }) => ({ embeddings: textsIn(body, 'texts').map((text) => [numberOf(text), 0.25]) }),
  ollama: ({ body }) => ({ embeddings: textsIn(body, 'input').map((text) => [numberOf(text), 0.25]), prompt_eval_count: 1 }),
};
const textsIn = (body: string, name: string): string[] => JSON.parse(body)[name];

async function rig(t: Test, wire: Wire, answer: Answerer) {
  const upstream = await startUpstream(t, answer);
  const server = await startServer(t, { adapters: [wire.create()], env: wire.env(upstream.url), random: () => 0 });
  if (wire.stored !== undefined) writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify(wire.stored));
  return { ...server, upstream, client: new OpenAI({ apiKey: server.token, baseURL: `${server.url}/v1`, maxRetries: 0 }) };
}

for (const [wire, model] of [
  [openaiChat, 'text-embedding-3-small'],
  [google, 'gemini-embedding-001'],
  [bedrock, 'cohere.embed-multilingual-v3'],
  [ollama, 'nomic-embed-text'],
] as const) {
  t.test(`case 40: 200 inputs through ${wire.adapter}, as base64 and as numbers, in their order`, async (t) => {
    const { client, core } = await rig(t, wire, (request, res) => sendJson(res, ANSWERS[wire.adapter]?.(request)));
    const input = Array.from({ length: 200 }, (_, index) => `t${index}`);
    const asked = { model: `${wire.adapter}/${model}`, input };
    const byDefault = await client.embeddings.create(asked);
    const asNumbers = await client.embeddings.create({ ...asked, encoding_format: 'float' });
    t.same(byDefault.data, asNumbers.data, 'the client asks for base64 by itself');
    t.same(
      asNumbers.data.map(({ embedding }) => embedding),
      input.map((_, index) => [index, 0.25]),
    );
    t.match(asNumbers, { object: 'list', model: asked.model });
    t.ok(asNumbers.usage.prompt_tokens > 0);
    t.match((await core.accounts?.costs('model'))?.rows, [{ key: asked.model, calls: 2 }]);
  });
}

t.test('a provider without embeddings is a 400 that names the model', async (t) => {
  const { client } = await rig(t, anthropic, (_request, res) => sendJson(res, {}));
  t.match(await client.embeddings.create({ model: 'anthropic/claude-x', input: 'hi' }).catch((error: unknown) => error), {
    status: 400,
    param: 'model',
    message: /Anthropic makes none/,
  });
});

t.test('of an alias, the next model is asked at once, and the last one again', async (t) => {
  const { client, core, upstream } = await rig(t, openaiChat, (request, res, index) =>
    index < 3 ? sendJson(res, { error: { message: 'busy' } }, 503) : sendJson(res, ANSWERS['openai']?.(request)),
  );
  await core.modelsFile?.setAlias('vectors', ['openai/a', 'openai/b']);
  const { data, response } = await client.embeddings.create({ model: 'vectors', input: 't3', encoding_format: 'float' }).withResponse();
  t.match(data, { model: 'vectors', data: [{ embedding: [3, 0.25] }] });
  t.equal(response.headers.get('x-blockhouse-model'), 'openai/b');
  t.same(
    upstream.requests.map(({ body }) => JSON.parse(body).model),
    ['a', 'b', 'b', 'b'],
  );
});

t.test('a key is held to its models and its caps', async (t) => {
  const { call, core } = await rig(t, ollama, (request, res) => sendJson(res, ANSWERS['ollama']?.(request)));
  const key = await core.keys?.create('app', { models: ['ollama/allowed'], tokensPerDay: 1 });
  const ask = (model: string) => call('POST', '/v1/embeddings', { token: false, headers: { authorization: `Bearer ${key}` }, body: { model, input: 't1' } });
  t.match(await ask('ollama/other'), { status: 403, json: { error: { code: 'model_not_allowed' } } });
  t.match(await ask('ollama/allowed'), { status: 200 });
  t.match(await ask('ollama/allowed'), { status: 429, json: { error: { code: 'insufficient_quota' } } });
});

t.test('a client that leaves ends the call', async (t) => {
  const { open, upstream } = await rig(t, ollama, () => undefined);
  const request = open('POST', '/v1/embeddings', { body: { model: 'ollama/m', input: 'hi' } });
  request.on('error', () => undefined);
  const { closed } = await upstream.arrived(0);
  request.destroy();
  await closed;
  t.pass();
});

t.test("Ollama's own two forms have the same vectors", async (t) => {
  const { call } = await rig(t, ollama, (request, res) => sendJson(res, ANSWERS['ollama']?.(request)));
  t.match(await call('POST', '/ollama/api/embed', { body: { model: 'ollama/m', input: ['t1', 't2'] } }), {
    json: {
      embeddings: [
        [1, 0.25],
        [2, 0.25],
      ],
    },
  });
  t.match(await call('POST', '/ollama/api/embeddings', { body: { model: 'ollama/m', prompt: 't7' } }), { json: { embedding: [7, 0.25] } });
  t.match(await call('POST', '/ollama/api/embed', { body: { model: 'ollama/m' } }), { status: 400, json: { error: /^input must be/ } });
});
