import t from 'tap';
import { inputsOf } from '../../../../../transports/http/dialects/shared/embeddings.ts';

t.test('a text, a list, and token ids are inputs', async (t) => {
  t.same(inputsOf({ input: 'hi' }), ['hi']);
  t.same(inputsOf({ input: ['a', 'b'] }), ['a', 'b']);
  t.same(inputsOf({ input: [1, 2] }), [[1, 2]]);
  t.same(inputsOf({ input: [[1], [2, 3]] }), [[1], [2, 3]]);
});

t.test('what is none is refused by its place', async (t) => {
  for (const [input, message] of [
    [undefined, /^input must be/],
    ['', /^input must be a text that is not empty/],
    [[], /^input must be/],
    [['a', ''], /^input\[1\] must be/],
    [[1.5], /^input\[0\] must be/],
    [Array.from({ length: 2049 }, () => 'x'), /^input has 2049 inputs/],
  ] as const) {
    t.throws(() => inputsOf({ input }), { code: 'INVALID_REQUEST', message });
  }
});
