import t from 'tap';
import { buildRequest } from '../../../adapters/bedrock/request.ts';
import { readAnswer } from '../../../adapters/bedrock/response.ts';
import type { BedrockRequest } from '../../../adapters/bedrock/schema.ts';
import { parseJson } from '../../../core/base/json.ts';
import type { Prompt, ToolCall, Turn } from '../../../core/index.ts';
import { CLAUDE, contextOf } from './help.ts';

type Assistant = Extract<Turn, { role: 'assistant' }>;

const TOOLS = [{ name: 'f' }];
const OPENING: Turn[] = [{ role: 'user', text: 'start' }];

function thinks(text: string, signature = `signature of ${text}`) {
  return { reasoningContent: { reasoningText: { text, signature } } };
}

function calls(id: string, input: Record<string, unknown> = { x: 1 }) {
  return { toolUse: { toolUseId: id, name: 'f', input } };
}

/** The assistant turn that a caller sends back after this answer. */
function answered(turns: readonly Turn[], content: unknown[], model = CLAUDE, prompt: Partial<Prompt> = {}): Assistant {
  const context = contextOf({ turns, tools: TOOLS, ...prompt }, { model });
  const events = readAnswer({ output: { message: { role: 'assistant', content } }, stopReason: 'end_turn' }, context);
  let text = '';
  let providerMetadata: Record<string, unknown> | undefined;
  const toolCalls: ToolCall[] = [];
  for (const event of events) {
    if (event.type === 'text') text += event.text;
    if (event.type === 'toolCall') toolCalls.push(event.toolCall);
    if (event.type === 'providerMetadata') providerMetadata = structuredClone(event.providerMetadata);
  }
  return { role: 'assistant', text, toolCalls, ...(providerMetadata !== undefined && { providerMetadata }) };
}

function resultFor(turn: Assistant): Turn {
  return { role: 'tool', results: turn.toolCalls.map((call) => ({ toolCallId: call.id, toolName: call.name, content: 'ok', isError: false })) };
}

function build(turns: readonly Turn[], prompt: Partial<Prompt> = {}, model = CLAUDE) {
  const { body, warnings } = buildRequest(contextOf({ turns, tools: TOOLS, ...prompt }, { model }));
  return { messages: (body as BedrockRequest).messages, warnings };
}

function reasoningIn(messages: BedrockRequest['messages']): number {
  return messages.flatMap((message) => message.content).filter((block) => 'reasoningContent' in block).length;
}

/** Two steps of a tool loop, each with reasoning. */
function loop() {
  const first = answered(OPENING, [thinks('a'), { text: 'Looking.' }, calls('t1')]);
  const later = [...OPENING, first, resultFor(first)];
  const second = answered(later, [thinks('b'), { reasoningContent: { redactedContent: 'AAEC' } }, calls('t2')]);
  return { first, second, turns: [...later, second, resultFor(second)] };
}

t.test('all reasoning comes back in its place, behind an unchanged prefix', async (t) => {
  const { turns } = loop();
  const { messages, warnings } = build(turns);
  t.same(messages[1]?.content, [thinks('a'), { text: 'Looking.' }, calls('t1')]);
  t.same(messages[3]?.content, [thinks('b'), { reasoningContent: { redactedContent: 'AAEC' } }, calls('t2')]);
  t.same(warnings, []);
});

t.test('the state names the model and survives JSON', async (t) => {
  const { first } = loop();
  t.match(first.providerMetadata, { bedrock: { model: CLAUDE, prefix: /^[\w-]{22}$/, content: [thinks('a'), { text: 'Looking.' }, calls('t1')] } });
  t.same(parseJson(JSON.stringify(first.providerMetadata)), first.providerMetadata);
});

t.test('cache points are no part of the prefix', async (t) => {
  const first = answered(OPENING, [thinks('a'), calls('t1')], CLAUDE, { cacheControl: true, system: 's' });
  t.equal(reasoningIn(build([...OPENING, first, resultFor(first)], { cacheControl: true, system: 's' }).messages), 1);
});

t.test('none comes back when anything before it has changed', async (t) => {
  const { turns } = loop();
  const changed: [string, readonly Turn[], Partial<Prompt>, string][] = [
    ['system', turns, { system: 'new' }, CLAUDE],
    ['tools', turns, { tools: [{ name: 'f' }, { name: 'g' }] }, CLAUDE],
    ['an earlier message', [{ role: 'user', text: 'other' }, ...turns.slice(1)], {}, CLAUDE],
    ['model', turns, {}, 'us.anthropic.claude-haiku-5-5'],
  ];
  for (const [what, history, prompt, model] of changed) {
    const { messages, warnings } = build(history, prompt, model);
    t.equal(reasoningIn(messages), 0, what);
    t.match(warnings, [{ field: 'messages', message: /reasoning was not sent/ }], what);
  }
});

t.test('none comes back when one turn with calls lost its own', async (t) => {
  const { first, second, turns } = loop();
  for (const lost of [first, second]) {
    const { providerMetadata: _gone, ...bare } = lost;
    t.equal(reasoningIn(build(turns.map((turn) => (turn === lost ? bare : turn))).messages), 0);
  }
});

t.test('none comes back when ids or text of a turn are no longer the model’s', async (t) => {
  const { first, turns } = loop();
  const edited: Assistant[] = [
    { ...first, text: 'Looking elsewhere.' },
    { ...first, toolCalls: [...first.toolCalls, { id: 't9', name: 'f', arguments: {} }] },
  ];
  for (const turn of edited) t.equal(reasoningIn(build(turns.map((each) => (each === first ? turn : each))).messages), 0);
});

t.test('edited arguments of the last call count, with its reasoning kept', async (t) => {
  const first = answered(OPENING, [thinks('a'), calls('t1')]);
  const edited: Assistant = { ...first, toolCalls: first.toolCalls.map((call) => ({ ...call, arguments: { x: 2 } })) };
  const { messages } = build([...OPENING, edited, resultFor(edited)]);
  t.same(messages[1]?.content, [thinks('a'), calls('t1', { x: 2 })]);
});

t.test('a turn of text alone may lack reasoning, and brings its own back where it has some', async (t) => {
  const next: Turn = { role: 'user', text: 'more' };
  const spoke = answered(OPENING, [thinks('a'), { text: 'Done.' }]);
  t.same(build([...OPENING, spoke, next]).messages[1]?.content, [thinks('a'), { text: 'Done.' }]);
  const silent = answered(OPENING, [{ text: 'Done.' }]);
  t.equal(silent.providerMetadata, undefined);
  const called = answered([...OPENING, silent, next], [thinks('b'), calls('t1')]);
  t.equal(reasoningIn(build([...OPENING, silent, next, called, resultFor(called)]).messages), 1);
});

t.test('state that is not what this adapter wrote is not sent', async (t) => {
  const { first, turns } = loop();
  const own = first.providerMetadata?.['bedrock'] as Record<string, unknown>;
  const forged = [
    { ...own, content: 'x' },
    { ...own, content: [{ image: {} }, calls('t1')] },
    { ...own, content: [{ reasoningContent: { reasoningText: { text: 1 } } }, { text: 'Looking.' }, calls('t1')] },
    { ...own, prefix: 7 },
  ];
  for (const bedrock of forged) {
    const turn: Assistant = { ...first, providerMetadata: { bedrock } };
    t.equal(reasoningIn(build(turns.map((each) => (each === first ? turn : each))).messages), 0);
  }
});

t.test('reasoning that was cut off, or is not Claude’s, leaves no state', async (t) => {
  t.equal(answered(OPENING, [{ reasoningContent: { reasoningText: { text: 'a' } } }, { text: 'x' }]).providerMetadata, undefined);
  t.equal(answered(OPENING, [thinks('a'), { text: 'x' }], 'us.deepseek.r1-v1:0').providerMetadata, undefined);
});

t.test('the cache point behind a call stays there beside reasoning, and reasoning is not bound to it', async (t) => {
  const first = answered(OPENING, [thinks('a'), { text: 'Looking.' }, calls('t1'), { text: 'On.' }, calls('t2')]);
  const marked: Assistant = { ...first, toolCalls: first.toolCalls.map((call, index) => (index === 0 ? { ...call, cache: '5m' } : call)) };
  const later = [...OPENING, marked, resultFor(marked)];
  const second = answered([...OPENING, first, resultFor(first)], [thinks('b'), calls('t3')]);
  const { messages, warnings } = build([...later, second, resultFor(second)]);
  const point = { cachePoint: { type: 'default' } };
  t.same(messages[1]?.content, [thinks('a'), { text: 'Looking.' }, calls('t1'), point, { text: 'On.' }, calls('t2')]);
  t.equal(reasoningIn(messages), 2);
  t.same(warnings, []);
});
