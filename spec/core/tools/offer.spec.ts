// Which tools a model is offered, what it reads of their results, and how its arguments are checked.
import t from 'tap';
import { findTools } from '../../../core/tools/find.ts';
import { offerAgain, offerFor, recordOf } from '../../../core/tools/offer.ts';
import type { Catalogue, ToolDefinition } from '../../../core/tools/port.ts';
import { beginningOf, cutText, noticeOf, resultText, shownImages, wholeParts } from '../../../core/tools/results.ts';
import { type ToolSettings, toolSettings } from '../../../core/tools/settings.ts';
import { BANK, TRUSTED } from '../../support/tools/payment-host.ts';

const CATALOGUE: Catalogue = { tools: BANK, settings: { bank: TRUSTED }, problems: [] };
const settings = (tools: object = {}): ToolSettings => toolSettings({ tools: { servers: ['bank'], ...tools } }) as ToolSettings;
const namesIn = ({ tools }: { tools: readonly { readonly shown: { readonly name: string } }[] }): string[] => tools.map(({ shown }) => shown.name);

t.test('a run offers what is not denied, sorted by name', async (t) => {
  const offer = offerFor(CATALOGUE, settings({ deny: ['bank/long', 'bank/fail'] }));
  t.strictSame(namesIn(offer), ['bank__list', 'bank__pay', 'bank__pay_once', 'bank__set_limit']);
  t.strictSame(offer.problems, []);
});

t.test('a run that goes on has its own tools, and none that has changed', async (t) => {
  const recorded = BANK.map(recordOf);
  const changed = {
    ...CATALOGUE,
    tools: [...BANK.map((tool) => (tool.tool === 'pay' ? { ...tool, pin: 'new' } : tool)), { ...(BANK[0] as ToolDefinition), tool: 'later' }],
  };
  t.strictSame(namesIn(offerAgain(changed, recorded)), ['bank__fail', 'bank__list', 'bank__long', 'bank__pay_once', 'bank__set_limit']);
});

const tool = (server: string, name: string, more: object = {}): ToolDefinition => ({
  server,
  tool: name,
  pin: `pin-of-${name}`,
  inputSchema: { type: 'object', properties: {} },
  description: `Does ${name.replaceAll('_', ' ')}.`,
  ...more,
});
const manyOf = (server: string, count: number): ToolDefinition[] => Array.from({ length: count }, (_, index) => tool(server, `t${index}`));
const MANY: Catalogue = {
  tools: [...manyOf('large', 40), ...manyOf('small', 4), tool('large', 'create_issue'), tool('large', 'list_issues', { title: 'Issues' })],
  settings: {},
  problems: [],
};

t.test('what does not fit must be found: whole servers are offered, the smallest first, in half of the room', async (t) => {
  const rules = settings({ servers: ['small', 'large'], always: ['large/t7'], limits: { definitionTokens: 500 } });
  const offer = offerFor(MANY, rules, { called: new Set(['large/t3', 'large/none']) });
  t.strictSame(namesIn(offer), ['block__find_tool', 'large__t3', 'large__t7', 'small__t0', 'small__t1', 'small__t2', 'small__t3']);
  t.match(offer.tools[0]?.shown.description, /to be found: large \(40\)\.$/);
  t.match(offer.problems, ['40 tools do not fit into tools.limits.definitionTokens and must be found with block__find_tool']);
  t.strictSame(namesIn(offerFor(MANY, settings({ servers: ['small'] }))).includes('block__find_tool'), false, 'not where all fit');
  t.strictSame(namesIn(offerFor({ ...MANY, tools: manyOf('large', 40) }, settings({ limits: { definitionTokens: 100 } }))), ['block__find_tool']);
});

t.test('same-list: a run that goes on has what was found since at the end of its list, and the same block__find_tool', async (t) => {
  const rules = settings({ servers: ['small', 'large'], limits: { definitionTokens: 500 } });
  const first = offerFor(MANY, rules);
  const recorded = first.tools.map(({ definition }) => recordOf(definition));
  const added = ['large/list_issues#pin-of-list_issues', 'large/create_issue#pin-of-create_issue', 'large/create_issue#other'];
  const again = offerAgain({ ...MANY }, recorded, { settings: rules, added });
  t.strictSame(
    again.tools.map(({ shown }) => shown),
    [...first.tools.map(({ shown }) => shown), ...again.tools.slice(-2).map(({ shown }) => shown)],
  );
  t.strictSame(namesIn(again).slice(-2), ['large__list_issues', 'large__create_issue']);
});

t.test('tools are found by their words: an exact name first, then by points, then by name', async (t) => {
  const find = (query: string, more: object = {}) =>
    findTools({ catalogue: MANY, settings: settings({ servers: ['small', 'large'], deny: ['large/t39'] }), query, listed: new Set(), added: [], ...more });
  t.strictSame(find('Listed? ISSUE').tools, ['large/list_issues#pin-of-list_issues', 'large/create_issue#pin-of-create_issue']);
  t.strictSame(find('large__create_issue').tools[0], 'large/create_issue#pin-of-create_issue');
  t.strictSame(find('issue', { limit: 1 }).tools.length, 1);
  t.strictSame(find('t39').tools, [], 'a denied tool is not found');
  t.match(find('nothing-like-it').text, /No tool has these words/);
  const listed = find('create', { listed: new Set(['large/create_issue']) });
  t.strictSame(listed.tools, []);
  t.match(listed.text, /nothing added to your list:\n- large__create_issue: .* \(in your list already\)$/);
  const full = find('issue', { settings: settings({ limits: { definitionTokens: 80 } }) });
  t.equal(full.tools.length, 1);
  t.match(full.text, /no more room for definitions/);
  t.match(find('issue', { settings: settings({ limits: { definitionTokens: 80 } }), added: full.tools, listed: new Set(['large/create_issue']) }).tools, []);
});

t.test('of 1,000 tools those that are offered or found are compiled, and no others; what the model reads of the rest is one line', async (t) => {
  const inputSchema = { type: 'object', properties: { a: { $ref: '#/$defs/none' } } }; // fails when it is compiled, and not before
  const tools = Array.from({ length: 1000 }, (_, index) => tool(`s${index % 10}`, `tool_${index}`, { inputSchema }));
  const catalogue = { tools: [...tools, tool('good', 'tool_77a')], settings: {}, problems: [] };
  const rules = settings({ limits: { definitionTokens: 1000 } });
  const offer = offerFor(catalogue, rules, { called: new Set(['s1/tool_1']) });
  t.strictSame(namesIn(offer), ['block__find_tool', 'good__tool_77a']);
  t.ok((offer.tools[0]?.shown.description?.length ?? 0) < 300);
  t.match(offer.problems, [/^999 tools do not fit/, /^s1\/tool_1: /], 'one was compiled');
  t.equal(offer.problems.length, 2);
  t.strictSame(findTools({ catalogue, settings: rules, query: 'tool_77a', listed: new Set(), added: [] }).tools, ['good/tool_77a#pin-of-tool_77a']);
});

t.test('a description has no characters that only a model sees, and an end', async (t) => {
  const description = `Reads\u200b.\u{e0041}\u202e ${'x'.repeat(3000)}`;
  const [tool] = offerFor({ ...CATALOGUE, tools: [{ ...(BANK[3] as ToolDefinition), description }] }, settings()).tools;
  t.match(tool?.shown.description, /^Reads\. x+…$/);
  t.equal(tool?.shown.description?.length, 2000);
});

t.test('nor have the texts of its schema; what arguments are compared with stays as it is', async (t) => {
  const hidden = 'a\u200b\u3164\u034f\u2800\u{e0100}\u{e01f0}b';
  const inputSchema = (text: string): ToolDefinition['inputSchema'] => ({
    type: 'object',
    title: text,
    properties: {
      description: { type: 'string', description: text, enum: [hidden], default: hidden },
      enum: { anyOf: [{ const: hidden, title: text }, { pattern: hidden }], 'x-notes': [text, { note: text }] },
      [hidden]: { $ref: '#/$defs/default' },
    },
    required: [hidden],
    $defs: { default: { examples: [{ description: hidden }], $comment: text } },
  });
  const { shown } = offerFor({ ...CATALOGUE, tools: [{ ...(BANK[3] as ToolDefinition), inputSchema: inputSchema(hidden) }] }, settings()).tools[0] ?? {};
  t.strictSame(shown?.parameters, inputSchema('ab'));
});

t.test('nor has what a search says of a tool', async (t) => {
  const catalogue = { ...CATALOGUE, tools: [{ ...(BANK[3] as ToolDefinition), description: 'Lists\u200b\u3164 all.' }] };
  const { text } = findTools({ catalogue, settings: settings(), query: 'lists', listed: new Set(), added: [] });
  t.match(text, /: Lists all\./);
});

t.test('a schema that can not be used makes its tool unusable, with a reason', async (t) => {
  let deep: object = {};
  for (let level = 0; level < 40; level += 1) deep = { properties: { a: deep } };
  for (const [inputSchema, reason] of [
    [deep, /nests deeper than 32/],
    [{ properties: Object.fromEntries(Array.from({ length: 2100 }, (_, index) => [`f${index}`, {}])) }, /more than 2000 values/],
    [{ description: 'x'.repeat(70_000) }, /larger than 65536 bytes/],
    [{ properties: { a: { $ref: 'https://example.com/schema' } } }, /refers to another document/],
    [{ properties: { a: { $ref: '#/$defs/none' } } }, /none/],
  ] as const) {
    const offer = offerFor(
      { ...CATALOGUE, tools: [{ ...(BANK[0] as ToolDefinition), inputSchema: inputSchema as never }, BANK[3] as ToolDefinition] },
      settings(),
    );
    t.strictSame(namesIn(offer), ['bank__list']);
    t.match(offer.problems, [reason]);
  }
});

t.test('a result is text: other parts are a line each, and control characters go', async (t) => {
  const parts = [
    { type: 'text', text: 'a\u0007b\r\nc' },
    { type: 'image', mediaType: 'image/png', data: 'AAAA' },
    { type: 'document', url: 'https://x.example/a', name: 'a.pdf' },
  ] as const;
  t.equal(resultText(parts), 'ab\nc\n[image: image/png, 3 bytes]\n[document a.pdf: https://x.example/a]');
});

t.test('structured content is used where there is no text, and one that nests too deep is not shown', async (t) => {
  t.strictSame(wholeParts([], { n: 1 }), [{ type: 'text', text: '{"n":1}' }]);
  t.strictSame(wholeParts([{ type: 'text', text: 'One.' }], { n: 1 }), [{ type: 'text', text: 'One.' }]);
  let deep: object = {};
  for (let level = 0; level < 200; level += 1) deep = { deep };
  t.throws(() => wholeParts([], deep), /nests deeper than 100 levels/);
});

t.test('a model sees four images of a result, each of at most 5 MiB', async (t) => {
  const image = (data: string) => ({ type: 'image', mediaType: 'image/png', data }) as const;
  const large = image('A'.repeat(7 * 1024 * 1024));
  t.strictSame(
    shownImages([large, ...['a', 'b', 'c', 'd', 'e'].map(image), { type: 'image', url: 'https://x.example/a.png' }]),
    ['a', 'b', 'c', 'd'].map(image),
  );
});

t.test('a long text keeps its beginning and its end, and says first what is left out', async (t) => {
  t.strictSame(cutText('short', 10), { text: 'short', left: undefined });
  const text = `begin${'x'.repeat(100_000)}end`;
  const cut = cutText(text, 1000);
  t.equal(cut.left, '96,008 of 100,008 characters are left out after character 3,000');
  t.match(cut.text, /^beginx+\n…\nx+end$/);
  t.ok(cut.text.length < 4200);
  t.equal(noticeOf(cut.left ?? '', '1.1'), `(${cut.left}; block__read_result reads on, ref 1.1.)`);
  t.equal(noticeOf(cut.left ?? '', undefined), `(${cut.left}.)`);
  t.notMatch(cutText('😀'.repeat(10_000), 501).text, /\p{Cs}/u);
  t.equal(beginningOf('abcdef', 4), 'abc…');
  t.equal(beginningOf('ab😀f', 4), 'ab…');
});
