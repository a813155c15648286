import t from 'tap';
import { readEmbed, readOldEmbeddings } from '../../../../../transports/http/dialects/ollama/embed.ts';

const RESPONSE = { provider: 'p', model: 'inner', vectors: [[1], [2]], usage: { inputTokens: 3, outputTokens: 0, totalTokens: 3 } };

t.test('a list of texts has a list of vectors', async (t) => {
  const request = readEmbed({ model: 'm', input: ['a', 'b'], dimensions: 4, truncate: true, keep_alive: '5m' });
  t.match(request, { model: 'm', embed: { inputs: ['a', 'b'], dimensions: 4 }, warnings: [{ field: 'truncate' }] });
  t.match(request.answer(RESPONSE), { model: 'm', embeddings: [[1], [2]], prompt_eval_count: 3 });
  t.equal(request.field('inputs[1]'), 'input[1]');
});

t.test('the older form has one prompt and one vector', async (t) => {
  const request = readOldEmbeddings({ model: 'm', prompt: 'a' });
  t.same(request.embed, { inputs: ['a'] });
  t.same(request.answer(RESPONSE), { embedding: [1] });
  t.equal(request.field('inputs[0]'), 'prompt');
  t.throws(() => readOldEmbeddings({ model: 'm' }), { message: /^prompt is required/ });
});
