import t from 'tap';
import { ANTHROPIC } from '../../../../transports/http/dialects/anthropic/index.ts';
import { OLLAMA_CHAT } from '../../../../transports/http/dialects/ollama/index.ts';
import { OPENAI_CHAT } from '../../../../transports/http/dialects/openai-chat/index.ts';
import { OPENAI_RESPONSES } from '../../../../transports/http/dialects/openai-responses/index.ts';
import type { Dialect } from '../../../../transports/http/dialects/shared/dialect.ts';
import { questionOf } from '../../../../transports/http/handlers/block-question.ts';

type Fields = Record<string, unknown>;
const user = (content: unknown): Fields => ({ role: 'user', content });
const assistant = (content: unknown): Fields => ({ role: 'assistant', content });
const ask = <E>(dialect: Dialect<E>, body: Fields) => questionOf(dialect.read({ model: 'block/a', ...body }), { model: 'block/a', ...body });
const chat = (...messages: Fields[]) => ask(OPENAI_CHAT, { messages });
const fieldsOf = ({ warnings }: ReturnType<typeof questionOf>): string[] => warnings.map(({ field }) => field);

t.test('the message is all that the user has said after the last answer', async (t) => {
  t.equal(chat(user('Hi')).message, 'Hi');
  t.equal(chat(user('old'), assistant('answer'), user('one'), user('two')).message, 'one\n\ntwo');
  t.equal(
    chat(
      user([
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ]),
    ).message,
    'one\n\ntwo',
  );
  t.equal(chat(assistant('a'), user('one'), { role: 'system', content: 's' }, user('two')).message, 'one\n\ntwo');
  t.equal(ask(OPENAI_RESPONSES, { input: 'Hi' }).message, 'Hi');
  t.equal(ask(OPENAI_RESPONSES, { input: [user('old'), assistant('a'), user([{ type: 'input_text', text: 'new' }])] }).message, 'new');
  t.equal(ask(ANTHROPIC, { max_tokens: 9, messages: [user('old'), assistant('a'), user([{ type: 'text', text: 'new' }])] }).message, 'new');
  t.equal(ask(OLLAMA_CHAT, { messages: [user('old'), assistant('a'), user('new')] }).message, 'new');
});

t.test('the same conversation is known in every protocol, and another one is another', async (t) => {
  const messages = [user('old'), assistant('a'), user('new')];
  const all = [
    chat({ role: 'system', content: `It is ${Math.random()} o'clock.` }, ...messages),
    ask(OPENAI_RESPONSES, { input: messages, instructions: 'Be brief.' }),
    ask(ANTHROPIC, { max_tokens: 9, messages, system: 'Be kind.' }),
    ask(OLLAMA_CHAT, { messages }),
  ];
  t.equal(new Set(all.map(({ conversation }) => conversation)).size, 1);
  t.not(chat(user('old'), assistant('b'), user('new')).conversation, all[0]?.conversation);
});

t.test('what only steers a model is ignored with a warning, under the name that the client knows', async (t) => {
  const steered = ask(OPENAI_CHAT, {
    messages: [{ role: 'system', content: 's' }, user('Hi')],
    temperature: 0.5,
    max_completion_tokens: 9,
    stop: ['x'],
    seed: 1,
    user: 'u',
  });
  t.strictSame(fieldsOf(steered).sort(), ['max_completion_tokens', 'messages[0]', 'seed', 'stop', 'temperature', 'user'].sort());
  t.match(fieldsOf(ask(ANTHROPIC, { max_tokens: 9, messages: [user('Hi')], system: 's', thinking: { type: 'enabled', budget_tokens: 2000 } })), [
    'system',
    'max_tokens',
    'thinking',
  ]);
  t.match(fieldsOf(ask(OPENAI_RESPONSES, { input: 'Hi', instructions: 's', reasoning: { effort: 'high' } })), ['instructions', 'reasoning']);
  t.strictSame(fieldsOf(chat(user('Hi'))), []);
});

t.test('what would make the answer a wrong one is refused by its name', async (t) => {
  const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
  const call = { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] };
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const refused = (path: string | RegExp, work: () => unknown): void => void t.throws(work, { code: 'INVALID_REQUEST', details: [{ path }] }, String(path));
  refused('tools', () => ask(OPENAI_CHAT, { messages: [user('Hi')], tools: [tool] }));
  refused('functions', () => ask(OPENAI_CHAT, { messages: [user('Hi')], functions: [{ name: 'f' }] }));
  refused('tools', () => ask(OPENAI_RESPONSES, { input: 'Hi', tools: [{ type: 'web_search' }] }));
  refused('response_format', () => ask(OPENAI_CHAT, { messages: [user('Hi')], response_format: { type: 'json_object' } }));
  refused('text.format', () => ask(OPENAI_RESPONSES, { input: 'Hi', text: { format: { type: 'json_object' } } }));
  refused('format', () => ask(OLLAMA_CHAT, { messages: [user('Hi')], format: 'json' }));
  refused('messages[0].content[1]', () => chat(user([{ type: 'text', text: 'see' }, image])));
  refused('messages', () => chat(user('Hi'), assistant('Hello')));
  refused('messages', () => chat(user(' ')));
  refused('messages[2]', () => chat(user('Hi'), call, { role: 'tool', tool_call_id: 'c', content: 'r' }));
  refused('messages[1]', () => chat(user('Hi'), { role: 'tool', tool_call_id: 'x', content: 'of no call' }));
  refused('messages[0]', () => ask(ANTHROPIC, { max_tokens: 9, messages: [user([{ type: 'tool_result', tool_use_id: 'x', content: 'r' }])] }));
  refused('input[0]', () => ask(OPENAI_RESPONSES, { input: [{ type: 'function_call_output', call_id: 'x', output: 'r' }] }));
  refused('previous_response_id', () => ask(OPENAI_RESPONSES, { input: 'Hi', previous_response_id: 'r' }));
  refused('conversation', () => ask(OPENAI_RESPONSES, { input: 'Hi', conversation: 'c' }));
  refused('background', () => ask(OPENAI_RESPONSES, { input: 'Hi', background: true }));
  refused('n', () => ask(OPENAI_CHAT, { messages: [user('Hi')], n: 2 }));
});

t.test('calls and images of earlier turns do no harm', async (t) => {
  const call = { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] };
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  t.equal(chat(user([image]), call, { role: 'tool', tool_call_id: 'c', content: 'r' }, assistant('done'), user('And?')).message, 'And?');
});
