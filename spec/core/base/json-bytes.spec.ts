import t from 'tap';
import { toJsonBytes } from '../../../core/base/json-bytes.ts';

const options = { sliceLength: 7, largeLength: 20 };
const written = async (value: unknown): Promise<string> => (await toJsonBytes(value, { ...options, turn: async () => undefined })).toString();

t.test('every value is written as JSON.stringify writes it, wherever the slices end', async (t) => {
  const texts = [
    '',
    'a',
    '"\\\n\t\u0001',
    'é'.repeat(30),
    '😀'.repeat(30),
    `a${'😀'.repeat(30)}`,
    `ab\ud83d${'x'.repeat(30)}\udc00\ud83d`,
    'x'.repeat(3000),
    '\u2028',
  ];
  for (const text of texts)
    for (let cut = 0; cut < 9; cut += 1) t.equal(await written([text.slice(cut), 'y'.repeat(20)]), JSON.stringify([text.slice(cut), 'y'.repeat(20)]));
  const values: unknown[] = [
    null,
    1.5,
    [],
    {},
    [[], {}, [{}], null, true, -0, 1e300, 'x'.repeat(30)],
    { a: undefined, b: 'x'.repeat(30), c: undefined },
    { a: undefined, 'a"b': { long: 'y'.repeat(30), list: [1, undefined, 'z'.repeat(30)] }, '': [] },
    { a: Array.from({ length: 40 }, () => undefined) },
    JSON.parse(`{"__proto__": {"x": "${'w'.repeat(30)}"}, "2": 1, "1": "${'v'.repeat(30)}"}`),
    Array.from({ length: 50 }, (_, index) => ({ role: 'user', content: `text ${index}` })),
  ];
  for (const value of values) t.equal(await written(value), JSON.stringify(value));
});

t.test('a small value is written at once', async (t) => {
  const small = toJsonBytes({ text: 'x'.repeat(500_000) });
  t.type(small, Buffer);
  t.equal(small.toString(), JSON.stringify({ text: 'x'.repeat(500_000) }));
});

t.test('between the slices of a large value the event loop turns', async (t) => {
  t.capture(performance, 'now', () => 0); // on a busy machine, it may write several slices in a turn
  let turns = 0;
  const count = (): void => {
    turns += 1;
    ticking = setImmediate(count);
  };
  let ticking = setImmediate(count);
  const value = [{ text: 'é'.repeat(1_000_000) }, ...Array.from({ length: 10_000 }, (_, index) => ({ index, text: 'x'.repeat(100) }))];
  t.equal((await toJsonBytes(value)).toString(), JSON.stringify(value));
  clearImmediate(ticking);
  t.ok(turns >= 15, `${turns} turns for 16 slices`);
});

t.test('a turn that fails ends the writing', async (t) => {
  await t.rejects(async () => toJsonBytes('x'.repeat(2_000_000), { turn: () => Promise.reject(new Error('left')) }), { message: 'left' });
});
