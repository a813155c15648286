// Which tools a model is offered, what it reads of their results, and how its arguments are checked.
import t from 'tap';
import { argumentCheck } from '../../../core/tools/arguments.ts';
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

t.test('what does not fit is left out and told, and what is always offered comes first', async (t) => {
  const offer = offerFor(CATALOGUE, settings({ always: ['bank/set_limit'], limits: { definitionTokens: 110 } }));
  t.ok(namesIn(offer).includes('bank__set_limit'));
  t.ok(offer.tools.length < BANK.length);
  t.match(offer.problems, [/\d tools do not fit into tools\.limits\.definitionTokens/]);
});

t.test('a description has no characters that only a model sees, and an end', async (t) => {
  const description = `Reads\u200b.\u{e0041}\u202e ${'x'.repeat(3000)}`;
  const [tool] = offerFor({ ...CATALOGUE, tools: [{ ...(BANK[3] as ToolDefinition), description }] }, settings()).tools;
  t.match(tool?.shown.description, /^Reads\. x+…$/);
  t.equal(tool?.shown.description?.length, 2000);
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

t.test('arguments are checked, and what is wrong has a place', async (t) => {
  const check = argumentCheck({
    type: 'object',
    properties: { to: { type: 'string', pattern: '^(a+)+$' }, kind: { enum: ['x', 'y'] }, pattern: { type: 'integer' }, of: { $ref: '#/$defs/of' } },
    $defs: { of: { type: 'object', properties: { inner: { type: 'number' } } } },
    required: ['to'],
    additionalProperties: false,
  });
  t.equal(check({ to: `${'a'.repeat(50)}!`, pattern: 5 }), undefined, 'a pattern of a server is not run, a field of this name is a field');
  t.match(check({}), /The arguments must have required property 'to'\./);
  t.match(check({ to: 5 }), /^\/to must be string\.$/);
  t.match(check({ to: 'a', kind: 'z' }), /^\/kind must be equal to one of the allowed values: \["x","y"\]\.$/);
  t.match(check({ to: 'a', of: { inner: 'x' } }), /^\/of\/inner must be number\.$/);
  t.match(check({ to: 'a', more: 1 }), /must NOT have additional properties/);
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
