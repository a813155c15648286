import t from 'tap';
import { piecesOf, Tail } from '../../../../../transports/dashboard/parts/markdown/tail.ts';

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
  return Array.from({ length: 14 }, () => PARTS[Math.floor(random() * PARTS.length)]).join('');
}

t.test('a text that comes in pieces has, at any of 200 cuts of 30 documents, the nodes of a parse of the whole', async (t) => {
  for (let seed = 1; seed <= 30; seed += 1) {
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
