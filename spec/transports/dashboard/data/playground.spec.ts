import t from 'tap';
import { compile, schemas, type Validator } from '../../../../core/index.ts';
import { curlOf, EMPTY, type Question, requestOf, turnsAfter } from '../../../../transports/dashboard/data/playground.ts';
import { chatEvent } from '../../../../transports/dashboard/data/responses.ts';
import { answerFacts } from '../../../../transports/dashboard/text/playground.ts';
import { OPENAI_RESPONSES } from '../../../../transports/http/dialects/openai-responses/index.ts';

const PROVIDERS = ['ollama', 'gpu'];
const QUESTION: Question = {
  ...EMPTY,
  system: 'Be brief.',
  message: 'Hello',
  maxTokens: '100',
  temperature: '0.5',
  tools: '[{"name":"find","description":"Finds","parameters":{"type":"object","properties":{}}}]',
  schema: '{"type":"object"}',
};
const CALL = { id: 'c1', name: 'find', arguments: { what: 'it' } };
const TURNS = turnsAfter({ text: 'I look.', toolCalls: [CALL] } as unknown as Parameters<typeof turnsAfter>[0], { c1: 'Found.' });

t.test('a model of a provider is asked by the form of the gateway, and any other name by that of programs', async (t) => {
  const pathTo = (model: string): string => requestOf(QUESTION, model, [], PROVIDERS).path;
  t.equal(pathTo('ollama/gemma4'), '/v1/chat');
  t.equal(pathTo('gpu/org/model'), '/v1/chat');
  t.equal(pathTo('quick'), '/v1/responses');
  t.equal(pathTo('team/quick'), '/v1/responses', 'an alias may have a slash');
  t.equal(requestOf(QUESTION, 'gpu/x', [], undefined).path, '/v1/chat', 'also before the providers are known');
  t.throws(() => pathTo('ollama/'), /provider\/model/);
  t.throws(() => requestOf({ ...QUESTION, tools: '{' }, 'ollama/gemma4', [], PROVIDERS), /^Tools: this is not JSON/);
});

t.test('both forms of a question say the same', async (t) => {
  const check: Validator<unknown> = compile(schemas.ChatRequest);
  const chat = requestOf(QUESTION, 'ollama/gemma4', TURNS, PROVIDERS).body as Record<string, unknown>;
  check(chat);
  t.match(chat, { adapter: 'ollama', model: 'gemma4', config: { maxTokens: 100, temperature: 0.5 } });
  // As it arrives: JSON leaves out what is undefined.
  const sent: unknown = JSON.parse(JSON.stringify(requestOf(QUESTION, 'quick', TURNS, PROVIDERS).body));
  const { chat: read, model, stream } = OPENAI_RESPONSES.read(sent);
  t.same({ model, stream }, { model: 'quick', stream: true });
  t.match(read.messages, chat['messages'] as object[]);
  t.match(read.config, { maxTokens: 100, temperature: 0.5, output: { type: 'json_schema', schema: { type: 'object' } } });
  t.match(read.tools, [{ name: 'find', description: 'Finds' }]);
});

t.test('the events of a response are shown as those of a chat', async (t) => {
  t.same(chatEvent('response.output_text.delta', { delta: 'Hel' }), ['content', { text: 'Hel' }]);
  t.same(chatEvent('response.reasoning_summary_text.delta', { delta: 'Hm' }), ['reasoning', { text: 'Hm' }]);
  t.same(chatEvent('response.created', { response: { status: 'in_progress' } }), ['', {}]);
  t.same(chatEvent('error', { message: 'No.' }), ['error', { error: 'No.' }]);
  t.same(chatEvent('response.failed', { response: { error: { message: 'No.' } } }), ['error', { error: 'No.' }]);
  const usage = { input_tokens: 30, output_tokens: 4, input_tokens_details: { cached_tokens: 20 } };
  const output = [
    { type: 'message', content: [] },
    { type: 'function_call', call_id: 'c1', name: 'find', arguments: '{"what":"it"}' },
  ];
  t.same(chatEvent('response.completed', { response: { status: 'completed', usage, output } }), [
    'done',
    { stopReason: 'completed', toolCalls: [CALL], usage: { inputTokens: 30, outputTokens: 4, cacheReadTokens: 20, cacheWriteTokens: 0 } },
  ]);
  const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  t.match(chatEvent('response.incomplete', { response: cut }), ['done', { stopReason: 'max_output_tokens' }]);
});

t.test('the line below an answer has its cost, and the model where another name was asked', async (t) => {
  const facts = { model: 'quick', firstTextMs: 340, durationMs: 3800, stopReason: 'completed', usage: { inputTokens: 34, outputTokens: 152 } };
  const shown = (more: Pick<Parameters<typeof answerFacts>[0], 'answeredBy' | 'costUsd'>): string => answerFacts({ ...facts, ...more }).join(' · ');
  t.equal(shown({ answeredBy: 'ollama/gemma4', costUsd: 0.0064 }), 'ollama/gemma4 · 34 in, 152 out · $0.0064 · 340 ms to first text · 3.8 s · completed');
  t.match(shown({ answeredBy: 'quick', costUsd: null }), /^34 in, 152 out · not priced · /);
  t.notMatch(shown({ answeredBy: 'quick', costUsd: undefined }), /priced|\$/);
  const estimated = { ...facts, usage: { ...facts.usage, estimated: true } };
  t.match(answerFacts({ ...estimated, answeredBy: undefined, costUsd: 0 }), ['34 in, 152 out', 'estimated', '$0.00']);
});

t.test('the curl of a name that programs send asks where they ask', async (t) => {
  const curl = curlOf('http://127.0.0.1:8420', requestOf({ ...EMPTY, message: "It's" }, 'quick', [], PROVIDERS));
  t.match(curl, /^curl -N http:\/\/127\.0\.0\.1:8420\/v1\/responses -H /);
  t.match(curl, /It'\\''s/);
});
