// The state that a provider wants back of its reasoning, on its way through a client of each protocol that has a place for it.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import t from 'tap';
import type { Meaning } from '../conformance/wire.ts';
import { NEXT, toolOf } from '../support/client-readers.ts';
import { CLIENTS, type Client, type Fields, startTranslating } from '../support/dialect-clients.ts';
import type { TestServer } from '../support/server.ts';
import { answerWith, bodyOf, PLAIN, WIRES } from '../support/wire-server.ts';

const STATE = 'b3BhcXVlIHN0YXRl';
const ANSWER: Meaning = {
  ...PLAIN,
  reasoning: { text: ['Hm', '.'], state: STATE },
  toolCalls: [{ id: 'call_1', name: 'weather', arguments: { city: 'Oslo' } }],
  stop: 'tool_use',
};
/** A model that reasons and another one, of each provider that has such a state: Chat Completions and Ollama have none. */
const MODELS: Readonly<Record<string, readonly [model: string, other: string]>> = {
  bedrock: ['us.anthropic.claude-haiku-4-5-20251001-v1:0', 'eu.anthropic.claude-opus-4-5-20251101-v1:0'],
  'openai-responses': ['gpt-5.4', 'gpt-5.4-mini'],
  google: ['gemini-2.5-flash', 'gemini-2.5-pro'],
  anthropic: ['claude-haiku-4-5', 'claude-opus-4-5'],
};
/** How a client asks for the state; Chat Completions has no place for it. */
const ASKING: Readonly<Partial<Record<Client['id'], Fields>>> = {
  responses: { include: ['reasoning.encrypted_content'], reasoning: { effort: 'low' } },
  messages: { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 4000 },
};

/** The answer as the official client puts it together. */
async function asked(client: Client, { url, token }: TestServer, body: Fields, streamed: boolean): Promise<unknown> {
  if (client.id === 'responses') {
    const { responses } = new OpenAI({ apiKey: token, baseURL: `${url}/v1`, maxRetries: 0 });
    return streamed
      ? responses.stream(body as Parameters<typeof responses.stream>[0]).finalResponse()
      : responses.create(body as unknown as Parameters<typeof responses.create>[0]);
  }
  const { messages } = new Anthropic({ apiKey: token, baseURL: url, maxRetries: 0 });
  return streamed
    ? messages.stream(body as unknown as Parameters<typeof messages.stream>[0]).finalMessage()
    : messages.create(body as unknown as Parameters<typeof messages.create>[0]);
}

for (const wire of WIRES) {
  const [model, other] = MODELS[wire.name] ?? [];
  for (const client of CLIENTS) {
    const asking = ASKING[client.id];
    if (asking === undefined || model === undefined) continue;

    t.test(
      `cases 27 and 30: the state of an answer comes back to its model, whole and streamed, and to no other (${client.id} before ${wire.name})`,
      async (t) => {
        const server = await startTranslating(t, wire, answerWith(wire, ANSWER));
        const sent = (): string => server.upstream.requests.at(-1)?.body ?? '';
        const ask = (as: string | undefined, more: Fields): Fields =>
          client.ask(`${wire.adapter}/${as}`, { ...asking, tools: [toolOf(client, 'weather', { type: 'object' })], ...more });
        for (const streamed of [false, true]) {
          const next = NEXT[client.id]((await asked(client, server, ask(model, {}), streamed)) as Fields);
          t.notMatch(sent(), STATE);
          t.notMatch(JSON.stringify(next), STATE, 'it is packed');
          t.match(await server.call('POST', client.path, { body: ask(model, next) }), { status: 200 });
          t.match(sent(), STATE);
          const answer = await server.call('POST', client.path, { body: ask(other, next) });
          t.equal(answer.status, 200, answer.text);
          t.ok(answer.headers['x-blockhouse-warnings']);
          t.notMatch(sent(), STATE);
        }
      },
    );
  }
}

t.test("the signature of a call is where Google's own endpoint for OpenAI's clients has it, and comes back from there (chat before google)", async (t) => {
  const wire = WIRES.find(({ name }) => name === 'google');
  const client = CLIENTS.find(({ id }) => id === 'chat');
  if (wire === undefined || client === undefined) return t.fail('there is no such wire');
  const { url, token, upstream } = await startTranslating(t, wire, answerWith(wire, ANSWER));
  const { chat } = new OpenAI({ apiKey: token, baseURL: `${url}/v1`, maxRetries: 0 });
  const model = 'google/gemini-3.8-flash';
  const tools = [toolOf(client, 'weather', { type: 'object' })] as unknown as OpenAI.Chat.ChatCompletionTool[];
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: 'user', content: 'hi' }];
  for (const answer of [
    await chat.completions.create({ model, messages, tools }),
    await chat.completions.stream({ model, messages, tools }).finalChatCompletion(),
  ]) {
    const message = answer.choices[0]?.message;
    const [call] = message?.tool_calls ?? [];
    if (message === undefined || call === undefined) return t.fail('there is no call');
    t.match(call, { extra_content: { google: { thought_signature: STATE } } });
    const { id, type, function: fn } = call as OpenAI.Chat.ChatCompletionMessageFunctionToolCall;
    // As a client keeps it that knows only Google's field.
    const kept = { id, type, function: { name: fn.name, arguments: fn.arguments }, extra_content: { google: { thought_signature: STATE } } };
    await chat.completions.create({
      model,
      tools,
      messages: [...messages, { role: 'assistant', content: message.content, tool_calls: [kept] }, { role: 'tool', tool_call_id: id, content: '3 C' }],
    });
    t.match(bodyOf(upstream.requests.at(-1)), {
      contents: [{}, { parts: [{ text: 'Hello' }, { functionCall: { name: 'weather' }, thoughtSignature: STATE }] }],
    });
  }
});
