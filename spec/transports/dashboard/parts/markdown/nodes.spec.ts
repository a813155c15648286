import t from 'tap';
import type { MdNode } from '../../../../../transports/dashboard/parts/markdown/nodes.ts';
import { piecesOf } from '../../../../../transports/dashboard/parts/markdown/tail.ts';

const nodes = (text: string): readonly MdNode[] => piecesOf(text).flatMap((piece) => piece.nodes);
const tags = (list: readonly MdNode[]): readonly string[] => list.flatMap((node) => (typeof node === 'string' ? [] : [node.tag, ...tags(node.children)]));

t.test('markup is text', async (t) => {
  for (const text of [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<svg/onload=alert(1)>',
    'a <b onclick="x()">b</b>',
    '<iframe srcdoc="x"></iframe>',
  ]) {
    t.strictSame(
      tags(nodes(text)).filter((tag) => tag !== 'p'),
      [],
      text,
    );
    t.match(JSON.stringify(nodes(text)), JSON.stringify(text.slice(0, 8)).slice(1, -1), 'it can be read');
  }
});

t.test('an address that could run something is shown as it was written', async (t) => {
  for (const address of [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java&#115;cript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    '/ui/settings',
    '//evil.example',
  ]) {
    t.notOk(tags(nodes(`[click](${address})`)).includes('a'), address);
  }
});

t.test('a link tells where it leads unless its text does', async (t) => {
  t.strictSame(nodes('[the notes](https://example.org/notes)'), [
    { tag: 'p', children: [{ tag: 'a', href: 'https://example.org/notes', children: ['the notes'] }, ' ', { tag: 'bdi', children: ['(example.org)'] }] },
  ]);
  t.strictSame(nodes('https://example.org/notes'), [
    { tag: 'p', children: [{ tag: 'a', href: 'https://example.org/notes', children: ['https://example.org/notes'] }] },
  ]);
});

t.test('letters that turn the direction of the text leave the place of a link as it is', async (t) => {
  t.match(JSON.stringify(nodes('\u202e[https://bank.example\u202e](https://moc.bank.evil.example)')), '{"tag":"bdi","children":["(moc.bank.evil.example)"]}');
});

t.test('an image is its description and its address', async (t) => {
  t.strictSame(nodes('![a chart](https://example.org/x.png)'), [{ tag: 'p', children: ['a chart (https://example.org/x.png)'] }]);
});

t.test('headings begin below those of the page', async (t) => {
  t.strictSame(tags(nodes('# One\n\n## Two\n\n###### Six')), ['h3', 'h4', 'h6']);
  t.strictSame(nodes('Then \\(a \\_ b\\) holds.'), [{ tag: 'p', children: ['Then \\(a _ b\\) holds.'] }], 'a formula keeps its backslashes');
});

t.test('tables, lists with their first number, tasks and code have their parts', async (t) => {
  t.strictSame(tags(nodes('| a | b |\n| - | -: |\n| 1 | 2 |')), ['table', 'thead', 'tr', 'th', 'th', 'tbody', 'tr', 'td', 'td']);
  t.match(nodes('3. three\n4. four'), [{ tag: 'ol', start: 3, children: [{ tag: 'li' }, { tag: 'li' }] }]);
  t.match(JSON.stringify(nodes('- [x] done\n- [ ] open')), '☑ done');
  t.match(nodes('```ts title=x\na < b\n```'), [{ tag: 'pre', language: 'ts', children: ['a < b'] }]);
});

t.test('code is closed when its end has come', async (t) => {
  for (const closed of ['```ts\na\n```', '```ts\na\n  ``` \n\n', '~~~js\n~~~', '````md\n```\n````'])
    t.match(nodes(closed), [{ tag: 'pre', isClosed: true }], closed);
  for (const open of ['```ts\na', '```ts', '```ts\na ```', '```ts\n    ```']) t.notOk((nodes(open)[0] as { isClosed?: true }).isClosed, open);
  t.match(JSON.stringify(nodes('- one\n\n  ```ts\n  a\n  ```')), /"isClosed":true/);
});

t.test('entities are the characters that they name, but not in code', async (t) => {
  t.strictSame(nodes('a &lt; b &amp;&#33; &nope; `&lt;`'), [{ tag: 'p', children: ['a < b &! &nope; ', { tag: 'code', children: ['&lt;'] }] }]);
});

t.test('names with underscores are not emphasis', async (t) => {
  t.strictSame(nodes('call some_function_name here'), [{ tag: 'p', children: ['call some_function_name here'] }]);
});
