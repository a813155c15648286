import t from 'tap';
import { parseJson } from '../../../../../core/base/json.ts';
import { ArgumentBudget, argumentsOf, argumentValues, callIdOf, customInput, customTool } from '../../../../../transports/http/dialects/shared/tool-calls.ts';

t.test('a custom tool gets its text; arguments of another form are given as JSON', async (t) => {
  t.equal(customInput({ arguments: { input: 'x\n"y"' } }), 'x\n"y"');
  t.equal(customInput({ arguments: { code: 'x' } }), '{"code":"x"}');
  t.equal(customInput({ arguments: { input: 'x', more: 1 } }), '{"input":"x","more":1}');
});

t.test('a custom tool is a function with one text, and its grammar is in its description', async (t) => {
  t.match(customTool('run', 'Runs code.', 'start: "x"'), {
    name: 'run',
    description: 'Runs code.\n\nThe input must follow this grammar:\nstart: "x"',
    parameters: { type: 'object', required: ['input'] },
  });
  t.notOk('description' in customTool('run', undefined, undefined));
});

t.test('arguments that are no JSON object are kept as text', async (t) => {
  const given = ['{"a":1}', '', null, { b: 2 }, '[1]', '{broken'];
  t.same(
    given.map((args) => argumentsOf(args, 'arguments', new ArgumentBudget())),
    [{ a: 1 }, {}, {}, { b: 2 }, { value: [1] }, { value: '{broken' }],
  );
  t.throws(() => argumentsOf(5, 'input[1].arguments', new ArgumentBudget()), /^input\[1\]\.arguments /);
});

t.test('a very long id of a call has a short one, the same for the same id', async (t) => {
  t.equal(callIdOf('call_1'), 'call_1');
  const long = 'x'.repeat(3000);
  t.match(callIdOf(long), /^call_[0-9a-f]{32}$/);
  t.equal(callIdOf(long), callIdOf(`${long}`));
  t.not(callIdOf(long), callIdOf(`${long}y`));
});

t.test('arguments as text have limits, in all calls of a request together', async (t) => {
  const list = (values: number): string => `[${'0,'.repeat(values)}0]`;
  const take = (text: string) => argumentsOf(text, 'a.arguments', new ArgumentBudget());
  t.throws(() => take(list(100_000)), { message: /^a\.arguments has too many values/ });
  t.throws(() => take(JSON.stringify(Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`f${index}`, 1])))), {
    message: /more than 10000 fields/,
  });
  t.throws(() => take('['.repeat(70_000)), { message: /^a\.arguments nests deeper than 100 levels/ });
  t.throws(() => take('x'.repeat(9_000_000)), { message: /^a\.arguments is too long: .* 8388608 characters/ });
  const code = JSON.stringify({ text: 'f({"a": [1, 2]});\n'.repeat(200_000) });
  t.same(take(code), JSON.parse(code), 'what looks like values within a text is none');
  const budget = new ArgumentBudget();
  for (let call = 0; call < 9; call += 1) argumentsOf(list(10_000), 'a', budget);
  t.throws(() => argumentsOf(list(90_000), 'b', budget), { message: /^b has too many values/ });
  t.same(argumentsOf('x'.repeat(2_000_000), 'c', budget), { value: 'x'.repeat(2_000_000) }, 'a long text is one');
});

t.test('the values of all arguments are counted, but not of those that are too deep to be looked through', async (t) => {
  const deep = parseJson(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`) as Record<string, unknown>;
  const calls = (...given: Record<string, unknown>[]) => ({
    role: 'assistant' as const,
    toolCalls: given.map((args) => ({ id: 'c', name: 'f', arguments: args })),
  });
  t.equal(argumentValues([{ role: 'user', content: 'hi' }, calls({ a: [1, 2] }, {}), calls({ b: { c: 1 } }, deep)]), 5);
});
