import t from 'tap';
import { toPrompt } from '../../../core/gateway/prompt.ts';
import { promptTokens } from '../../../core/gateway/prompt-tokens.ts';
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
