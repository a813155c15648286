import { Lexer } from 'marked';
import t from 'tap';
import type { MdElement } from '../../../../../transports/dashboard/parts/markdown/nodes.ts';
import { piecesOf, Tail } from '../../../../../transports/dashboard/parts/markdown/tail.ts';
import { sweep } from '../../../../support/sweep.ts';

/** Repeatable numbers from 0 to 1. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const PARTS = [
  'A paragraph with **bold**, *soft*, `code`, ~~gone~~ and snake_case_names.\n\n',
  '# A heading\n\n',
  'A title\n=======\n',
  '- one\n- two\n  - inner\n\n    more of inner\n- three\n\n',
  '1. first\n\n2. second\n   ```js\n   const a = 1;\n\n   const b = 2;\n   ```\n',
  '- [x] done\n- [ ] open\n',
  Array.from(
    { length: 14 },
    (_, index) => `- item ${index} with **bold**\n${index % 5 === 4 ? '  - inner\n\n    more\n' : ''}${index % 7 === 6 ? '\n' : ''}`,
  ).join(''),
  `${Array.from({ length: 14 }, (_, index) => `${index + 7}. item ${index}\n${index % 4 === 3 ? '   lazy\nlines\n\n' : ''}`).join('')}\n`,
  `| a | b |\n|---|:-:|\n${Array.from({ length: 14 }, (_, index) => `| ${index} | **x** |\n`).join('')}no bar\n\n`,
  Array.from({ length: 12 }, (_, index) => `* [${index % 2 === 0 ? 'x' : ' '}] task ${index}\n${index === 8 ? '\n' : ''}`).join(''),
  '```ts\nconst x = `a`;\n\n\nreturn x;\n```\n\n',
  '~~~\nno end',
  '| a | b |\n| --- | ---: |\n| 1 | 2 |\n| `x|y` | **3** |\n\n',
  '> quoted\nlazy\n> > inner\n\n',
  '    indented\n\n    code\n\n',
  '<div>\nhtml\n\n</div>\n\n',
  '<!-- a comment\n\nthat goes on -->\n\n',
  '[1]: https://example.org "a title\n\nthat goes on"\n\n',
  'See [the notes](https://example.org/a_(b)) and [1] and [text][1].\n\n',
  'Emoji 👩‍👩‍👧 and &amp; &#128512; entities\\\nbreak  \nend\n\n',
  'windows\r\nlines\r\n\r\nand\rold\r\r',
  '---\n\n',
  '* * *\n',
  '\n\n\n',
  '  \n',
  '![an image](https://example.org/x.png)\n\n',
  'https://example.org/auto and mail@example.org\n',
  '<script>alert(1)</script>\n\n',
  '**not closed _and nested `tick\n\n',
];

function documentOf(seed: number): string {
  const random = randomFrom(seed);
  return Array.from({ length: 10 }, () => PARTS[Math.floor(random() * PARTS.length)]).join('');
}

t.test('a text that comes in pieces has, at any of 200 cuts of many documents, the nodes of a parse of the whole', async (t) => {
  for (let seed = 1; seed <= sweep(100, 2); seed += 1) {
    const text = documentOf(seed);
    const random = randomFrom(seed * 7919);
    const cuts = Array.from({ length: 200 }, () => Math.floor(random() * (text.length + 1))).sort((one, other) => one - other);
    const tail = new Tail();
    let at = 0;
    let wrong = 0;
    for (const cut of [...cuts, text.length]) {
      tail.push(text.slice(at, cut));
      at = cut;
      const known = text.slice(0, cut).replace(/\r$/, '');
      if (JSON.stringify(tail.pieces) !== JSON.stringify(piecesOf(known))) wrong += 1;
    }
    t.equal(wrong, 0, `document ${seed}`);
  }
});

t.test('a settled piece stays the same object, and most of a long text is settled', async (t) => {
  const tail = new Tail();
  const seen = new Map<number, unknown>();
  let moved = 0;
  for (let part = 0; part < 200; part += 1) {
    tail.push(`Paragraph ${part} has a few words.\n\n`);
    for (const [index, piece] of tail.pieces.slice(0, tail.settled).entries()) {
      if (seen.has(index) && seen.get(index) !== piece) moved += 1;
      seen.set(index, piece);
    }
  }
  t.equal(moved, 0);
  t.equal(tail.settled, 198);
});

t.test('an unclosed fence is code to the end of the text', async (t) => {
  const tail = new Tail();
  tail.push('Look:\n\n```js\nconst a = 1;\n\nconst b');
  t.match(tail.pieces.at(-1), { nodes: [{ tag: 'pre', language: 'js', children: ['const a = 1;\n\nconst b'] }] });
  tail.push(' = 2;\n```\n\nDone.');
  t.match(
    tail.pieces.map(({ nodes }) => nodes[0]),
    [{ tag: 'p' }, { tag: 'pre', children: ['const a = 1;\n\nconst b = 2;'] }, { tag: 'p', children: ['Done.'] }],
  );
});

t.test('strange texts are drawn without an exception', async (t) => {
  const strange = [
    '> '.repeat(2000),
    `${'>'.repeat(2000)} deep`,
    `${'- '.repeat(2000)}x`,
    `${'['.repeat(5000)}`,
    `${'**a'.repeat(3000)}`,
    `${'`'.repeat(5001)}`,
    'x'.repeat(102_400),
    `${'|'.repeat(3000)}\n${'|-'.repeat(3000)}`,
    'half a pair \ud83d',
    '\r',
    '\u0000',
    '~~~~',
    '[a](',
    '<',
    '&#x110000; &#xd800;',
  ];
  for (const text of strange) {
    t.doesNotThrow(() => new Tail().push(text), text.slice(0, 12));
    t.doesNotThrow(() => piecesOf(text), text.slice(0, 12));
  }
});

/** Runs `act` and counts the characters that the lexer is given meanwhile. */
function charactersRead(act: () => void): number {
  const { blockTokens, inlineTokens } = Lexer.prototype;
  let sum = 0;
  Lexer.prototype.blockTokens = function (this: Lexer, src: string, ...rest: never[]) {
    sum += src.length;
    return blockTokens.call(this, src, ...rest);
  } as typeof blockTokens;
  Lexer.prototype.inlineTokens = function (this: Lexer, src: string, ...rest: never[]) {
    sum += src.length;
    return inlineTokens.call(this, src, ...rest);
  } as typeof inlineTokens;
  act();
  Object.assign(Lexer.prototype, { blockTokens, inlineTokens });
  return sum;
}

const LONG: Readonly<Record<string, string>> = {
  list: Array.from({ length: 600 }, (_, index) => `- item ${index} with **bold** words and \`code\`\n`).join(''),
  'loose list': Array.from({ length: 600 }, (_, index) => `${index + 1}. item with **bold** words\n\n`).join(''),
  'nested list': Array.from({ length: 600 }, (_, index) => `${'  '.repeat(index % 6)}- item ${index} with words\n`).join(''),
  'list behind a line': `Look:\n${'* an item of some words\n'.repeat(1200)}`,
  table: `| a | b |\n| --- | --- |\n${'| a cell with **bold** | and `another` |\n'.repeat(650)}`,
  paragraphs: 'A paragraph with **bold** words.\n\n'.repeat(800),
};

for (const [name, text] of Object.entries(LONG)) {
  t.test(`case 26: a piece of a long answer costs the same at its end as at its beginning: ${name}`, async (t) => {
    const tail = new Tail();
    const costs: number[] = [];
    for (let at = 0; at < text.length; at += 40) costs.push(charactersRead(() => tail.push(text.slice(at, at + 40))));
    t.ok(
      Math.max(...costs.slice(-100)) <= Math.max(...costs.slice(50, 150)) * 1.5,
      `${Math.max(...costs.slice(50, 150))} and ${Math.max(...costs.slice(-100))}`,
    );
    t.same(tail.pieces, piecesOf(text));
  });
}

t.test('the settled items of a growing list and the rows of a growing table stay the same objects', async (t) => {
  for (const text of [LONG['list'], LONG['table']] as string[]) {
    const tail = new Tail();
    const items = (): readonly unknown[] => {
      const node = tail.pieces[0]?.nodes[0] as MdElement;
      return node.tag === 'table' ? (node.children[1] as MdElement).children : node.children;
    };
    tail.push(text.slice(0, 20_000));
    const before = items();
    tail.push(text.slice(20_000, 20_500));
    t.equal(items().length > before.length, true);
    t.equal(
      before.slice(0, -10).every((item, index) => item === items()[index]),
      true,
    );
  }
});

t.test('a paragraph of marks that nothing closes is read in parts, which stay as they are', async (t) => {
  for (const mark of ['**a', '[', '` ', '_a ', '[a](b ']) {
    const text = mark.repeat(60_000 / mark.length);
    const tail = new Tail();
    tail.push(text.slice(0, 50_000));
    const first = charactersRead(() => tail.push(text.slice(50_000, 50_100)));
    t.ok(first <= 100_000, `${mark}: ${first}`);
    t.equal(JSON.stringify(tail.pieces), JSON.stringify(piecesOf(text.slice(0, 50_100))));
  }
});

t.test('no part of a paragraph has so many marks that each costs the others', async (t) => {
  const { inlineTokens } = Lexer.prototype;
  const marks: number[] = [];
  Lexer.prototype.inlineTokens = function (this: Lexer, src: string, ...rest: never[]) {
    marks.push(src.replace(/[^*_~`[@&]/g, '').length);
    return inlineTokens.call(this, src, ...rest);
  } as typeof inlineTokens;
  for (const mark of ['*a_', '*a **b', 'a@*', '&#**a*']) {
    const text = mark.repeat(4000 / mark.length);
    const nodes = piecesOf(text).flatMap((piece) => piece.nodes);
    const textOf = (node: (typeof nodes)[number]): string => (typeof node === 'string' ? node : node.children.map(textOf).join(''));
    t.equal(nodes.map(textOf).join('').replace(/[*_]/g, ''), text.replace(/[*_]/g, ''), 'nothing of the text is lost');
  }
  Object.assign(Lexer.prototype, { inlineTokens });
  t.ok(Math.max(...marks) <= 256, `${Math.max(...marks)} marks`);
});

t.test('no part of a paragraph without spaces ends within a character', async (t) => {
  const text = `x${'😀'.repeat(50_000)}`;
  const texts = piecesOf(text).flatMap(({ nodes }) => nodes.flatMap((node) => (node as MdElement).children as readonly string[]));
  t.equal(texts.join(''), text);
  t.ok(texts.length > 1 && texts.every((each) => !/[\ud800-\udbff]$/.test(each)));
});

/** Runs `act` and returns how many characters each call of a rule of blocks is given meanwhile. */
function givenTo(rule: 'lheading' | 'blockquote', act: () => void): readonly number[] {
  const pattern = Lexer.rules.block.gfm[rule];
  const given: number[] = [];
  pattern.exec = (src: string) => {
    given.push(src.length);
    return RegExp.prototype.exec.call(pattern, src);
  };
  act();
  Reflect.deleteProperty(pattern, 'exec');
  return given;
}

t.test('no line of an item looks for the end of a heading through all lines that follow', async (t) => {
  for (const line of ['\n\t<a b', '\n  <b', '\n    a_']) {
    const given = givenTo('lheading', () => piecesOf(`*${line.repeat(3000)}`));
    t.ok(given.length > 0 && Math.max(...given) <= 512, `${JSON.stringify(line)}: ${Math.max(...given)}`);
  }
  t.strictSame(piecesOf('- one\n  two\n  ===')[0]?.nodes, [{ tag: 'ul', children: [{ tag: 'li', children: [{ tag: 'h3', children: ['one\ntwo'] }] }] }]);
  t.match(piecesOf(`${'x'.repeat(600)}\n===\n\n${'y'.repeat(600)}`)[0]?.nodes, [{ tag: 'p' }], 'what is so long is no heading');
});

t.test('a very long quote is several, each of whole lines, and none of its lines is lost', async (t) => {
  const text = '> line\nlazy\n'.repeat(3000);
  const given = givenTo('blockquote', () => piecesOf(text));
  t.ok(Math.max(...given) <= 8192, `${Math.max(...given)}`);
  const nodes = piecesOf(text).flatMap((piece) => piece.nodes);
  const textOf = (node: (typeof nodes)[number]): string => (typeof node === 'string' ? node : node.children.map(textOf).join('\n'));
  t.equal(nodes.map(textOf).join('\n'), 'line\nlazy\n'.repeat(3000).trimEnd());
  t.match(piecesOf(`> ${'x'.repeat(10_000)}\n> y`)[0]?.nodes, [{ tag: 'blockquote' }], 'a first line of any length');
});

t.test('what is settled is found in one walk over a text of very many blocks', async (t) => {
  for (const block of ['#\n', '---\n']) {
    const { test } = RegExp.prototype;
    let tested = 0;
    const tail = new Tail();
    tail.push(block.repeat(4000));
    RegExp.prototype.test = function (text) {
      tested += text.length;
      return test.call(this, text);
    };
    tail.push(block);
    RegExp.prototype.test = test;
    t.ok(tested <= 40 * block.length * 4000, `${JSON.stringify(block)}: ${tested}`);
  }
});
