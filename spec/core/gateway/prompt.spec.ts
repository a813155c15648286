import t from 'tap';
import { toPrompt } from '../../../core/gateway/prompt.ts';
import type { ChatRequest, Message, ToolCall } from '../../../core/schemas/chat.ts';

const user = (content = 'hi'): Message => ({ role: 'user', content });
const system = (content: string): Message => ({ role: 'system', content });
const call = (id: string, name = 'f'): ToolCall => ({ id, name, arguments: {} });
const calls = (...toolCalls: ToolCall[]): Message => ({ role: 'assistant', toolCalls });
const results = (...ids: string[]): Message => ({ role: 'tool', toolResults: ids.map((id) => ({ toolCallId: id, content: `r-${id}` })) });

function prompt(messages: Message[], rest: Partial<ChatRequest> = {}) {
  return toPrompt({ adapter: 'a', model: 'm', messages, ...rest });
}

function nested(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}

t.test('system messages are joined in order, wherever they stand, and blank ones leave no gap', async (t) => {
  const { system: text, turns } = prompt([system('one'), user(), system(' \n'), system('two')]);
  t.equal(text, 'one\n\ntwo');
  t.same(turns, [{ role: 'user', text: 'hi' }]);
  t.equal(prompt([user()]).system, undefined);
  t.equal(prompt([system(' '), user()]).system, undefined);
});

t.test('a system message between calls and results does not part them', async (t) => {
  const { turns, system: text } = prompt([user(), calls(call('1'), call('2')), results('1'), system('s'), results('2')]);
  t.equal(text, 's');
  t.match(turns, [{ role: 'user' }, { role: 'assistant' }, { role: 'tool', results: [{ toolCallId: '1' }, { toolCallId: '2' }] }]);
});

t.test('blank turns are left out, and said so', async (t) => {
  const { turns, warnings } = prompt([
    user('a'),
    user(''),
    { role: 'assistant', content: ' \n\t' },
    { role: 'assistant', content: '', toolCalls: [] },
    user('\u00a0'),
    user('b'),
  ]);
  t.same(turns, [
    { role: 'user', text: 'a' },
    { role: 'user', text: 'b' },
  ]);
  t.same(
    warnings.map(({ field }) => field),
    ['messages[1].content', 'messages[2].content', 'messages[3].content', 'messages[4].content'],
  );
});

t.test('text is not trimmed where it is kept', async (t) => {
  t.same(prompt([user('  a\n')]).turns, [{ role: 'user', text: '  a\n' }]);
});

t.test('a turn of reasoning alone is left out, since no provider takes a turn that says nothing', async (t) => {
  const thought = { type: 'reasoning', text: 'hm' } as const;
  const { turns, warnings } = prompt([user('a'), { role: 'assistant', content: [thought, { type: 'text', text: ' ' }] }, user('b')]);
  t.same(turns, [
    { role: 'user', text: 'a' },
    { role: 'user', text: 'b' },
  ]);
  t.same(
    warnings.map(({ field }) => field),
    ['messages[1].content'],
  );
  const kept = prompt([user('a'), { role: 'assistant', content: [thought], toolCalls: [call('1')] }, results('1')]);
  t.match(kept.turns[1], { role: 'assistant', parts: [thought], toolCalls: [{ id: '1' }] });
});

t.test('a blank text beside tool calls is empty', async (t) => {
  t.match(prompt([user(), { ...calls(call('1')), content: ' \n' }, results('1')]).turns[1], { text: '', toolCalls: [{ id: '1' }] });
});

t.test('results come in the order of their calls, in one turn, with the name of the tool', async (t) => {
  const { turns } = prompt([
    user(),
    calls(call('1', 'f'), call('2', 'g'), call('3', 'h')),
    { role: 'tool', toolResults: [{ toolCallId: '3', content: 'z', isError: true }] },
    results('2', '1'),
    user('next'),
  ]);
  t.same(turns.slice(2), [
    {
      role: 'tool',
      results: [
        { toolCallId: '1', toolName: 'f', content: 'r-1', isError: false },
        { toolCallId: '2', toolName: 'g', content: 'r-2', isError: false },
        { toolCallId: '3', toolName: 'h', content: 'z', isError: true },
      ],
    },
    { role: 'user', text: 'next' },
  ]);
});

t.test('text beside results follows them as a user turn', async (t) => {
  const { turns } = prompt([user(), calls(call('1'), call('2')), { ...results('2'), content: 'one' }, { ...results('1'), content: 'two' }]);
  t.match(turns.slice(2), [{ role: 'tool' }, { role: 'user', text: 'one\n\ntwo' }]);
});

t.test('an id that comes again in a later round is renamed with its result, past the ids that are taken', async (t) => {
  const { turns } = prompt([
    user(),
    calls(call('1')),
    results('1'),
    calls(call('1_2'), call('1', 'g')),
    results('1', '1_2'),
    calls(call('1', 'h')),
    results('1'),
  ]);
  t.match(turns.slice(1), [
    { toolCalls: [{ id: '1' }] },
    { results: [{ toolCallId: '1', toolName: 'f' }] },
    { toolCalls: [{ id: '1_2' }, { id: '1_3', name: 'g' }] },
    { results: [{ toolCallId: '1_2' }, { toolCallId: '1_3', toolName: 'g' }] },
    { toolCalls: [{ id: '1_4' }] },
    { results: [{ toolCallId: '1_4', toolName: 'h', content: 'r-1' }] },
  ]);
});

t.test('a renamed id is not an id of the caller', async (t) => {
  t.throws(() => prompt([user(), calls(call('1')), results('1'), calls(call('1')), results('1_2')]), {
    code: 'INVALID_REQUEST',
    message: /does not match a tool call/,
  });
});

t.test('a hundred thousand messages with the same id are quick', async (t) => {
  const messages = [user(), ...Array.from({ length: 50_000 }, () => [calls(call('same')), results('same')]).flat()];
  const startedAt = performance.now();
  t.equal(prompt(messages).turns.length, 100_001);
  // A generous bound: it takes a tenth of a second, and counting from the start each time would take minutes.
  t.ok(performance.now() - startedAt < 5000);
});

t.test('text beside results stays with its own round', async (t) => {
  const { turns } = prompt([user(), calls(call('1')), { ...results('1'), content: 'aside' }, calls(call('2')), results('2')]);
  t.same(
    turns.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'user', 'assistant', 'tool'],
  );
});

t.test('provider state rides along untouched', async (t) => {
  const providerMetadata = { signature: 'abc==', nested: [{ a: null }] };
  const { turns } = prompt([user(), { role: 'assistant', content: 'x', toolCalls: [{ ...call('1'), providerMetadata }], providerMetadata }, results('1')]);
  t.match(turns[1], { providerMetadata, toolCalls: [{ providerMetadata }] });
});

t.test('each refusal names its place', async (t) => {
  const deep = nested(101);
  const cases: [string, object[], string, RegExp][] = [
    ['toolCalls of a user', [{ ...user(), toolCalls: [call('1')] }], 'messages[0].toolCalls', /only allowed on messages with role assistant/],
    ['toolCalls of the system', [user(), { ...system('s'), toolCalls: [] }], 'messages[1].toolCalls', /only allowed on messages with role assistant/],
    [
      'toolResults of a user',
      [{ ...user(), toolResults: [{ toolCallId: '1', content: '' }] }],
      'messages[0].toolResults',
      /only allowed on messages with role tool/,
    ],
    ['a tool without results', [user(), { role: 'tool', content: 'x' }], 'messages[1].toolResults', /is required/],
    ['a user without content', [{ role: 'user' }], 'messages[0].content', /is required/],
    ['an assistant without anything', [user(), { role: 'assistant' }], 'messages[1].content', /is required/],
    ['an assistant with no calls', [user(), { role: 'assistant', toolCalls: [] }], 'messages[1].content', /is required/],
    ['an id twice', [user(), calls(call('1'), call('2'), call('1'))], 'messages[1].toolCalls[2].id', /used twice/],
    ['a result of nothing', [user(), results('1')], 'messages[1].toolResults[0].toolCallId', /does not match a tool call/],
    ['a result of another call', [user(), calls(call('1')), results('1', '2')], 'messages[2].toolResults[1].toolCallId', /does not match a tool call/],
    [
      'a result of an earlier round',
      [user(), calls(call('1')), results('1'), user(), results('1')],
      'messages[4].toolResults[0].toolCallId',
      /does not match a tool call/,
    ],
    ['a result twice', [user(), calls(call('1')), results('1'), results('1')], 'messages[3].toolResults[0].toolCallId', /appears twice/],
    ['a call without result', [user(), calls(call('1'), call('2')), results('1')], 'messages[1].toolCalls[1]', /has no result/],
    ['a call without any', [user(), calls(call('1'))], 'messages[1].toolCalls[0]', /has no result/],
    ['a user between', [user(), calls(call('1')), user('x'), results('1')], 'messages[1].toolCalls[0]', /has no result/],
    ['only an assistant', [{ role: 'assistant', content: 'x' }], 'messages', /user message/],
    ['only the system', [system('s')], 'messages', /user message/],
    ['only blanks', [user(' '), user('\n')], 'messages', /user message that is not blank/],
    ['deep arguments', [user(), calls({ ...call('1'), arguments: deep })], 'messages[1].toolCalls[0].arguments', /deeper than 100/],
    ['deep state of a call', [user(), calls({ ...call('1'), providerMetadata: deep })], 'messages[1].toolCalls[0].providerMetadata', /deeper than 100/],
    ['deep state of a message', [{ ...user(), providerMetadata: deep }], 'messages[0].providerMetadata', /deeper than 100/],
  ];
  for (const [name, messages, path, text] of cases)
    t.throws(() => prompt(messages as Message[]), { code: 'INVALID_REQUEST', message: text, details: [{ path }] }, name);
});

t.test('both forms of a tool become the flat one', async (t) => {
  const parameters = { type: 'object', properties: { a: { type: 'string' } } };
  const { tools } = prompt([user()], { tools: [{ name: 'f' }, { type: 'function', function: { name: 'g', description: 'd', parameters } }] });
  t.same(tools, [{ name: 'f' }, { name: 'g', description: 'd', parameters }]);
});

t.test('tools that no provider could take are refused with their place', async (t) => {
  const cases: [NonNullable<ChatRequest['tools']>, string][] = [
    [[{ name: 'f' }, { name: 'g' }, { type: 'function', function: { name: 'f' } }], 'tools[2].name'],
    [[{ name: 'f', parameters: { type: 'string' } }], 'tools[0].parameters.type'],
    [[{ name: 'f', parameters: { type: 'object', enum: new Array(10_000).fill(0) } }], 'tools[0].parameters'],
    [[{ name: 'f', parameters: { type: ['object'] } }], 'tools[0].parameters.type'],
    [[{ name: 'f', parameters: { type: null } }], 'tools[0].parameters.type'],
    [[{ name: 'f', parameters: { properties: [] } }], 'tools[0].parameters.properties'],
    [[{ name: 'f', parameters: { properties: nested(101) } }], 'tools[0].parameters'],
  ];
  for (const [tools, path] of cases) t.throws(() => prompt([user()], { tools }), { code: 'INVALID_REQUEST', details: [{ path }] }, path);
});

t.test('100 levels are taken', async (t) => {
  t.doesNotThrow(() => prompt([user(), calls({ ...call('1'), arguments: nested(100) }), results('1')], { tools: [{ name: 'f', parameters: nested(100) }] }));
});

t.test('hostile schemas pass unread: no pattern is run, no reference is followed', async (t) => {
  const parameters = {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`p${n}`, { type: 'string', pattern: '^(a|a)*$' }])),
    $ref: 'http://169.254.169.254/',
    __proto__: { polluted: 1 },
  };
  const startedAt = performance.now();
  t.equal(prompt([user()], { tools: [{ name: 'f', parameters }] }).tools[0]?.parameters, parameters);
  t.ok(performance.now() - startedAt < 3000);
  t.equal(({} as Record<string, unknown>)['polluted'], undefined);
});

t.test('what the config asks for is handed on as asked, and nothing is made up', async (t) => {
  t.match(prompt([user()]), { maxTokens: undefined, temperature: undefined, cacheControl: false, warnings: [], tools: [] });
  t.match(prompt([user()], { config: { maxTokens: 5, temperature: 0, cacheControl: true } }), { maxTokens: 5, temperature: 0, cacheControl: true });
});

t.test("OpenAI's own flat form of a tool is taken; its strict mode is left out, and told", async (t) => {
  const tools = [
    { type: 'function' as const, name: 'f', strict: true },
    { type: 'function' as const, function: { name: 'g', strict: false } },
  ];
  const prompt = toPrompt({ adapter: 'a', model: 'm', messages: [{ role: 'user', content: 'x' }], tools });
  t.same(prompt.tools, [{ name: 'f' }, { name: 'g' }]);
  t.match(prompt.warnings, [{ field: 'tools[0].strict' }]);
  t.equal(prompt.warnings.length, 1);
});

t.test('the schemas of an answer and of all tools together have a limit of values, which the refusal names', async (t) => {
  const wide = (values: number) => ({ type: 'object', properties: Object.fromEntries(Array.from({ length: values }, (_, index) => [`p${index}`, true])) });
  const messages = [{ role: 'user' as const, content: 'hi' }];
  const asked = (further: object) => toPrompt({ adapter: 'a', model: 'm', messages, ...further });
  const output = (schema: object) => ({ config: { output: { type: 'json_schema', schema } } });
  t.ok(asked(output(wide(9_000))));
  t.throws(() => asked(output(wide(10_000))), { message: 'config.output.schema has more than 10000 values.' });
  const tools = (count: number) => ({ tools: Array.from({ length: count }, (_, index) => ({ name: `t${index}`, parameters: wide(990) })) });
  t.ok(asked(tools(100)));
  t.throws(() => asked(tools(110)), { message: 'tools have more than 100000 values in their schemas.' });
  t.throws(() => asked({ tools: [{ name: 't', parameters: wide(10_000) }] }), { message: 'tools[0].parameters has more than 10000 values.' });
});
