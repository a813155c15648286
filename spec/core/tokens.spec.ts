import t from 'tap';
import { estimateTokens } from '../../core/tokens.ts';

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
