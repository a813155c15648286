import t from 'tap';
import { ContextSizes } from '../../../adapters/ollama/context-size.ts';

const LIMIT = 131_072;

t.test('grow-only: a shorter request keeps the size that the model is loaded with', async (t) => {
  let now = 0;
  const sizes = new ContextSizes(() => now);
  const sizeFor = (promptTokens: number, key = 'a', limit = LIMIT) => sizes.sizeFor(key, { promptTokens, answerTokens: 1000, limit });
  t.equal(sizeFor(100), 4096);
  t.equal(sizeFor(6000), 16_384);
  t.equal(sizeFor(100), 16_384);
  t.equal(sizeFor(100, 'b'), 4096, 'another model has a size of its own');
  t.equal(sizeFor(100, 'a', 8192), 8192, 'a limit that was lowered holds at once');
  t.equal(sizeFor(6000), 16_384);
  now += 299_000;
  t.equal(sizeFor(100), 16_384);
  now += 299_000;
  t.equal(sizeFor(100), 16_384, 'each call keeps the model loaded');
  now += 301_000;
  t.equal(sizeFor(100), 4096, 'a model that has been unloaded begins anew');
});

t.test('powers-of-two: a conversation that grows to 100,000 tokens meets six sizes', async (t) => {
  const sizes = new ContextSizes();
  const met = new Set<number>();
  for (let tokens = 10; tokens < 100_000; tokens += 500) {
    const size = sizes.sizeFor('a', { promptTokens: tokens, answerTokens: 1000, limit: LIMIT });
    if (size < tokens * 1.2 + 1000) t.fail(`${tokens} tokens don't fit into ${size}`);
    met.add(size);
  }
  t.same([...met], [4096, 8192, 16_384, 32_768, 65_536, 131_072]);
});
