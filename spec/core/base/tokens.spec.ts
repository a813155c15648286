import t from 'tap';
import { newRequestId } from '../../../core/base/request-id.ts';
import { estimateTokens, isCount, TokenEstimate } from '../../../core/base/tokens.ts';

t.test('tokens are estimated by the length of the text and its script', async (t) => {
  const cases: [string, number][] = [
    ['', 0],
    ['a', 1],
    ['abcd', 1],
    ['abcde', 2],
    ['a'.repeat(4000), 1000],
    ['漢', 1],
    ['漢字仮', 2],
    ['漢'.repeat(1500), 1000],
    ['abcd漢字仮', 3],
    ['😀', 2],
    ['\u0000', 1],
  ];
  for (const [text, tokens] of cases) t.equal(estimateTokens(text), tokens, JSON.stringify(text.slice(0, 12)));
});

t.test('a text that comes in pieces is estimated like the whole', async (t) => {
  const text = `${'plain text, '.repeat(200)}${'漢字 and some more '.repeat(300)}`;
  const pieces = new TokenEstimate();
  t.equal(pieces.tokens, 0);
  for (let at = 0; at < text.length; at += 7) pieces.add(text.slice(at, at + 7));
  t.equal(pieces.tokens, estimateTokens(text));
});

t.test('ids of requests do not repeat, also beyond the random bytes that are drawn at once', async (t) => {
  const ids = Array.from({ length: 1000 }, newRequestId);
  t.equal(new Set(ids).size, 1000);
  t.same(
    ids.filter((id) => !/^req_[0-9a-f]{24}$/.test(id)),
    [],
  );
});

t.test('a number of tokens is whole, and not below zero', async (t) => {
  for (const count of [0, 1, 2 ** 40]) t.ok(isCount(count), String(count));
  for (const other of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '1', null, undefined]) t.notOk(isCount(other), String(other));
});
