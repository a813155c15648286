import t, { type Test } from 'tap';
import { digestOf as digestOfAnthropic } from '../../../adapters/anthropic/thinking.ts';
import { digestOf as digestOfBedrock } from '../../../adapters/bedrock/reasoning.ts';
import { createAdapters } from '../../../adapters/index.ts';
import { toPrompt } from '../../../core/gateway/prompt.ts';
import { promptTokens } from '../../../core/gateway/prompt-tokens.ts';
import { promptFor } from '../../../core/gateway/support.ts';
import type { Adapter } from '../../../core/index.ts';
import type { ContentPart, Message } from '../../../core/types.ts';

const tokensOf = (messages: Message[]): number => promptTokens(toPrompt({ adapter: 'a', model: 'm', messages }));
const user = (...content: ContentPart[]): Message => ({ role: 'user', content });
const long = 'x'.repeat(400);

t.test('an image and an audio count 1,600 tokens each, a PDF whose pages nobody sees 10,000, and a document with text as its text', async (t) => {
  const text = { type: 'text', text: long } as const;
  const image = { type: 'image', url: 'https://x/a.png' } as const;
  const pdf = { type: 'document', mediaType: 'application/pdf', data: 'JVBERi0x' } as const;
  const audio = { type: 'audio', mediaType: 'audio/wav', data: 'AAAA' } as const;
  t.equal(tokensOf([user(text)]), 100);
  t.equal(tokensOf([user(text, image, image)]), 3300);
  t.equal(tokensOf([user(text, pdf, audio)]), 11_700, 'small ones');
  const head = Buffer.from('89504e470d0a1a0a0000000d4948445200001f4000001f40', 'hex');
  t.ok(tokensOf([user({ type: 'image', mediaType: 'image/png', data: head.toString('base64') })]) > 25_000, 'a large image in a small file');
  t.equal(tokensOf([user(text, { type: 'document', text: long, name: 'a.txt' })]), 200);
});

t.test('what a provider fetches that takes films counts as one, in a message and in a result: an hour has about a million tokens', async (t) => {
  const film = { type: 'image', url: 'https://www.youtube.com/watch?v=x' } as const;
  const google = createAdapters().find(({ id }) => id === 'google') as Adapter;
  const openai = createAdapters().find(({ id }) => id === 'openai') as Adapter;
  const of = (adapter: Adapter, messages: Message[]) => promptTokens(promptFor({ adapter: adapter.id, model: 'm', messages }, adapter));
  t.equal(of(google, [user(film)]), 1_000_000);
  t.equal(of(google, [user(film, { type: 'document', url: 'https://storage.googleapis.com/b/a' })]), 2_000_000);
  t.equal(of(google, [user({ type: 'image', mediaType: 'image/png', data: 'AAAA' })]), 1600, 'what is in the request is seen');
  t.equal(of(openai, [user(film)]), 1600);
  const asked: Message[] = [
    { role: 'user', content: 'hihi' },
    { role: 'assistant', toolCalls: [{ id: 'c', name: 'look', arguments: {} }] },
    { role: 'tool', toolResults: [{ toolCallId: 'c', content: [film] }] },
  ];
  t.ok(of(google, asked) > 1_000_000);
});

t.test('calls of the history and what their results show count, too', async (t) => {
  const call = { id: 'c', name: 'f'.repeat(4), arguments: { x: 'x'.repeat(388) } };
  const history: Message[] = [
    { role: 'user', content: long },
    { role: 'assistant', toolCalls: [call] },
  ];
  const image = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const;
  t.equal(tokensOf([...history, { role: 'tool', toolResults: [{ toolCallId: 'c', content: long }] }]), 300);
  t.equal(tokensOf([...history, { role: 'tool', toolResults: [{ toolCallId: 'c', content: [{ type: 'text', text: long }, image] }] }]), 1900);
});

t.test('the reasoning of earlier turns does not count', async (t) => {
  const answer = (...content: ContentPart[]): Message[] => [
    { role: 'user', content: 'hihi' },
    { role: 'assistant', content },
  ];
  t.equal(tokensOf(answer({ type: 'reasoning', text: long }, { type: 'text', text: 'yes!' })), 2);
});

t.test('a PDF and an audio count by their size, and the schema of the output as text', async (t) => {
  t.equal(tokensOf([user({ type: 'document', mediaType: 'application/pdf', data: `JVBERi0x${'A'.repeat(399_992)}` })]), 15_000);
  t.equal(tokensOf([user({ type: 'audio', mediaType: 'audio/mpeg', data: `SUQz${'A'.repeat(399_996)}` })]), 3000);
  t.equal(tokensOf([user({ type: 'document', url: 'https://x/a.pdf' })]), 10_000);
  const schema = { type: 'object', properties: { a: { type: 'string', description: long } } };
  const messages = [{ role: 'user', content: 'hi' }] as const;
  const withSchema = toPrompt({ adapter: 'a', model: 'm', messages, config: { output: { type: 'json_schema', name: 'a', schema } } });
  t.ok(promptTokens(withSchema) > 100);
});

const BIG = 'the cat sat on the mat '.repeat(2000); // about 11,500 tokens
const BLANK = '\u3000\u2003'.repeat(10_000);
const CALL = { id: 'c1', name: 'f', arguments: { a: 1 } };

/** The tokens of a conversation whose assistant has this state, and those of the same conversation without it. */
function withState(
  t: Test,
  id: string,
  model: string,
  answer: Pick<Partial<Message>, 'content'> & { providerMetadata?: object },
  ofCall: object = {},
): { tokens: number; without: number } {
  const adapters = createAdapters();
  t.teardown(() => Promise.all(adapters.map((adapter) => adapter.close())));
  const adapter = adapters.find((one) => one.id === id) as Adapter;
  const tokens = (given: object, more: object): number => {
    const call = { role: 'assistant', content: 'hi', toolCalls: [{ ...CALL, ...more }], ...given };
    const messages = [{ role: 'user', content: 'q' }, call, { role: 'tool', toolResults: [{ toolCallId: 'c1', content: 'r' }] }] as Message[];
    return promptTokens(promptFor({ adapter: id, model, messages }, adapter));
  };
  return { tokens: tokens(answer, ofCall), without: tokens(answer.content === undefined ? {} : { content: answer.content }, {}) };
}

const CLAUDE = 'claude-opus-5-5';
const anthropic = (content: object[], model = CLAUDE) => ({
  anthropic: { model, prefix: digestOfAnthropic({ model, max_tokens: 1 }, [{ role: 'user', content: [{ type: 'text', text: 'q' }] }]), content },
});
const ON_BEDROCK = 'anthropic.claude-sonnet-4-5-20250929-v1:0';
const bedrock = (content: object[]) => ({
  bedrock: { model: ON_BEDROCK, prefix: digestOfBedrock({}, [{ role: 'user', content: [{ text: 'q' }] }]), content },
});
const USE = { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } };
const TOOL_USE = { toolUse: { toolUseId: 'c1', name: 'f', input: { a: 1 } } };
const openai = (item: object) => ({ openai: { model: 'o3', reasoning: [{ before: 'c1', item: { type: 'reasoning', encrypted_content: 'x', ...item } }] } });

t.test('a document whose type is that of a text counts as one, whatever it begins with', async (t) => {
  const data = Buffer.from(`%PDF-1.4\n${'the cat sat on the mat '.repeat(20_000)}`).toString('base64');
  t.ok(tokensOf([user({ type: 'document', mediaType: 'text/plain', data })]) > 100_000);
  t.ok(tokensOf([user({ type: 'document', mediaType: 'application/pdf', data })]) < 25_000);
});

t.test('what an earlier answer left for its provider counts as far as it goes back', async (t) => {
  const result = { type: 'web_fetch_tool_result', tool_use_id: 's', content: { type: 'web_fetch_result', content: BIG } };
  for (const [what, id, model, state, ofCall] of [
    ['thinking', 'anthropic', CLAUDE, anthropic([{ type: 'thinking', thinking: BIG, signature: 's' }])],
    ['a result of a tool of the provider', 'anthropic', CLAUDE, anthropic([{ type: 'text', text: 'hi' }, result, USE])],
    ['sources of a text', 'anthropic', CLAUDE, anthropic([{ type: 'text', text: 'hi', citations: [{ cited_text: BIG }] }, USE])],
    [
      'who has called a tool',
      'anthropic',
      CLAUDE,
      anthropic([
        { type: 'text', text: 'hi' },
        { ...USE, caller: { tool_id: BIG } },
      ]),
    ],
    ['blanks behind a text', 'anthropic', CLAUDE, anthropic([{ type: 'text', text: `hi${BLANK}` }, USE])],
    ['reasoning', 'bedrock', ON_BEDROCK, bedrock([{ reasoningContent: { reasoningText: { text: BIG, signature: 's' } } }])],
    ['blanks behind a text', 'bedrock', ON_BEDROCK, bedrock([{ text: `hi${BLANK}` }, TOOL_USE])],
    ['reasoning', 'openai', 'o3', openai({ encrypted_content: BIG })],
    ['reasoning that can be read', 'openai', 'o3', openai({ content: [{ type: 'reasoning_text', text: BIG }] })],
    ['a signature of a text', 'google', 'gemini-3.8-flash', { google: { textSignature: BIG } }],
    ['a signature of a call', 'google', 'gemini-3.8-flash', undefined, { google: { thought_signature: BIG } }],
    ['an id of a call', 'google', 'gemini-3.8-flash', undefined, { google: { id: BIG } }],
  ] as const) {
    const answer = state === undefined ? {} : { providerMetadata: state };
    const { tokens, without } = withState(t, id, model, answer, ofCall === undefined ? {} : { providerMetadata: ofCall });
    t.ok(tokens > without + 10_000, `${id}, ${what}: ${tokens}`);
  }
});

t.test('what does not go back, or is in the message anyway, does not count', async (t) => {
  for (const [what, id, model, state] of [
    ['text and calls', 'anthropic', CLAUDE, anthropic([{ type: 'text', text: BIG }, USE])],
    ['thinking of another model', 'anthropic', CLAUDE, anthropic([{ type: 'thinking', thinking: BIG, signature: 's' }], 'claude-sonnet-5-5')],
    ['text and calls', 'bedrock', ON_BEDROCK, bedrock([{ text: BIG }, TOOL_USE])],
    ['state of another provider', 'bedrock', ON_BEDROCK, anthropic([{ type: 'thinking', thinking: BIG, signature: 's' }])],
    ['reasoning for no call', 'openai', 'o3', { openai: { model: 'o3', reasoning: [{ before: 'c2', item: { type: 'reasoning', encrypted_content: BIG } }] } }],
    ['reasoning for a model that has none', 'openai', 'gpt-4.1', openai({ encrypted_content: BIG })],
    ['a signature of another model', 'google', 'gemini-3.8-flash', { google: { model: 'gemini-3.5-flash', textSignature: BIG } }],
    ['a signature', 'ollama', 'm', { google: { textSignature: BIG } }],
  ] as const) {
    const { tokens, without } = withState(t, id, model, { content: BIG, providerMetadata: state });
    t.ok(tokens < without + 100, `${id}, ${what}: ${tokens}`);
  }
});
