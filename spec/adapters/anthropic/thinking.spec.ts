import t from 'tap';
import type { AnthropicMessage } from '../../../adapters/anthropic/schema.ts';
import { digestOf, replayThinking } from '../../../adapters/anthropic/thinking.ts';
import { mergeTurns } from '../../../adapters/shared/merge-turns.ts';
import type { Turn } from '../../../core/index.ts';

const MODEL = 'claude-opus-5-5';
const FRAME = { model: MODEL, max_tokens: 1, system: [{ type: 'text' as const, text: 'Be brief.' }] };
const USER: AnthropicMessage = { role: 'user', content: [{ type: 'text', text: 'hi' }] };
const RESULT: AnthropicMessage = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' }] };
const BLOCKS = [
  { type: 'thinking', thinking: '', signature: 'c2ln' },
  { type: 'text', text: 'Looking. ' },
  { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: { b: 1, c: 2 } } },
];
const PLAIN: AnthropicMessage = { role: 'assistant', content: BLOCKS.slice(1) };

type AssistantTurn = Extract<Turn, { role: 'assistant' }>;
const state = (changed: Record<string, unknown> = {}) => ({ anthropic: { model: MODEL, prefix: digestOf(FRAME, [USER]), content: BLOCKS, ...changed } });
const CALL = { id: 'toolu_1', name: 'f', arguments: { a: { c: 2, b: 1 } } };
const assistant = (changed: Partial<AssistantTurn> = {}): AssistantTurn => ({
  role: 'assistant',
  text: 'Looking. ',
  toolCalls: [CALL],
  providerMetadata: state(),
  ...changed,
});
const TOOL: Turn = { role: 'tool', results: [{ toolCallId: 'toolu_1', toolName: 'f', content: 'x', isError: false }] };

/** What is sent for user, `turns`, tool result; `plain` has the same turns without thinking. */
function replay(turns: readonly AssistantTurn[], { model = MODEL, frame = FRAME as Parameters<typeof digestOf>[0] } = {}) {
  const plain = [USER, PLAIN, RESULT];
  const sent = replayThinking(model, frame, mergeTurns([{ role: 'user', text: 'hi' }, ...turns, TOOL]).turns, plain);
  return { sent, plain };
}

t.test('blocks go back exactly as they came, with keys of the arguments in any order', async (t) => {
  const { sent } = replay([assistant()]);
  t.same(sent, [USER, { role: 'assistant', content: BLOCKS }, RESULT]);
});

t.test('white space around the text may have been lost on the way', async (t) => {
  t.match(replay([assistant({ text: 'Looking.' })]).sent[1], { content: BLOCKS });
});

const refused: [string, AssistantTurn[], Parameters<typeof replay>[1]?][] = [
  ['another model asks', [assistant()], { model: 'claude-sonnet-5-5' }],
  ['the system text has changed', [assistant()], { frame: { ...FRAME, system: [{ type: 'text', text: 'Be long.' }] } }],
  ['the system text is gone', [assistant()], { frame: { model: MODEL, max_tokens: 1 } }],
  ['tools have changed', [assistant()], { frame: { ...FRAME, tools: [{ name: 'f', input_schema: {} }] } }],
  ['an earlier message has changed', [assistant({ providerMetadata: state({ prefix: digestOf(FRAME, [RESULT]) }) })]],
  ['the text was edited', [assistant({ text: 'Looked.' })]],
  ['a call was left out', [assistant({ toolCalls: [] })]],
  ['a call was added', [assistant({ toolCalls: [CALL, { ...CALL, id: 'toolu_2' }] })]],
  ['the id of a call was changed', [assistant({ toolCalls: [{ ...CALL, id: 'call_9' }] })]],
  ['the name of a call was changed', [assistant({ toolCalls: [{ ...CALL, name: 'g' }] })]],
  ['the arguments of a call were edited', [assistant({ toolCalls: [{ ...CALL, arguments: { a: { b: 1, c: 3 } } }] })]],
  ['metadata is missing on a turn with calls', [assistant({ providerMetadata: undefined })]],
  ['two assistant messages became one turn', [assistant(), { role: 'assistant', text: 'more', toolCalls: [] }]],
  ['the metadata has no prefix', [assistant({ providerMetadata: state({ prefix: 7 }) })]],
  ['the metadata has no blocks', [assistant({ providerMetadata: state({ content: 'x' }) })]],
  ['the metadata has a block that no answer has', [assistant({ providerMetadata: state({ content: [...BLOCKS, { type: 'tool_addition', tool: {} }] }) })]],
  ['the metadata has a text that is none', [assistant({ providerMetadata: state({ content: [BLOCKS[0], { type: 'text', text: 7 }, BLOCKS[2]] }) })]],
  ['the metadata has blocks that are none', [assistant({ providerMetadata: state({ content: [null, 7, 'x'] }) })]],
];
for (const [why, turns, options] of refused) {
  t.test(`nothing is replayed when ${why}`, async (t) => {
    const { sent, plain } = replay(turns, options);
    t.equal(sent, plain);
  });
}

t.test('blocks of tools that the provider runs go back, without members that no answer has', async (t) => {
  const content = [
    { type: 'thinking', thinking: 'x', signature: 'c2ln', tool: { type: 'web_search_20250305' } },
    { type: 'redacted_thinking', data: 'ZGF0YQ' },
    { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'x' } },
    { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [{ type: 'web_search_result', url: 'https://x', title: 'x', encrypted_content: 'x' }] },
    { type: 'text', text: 'Looking. ', citations: null, cache_control: { type: 'ephemeral', ttl: '1h' } },
    { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: { b: 1, c: 2 } }, caller: { type: 'direct' } },
  ];
  const { sent } = replay([assistant({ providerMetadata: state({ content }) })]);
  const [first, , , , text, call] = content;
  const { tool: _tool, ...thinking } = first as { tool?: unknown };
  const { cache_control: _cache, ...plain } = text as { cache_control?: unknown };
  t.same(sent[1]?.content, [thinking, ...content.slice(1, 4), plain, call]);
});

t.test('token limit and temperature are no part of the prefix', async (t) => {
  t.match(replay([assistant()], { frame: { ...FRAME, max_tokens: 9, temperature: 0 } }).sent[1], { content: BLOCKS });
});

t.test('it is all turns or none', async (t) => {
  const first = { role: 'assistant' as const, content: BLOCKS };
  const second = [
    { type: 'thinking', thinking: 'x', signature: 'eQ' },
    { type: 'text', text: 'Done.' },
  ];
  const prefix = digestOf(FRAME, [USER, first, RESULT]);
  const done: AssistantTurn = { role: 'assistant', text: 'Done.', toolCalls: [], providerMetadata: state({ prefix, content: second }) };
  const plain = [USER, PLAIN, RESULT, { role: 'assistant' as const, content: [{ type: 'text', text: 'Done.' }] }, USER];
  const turnsWith = (turn: AssistantTurn) => mergeTurns([{ role: 'user', text: 'hi' }, turn, TOOL, done, { role: 'user', text: 'hi' }]).turns;
  t.same(replayThinking(MODEL, FRAME, turnsWith(assistant()), plain), [USER, first, RESULT, { role: 'assistant', content: second }, USER]);
  t.equal(replayThinking(MODEL, FRAME, turnsWith(assistant({ providerMetadata: undefined })), plain), plain);
});

t.test('a turn of plain text without metadata does not stand in the way', async (t) => {
  const hello: AnthropicMessage = { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] };
  const prefix = digestOf(FRAME, [USER, hello, USER]);
  const turns = mergeTurns([
    { role: 'user', text: 'hi' },
    { role: 'assistant', text: 'Hello.', toolCalls: [] },
    { role: 'user', text: 'hi' },
    assistant({ providerMetadata: state({ prefix }) }),
    TOOL,
  ]).turns;
  t.match(replayThinking(MODEL, FRAME, turns, [USER, hello, USER, PLAIN, RESULT])[3], { content: BLOCKS });
});

t.test('a conversation without state stays as it is', async (t) => {
  const plain = [USER];
  t.equal(replayThinking(MODEL, FRAME, mergeTurns([{ role: 'user', text: 'hi' }]).turns, plain), plain);
});
