import { isDeepStrictEqual } from 'node:util';
import t, { type Test } from 'tap';
import { parseInSlices, type TooMuchJson } from '../../../core/base/json-slices.ts';
import { sweep } from '../../support/sweep.ts';

const MANY = 1_000_000;
/** Whatever a slice is, the result is the same; small ones cut everywhere. */
const SIZES = [1, 2, 3, 5, 8, 13, 64, 1000];

interface Outcome {
  readonly value?: unknown;
  readonly keys?: string;
  readonly position?: string | undefined;
}

/** With the order of the names, and with what `same` does not compare. */
function seen(value: unknown): Outcome {
  return { value, keys: JSON.stringify(value) };
}

function whole(text: string): Outcome {
  try {
    return seen(JSON.parse(text));
  } catch (error) {
    return { position: /position \d+/.exec((error as Error).message)?.[0] };
  }
}

async function sliced(text: string, sliceBytes: number): Promise<Outcome> {
  try {
    const bytes = Buffer.from(text);
    const encoding = bytes.length === text.length ? 'latin1' : 'utf8';
    return seen(await parseInSlices(bytes, { values: MANY, encoding, sliceBytes, turn: async () => undefined }));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { position: /position \d+/.exec(error.message)?.[0] };
  }
}

async function assertSame(t: Test, text: string): Promise<void> {
  const wanted = whole(text);
  for (const size of SIZES) {
    const found = await sliced(text, size);
    const isSame =
      'value' in wanted ? 'value' in found && found.keys === wanted.keys : !('value' in found) && (wanted.position ?? found.position) === found.position;
    if (!isSame) t.same(found, wanted, `slices of ${size}: ${text.slice(0, 300)}`);
    else if (!isDeepStrictEqual(found.value, wanted.value)) t.strictSame(found.value, wanted.value, text);
  }
}

const DOCUMENTS: readonly string[] = [
  '',
  ' ',
  '1',
  ' "a" ',
  '[]',
  '{}',
  '[ ]x',
  'x',
  '[1,2,3]',
  '[1,2,3',
  '[1,2,3,]',
  '[,1]',
  '[1,,2]',
  '[1 2]',
  '[[1] 2]',
  '[[1] [2]]',
  '[[1]][2]',
  '[1],[2]',
  '1,2',
  '1]',
  '[1]]',
  '[1}',
  '{"a":1]',
  '[{"a":1],2]',
  '{"a":1,"a":2,"b":{"a":3},"a":{"c":4}}',
  '{"__proto__":{"a":1},"b":{"__proto__":5},"__proto__":[1],"constructor":1,"toString":2}',
  '{"2":1,"1":2,"b":3,"0":{"2":1,"1":2},"a":4}',
  '{"a":[],"b":{},"c":"","":{"":[[[]]]}}',
  '{"a" : [ 1 , {"b" : null } ] , "c":true}',
  '{"a":1[2]}',
  '{"a":1{}}',
  '{"a"[2]}',
  '{"a","b":1}',
  '{[1]:2}',
  '{"a":[1]"b":2}',
  '{"a":"long enough to be cut" "b":2}',
  '{"a":"long enough to be cut",}',
  '{"a long key, long enough to be cut" : 1, "b" 2}',
  '{"a":1 "b":2}',
  '{a:1}',
  "{'a':1}",
  '[tru]',
  '[true false]',
  '[nul',
  '[-]',
  '[01]',
  '[1.]',
  '[1e]',
  '[+1]',
  '[0x1]',
  '[NaN]',
  '[1e999,-0,1e-400,0.1,123456789012345678901234567890,1E+2]',
  '["\\u00e9\\ud83d\\ude00\\ud83d","\\ude00\\ud83d","\\"\\\\\\/\\b\\f\\n\\r\\t"]',
  '["\\\\\\\\\\\\\\\\\\\\\\\\\\"\\\\\\\\\\\\\\\\\\\\","\\u005c\\u005c\\u0022\\u005c"]',
  '["\\x"]',
  '["\\u12"]',
  '["\\u12g4 and more"]',
  '["\\',
  '["\\u00',
  '["abcdefghijklmnop',
  '{"abcdefghijklmnop',
  '{"abcdefghijklmnop":"abcdefghijklmnop',
  '["a\nb, with a raw line end after some text"]',
  '["a\u0000b"]',
  '["Grüße, 漢字, 😀 and more of them: Grüße, 漢字, 😀"]',
  '{"Grüße, 漢字, 😀":["Grüße", "漢字" "😀"]}',
  '\ufeff[1]',
  '[\ufeff1]',
  '[1]\u00a0',
  '[1\u2028]',
  `${'['.repeat(60)}${']'.repeat(60)}`,
  `${'['.repeat(60)}${']'.repeat(59)}`,
  `${'{"a":'.repeat(60)}1${'}'.repeat(60)}`,
  `${'{"a":['.repeat(40)}1${'],"b":2}'.repeat(40)}`,
  `[${'{"role":"user","content":"some text"},'.repeat(20)}{}]`,
  `[1${' '.repeat(100)}, 2${'\n'.repeat(100)}]${'\t'.repeat(100)}`,
];

t.test('documents of every kind are parsed, or refused at the same place, as JSON.parse does, wherever the slices end', async (t) => {
  for (const text of DOCUMENTS) await assertSame(t, text);
});

t.test('documents that are damaged at any place are, too', async (t) => {
  const random = randomOf(7);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const signs = ['"', '\\', ',', '[', ']', '{', '}', ':', ' ', '1', 'e', '-', 'u', '\n', 'é', '😀', '"a":', '[]', '"b"'];
  for (let round = 0; round < sweep(20_000, 250); round += 1) {
    let text = pick(DOCUMENTS);
    for (let changes = Math.floor(random() * 3); changes >= 0; changes -= 1) {
      const at = Math.floor(random() * (text.length + 1));
      text = text.slice(0, at) + (random() < 0.5 ? pick(signs) : '') + text.slice(at + Math.floor(random() * 3));
    }
    await assertSame(t, Buffer.from(text).toString());
  }
});

/** Random values with hostile names and texts. */
function anyValue(random: () => number, depth: number): unknown {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const kind = random();
  if (depth === 0 || kind < 0.3) return pick([null, true, 0, -0.5, 1e300, '', 'a', '"\\', '\u2028\ud800', '😀'.repeat(30), '\\'.repeat(50), 'x'.repeat(200)]);
  const members = Array.from({ length: Math.floor(random() * 6) }, () => anyValue(random, depth - 1));
  if (kind < 0.65) return members;
  return Object.fromEntries(members.map((member) => [pick(['a', 'b', '1', '0', '', '__proto__', 'constructor', '"', 'ü', 'k'.repeat(80)]), member]));
}

t.test('any value comes back as it was written', async (t) => {
  const random = randomOf(11);
  for (let round = 0; round < sweep(5000, 60); round += 1) {
    await assertSame(t, Buffer.from(JSON.stringify(anyValue(random, 5), null, random() < 0.3 ? 1 : undefined)).toString());
  }
});

t.test('a nesting of any depth is parsed like that of JSON.parse', async (t) => {
  const depth = 100_000;
  let value = await parseInSlices(Buffer.from('['.repeat(depth) + ']'.repeat(depth)), { values: depth });
  let found = 0;
  for (; Array.isArray(value); found += 1) value = value[0];
  t.equal(found, depth);
});

t.test('parses that run beside each other take turns, one slice in each turn of the event loop', async (t) => {
  const texts = Array.from({ length: 4 }, (_, index) => Buffer.from(JSON.stringify(`${index}`.repeat(10_000))));
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  t.equal((await Promise.all(texts.map((bytes) => parseInSlices(bytes, { values: 1, sliceBytes: 1000 })))).length, 4);
  isDone = true;
  t.ok(turns >= 40, `${turns} turns`);
});

t.test('too many values are refused where they are, whatever comes behind', async (t) => {
  await t.rejects(parseInSlices(Buffer.from('[1,1,1,1,'), { values: 4 }), { message: /more than 4 JSON values/ });
  await t.rejects(parseInSlices(Buffer.from('[[],{},[]]'), { values: 5 }), { message: /more than 5 JSON values/ });
  t.same(await parseInSlices(Buffer.from('[",[{",[]]'), { values: 3 }), [',[{', []]);
});

t.test('too many levels are refused where they are, and what is exceeded is named', async (t) => {
  const parse = (text: string) => parseInSlices(Buffer.from(text), { values: 9, depth: 3 });
  await t.rejects(parse('[1,{"a":[[2'), { message: /deeper than 3 levels/ });
  t.same(await parse('[1,{"a":[2]},[[]]]'), [1, { a: [2] }, [[]]]);
  for (const [text, exceeded] of [
    ['[[[[', 'depth'],
    ['[1,1,1,1,1,1,1,1,1,1', 'values'],
  ] as const)
    t.equal(await parse(text).catch((error: TooMuchJson) => error.exceeded), exceeded);
});

t.test('an object with too many fields is refused, however deep; a list has any number of values', async (t) => {
  const refused = { message: /an object with more than 3 fields/ };
  const parse = (text: string) => parseInSlices(Buffer.from(text), { values: 100, fields: 3 });
  await t.rejects(parse('{"a":1,"b":2,"c":3,"d":'), refused);
  await t.rejects(parse('[{"a":{"b":[1,2,3,4,5],"c":",,,,","d":1,"e":1'), refused);
  t.same(await parse('[{"a":1,"b":2,"c":3},1,2,3,4,{"a":{"b":1,"c":1,"d":1},"e":2,"f":3}]'), [
    { a: 1, b: 2, c: 3 },
    1,
    2,
    3,
    4,
    { a: { b: 1, c: 1, d: 1 }, e: 2, f: 3 },
  ]);
});

t.test('a name, a number or blanks that would have to be parsed in one piece are refused; a text has any length, and so have blanks around it', async (t) => {
  const many = 1_000_000;
  const parse = (text: string) => parseInSlices(Buffer.from(text), { values: 100 });
  const refused = { message: /^has a name, a number or blanks of more than 131072 bytes$/ };
  const blanks = ' '.repeat(many);
  for (const text of [
    `{"a":{"${'k'.repeat(many)}":1}}`,
    `{"${'\\u0041'.repeat(many)}":1}`,
    `[1,${'7'.repeat(many)}]`,
    `{"a":${'7'.repeat(many)}}`,
    `{"a"${blanks}:1}`,
    `{"a":${blanks}1}`,
    `{"a":1,${blanks}"b":1}`,
    `[[1]${blanks}]`,
    `[1,${blanks}]`,
  ])
    await t.rejects(parse(text), refused, text.slice(0, 10));
  for (const text of [`${blanks}[]${blanks}`, `${blanks}{"a":[1]}${blanks}`]) t.same(await parse(text), JSON.parse(text));
  for (const text of [`[]${blanks}2`, blanks]) await t.rejects(parse(text), SyntaxError);
  const name = 'k'.repeat(100_000);
  const long = 'x'.repeat(many);
  for (const value of [{ [name]: long }, [long, long], { a: [long], [name]: { b: long } }]) t.same(await parse(JSON.stringify(value)), value);
});

const MIB = 1024 * 1024;

/** Milliseconds of processor time that the cheapest of some runs takes; no more are made once one takes no more than `enoughMs`. */
async function cheapestMs(act: () => Promise<unknown>, enoughMs: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 5 && best > enoughMs; run += 1) {
    const begin = process.cpuUsage();
    await act();
    best = Math.min(best, process.cpuUsage(begin).user / 1000);
  }
  return best;
}

t.test('blanks around a text are looked at once, however many there are', async (t) => {
  for (const around of [(blanks: string) => `${blanks}[]`, (blanks: string) => `[]${blanks}`]) {
    const costMs = (mib: number, enoughMs: number): Promise<number> => {
      const bytes = Buffer.from(around(' '.repeat(mib * MIB)));
      return cheapestMs(() => parseInSlices(bytes, { values: 100 }), enoughMs);
    };
    const shortMs = Math.max(await costMs(1, 2), 2);
    const longMs = await costMs(8, 23 * shortMs);
    t.ok(longMs < 24 * shortMs, `eight times as many take ${(longMs / shortMs).toFixed(1)} times as long`);
  }
});

t.test('an escape may stand where a slice ends, in a string of any length', async (t) => {
  for (let before = 0; before < 200; before += 1) {
    for (const sign of ['\\"', '\\\\', '\\u0022', '\\n"', '"']) {
      const text = `["${'x'.repeat(before)}${sign}${'y'.repeat(150)}"]`;
      for (const size of [64, 100, 128]) {
        const found = await sliced(text, size);
        const wanted = whole(text);
        if (found.keys !== wanted.keys) t.same(found, wanted, `${before} characters before ${sign}, slices of ${size}`);
      }
    }
  }
});

const LARGE: [title: string, text: string][] = [
  ['one string', JSON.stringify({ a: 'x'.repeat(MIB) })],
  ['one string of escapes', `["${'\\n\\u00e9\\"'.repeat(MIB / 10)}"]`],
  ['numbers', JSON.stringify({ input: Array.from({ length: 50_000 }, (_, index) => index * 1.000001) })],
  [
    'messages',
    JSON.stringify({ messages: Array.from({ length: 6000 }, (_, index) => ({ role: 'user', content: [{ type: 'text', text: `${index}`.repeat(30) }] })) }),
  ],
  ['names', JSON.stringify(Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`name ${index}`, { index }])))],
  ['a deep nesting', `${'{"a":[0,'.repeat(20_000)}1${']}'.repeat(20_000)}`],
];

t.test('between the slices of large text the event loop turns', async (t) => {
  for (const [title, text] of LARGE) {
    let turns = 0;
    const sliceBytes = 64 * 1024;
    const value = await parseInSlices(Buffer.from(text), {
      values: MANY,
      sliceBytes,
      turn: async () => {
        turns += 1;
      },
    });
    if (title === 'a deep nesting') t.ok(Array.isArray((value as { a: unknown }).a));
    else t.equal(JSON.stringify(value), JSON.stringify(JSON.parse(text)), title);
    t.ok(turns >= Math.floor(text.length / sliceBytes) - 1, `${title}: ${turns} turns`);
  }
});

/** Numbers that look random and are the same in every run. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state / 2 ** 32;
  };
}
