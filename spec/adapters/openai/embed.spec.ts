import t from 'tap';
import { EMBEDDING } from '../../../adapters/openai/embed.ts';
import { createOpenAI } from '../../../adapters/openai/index.ts';
import { adapterCall, settingsFor } from '../../support/adapter-call.ts';

const settings = settingsFor(createOpenAI(), { env: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' } });

t.test('texts and token ids go out as they are', async (t) => {
  const { url, body } = EMBEDDING.build({ ...adapterCall({ settings }), model: 'm', inputs: ['a', [1]], dimensions: 8, user: 'u' });
  t.equal(url.href, 'http://127.0.0.1:1/v1/embeddings');
  t.same(body, { model: 'm', input: ['a', [1]], encoding_format: 'float', dimensions: 8, user: 'u' });
});

t.test('vectors are put in the order of their index', async (t) => {
  const data = [
    { index: 1, embedding: [2] },
    { index: 0, embedding: [1] },
  ];
  t.same(EMBEDDING.read({ data, usage: { prompt_tokens: 4 } }), { vectors: [[1], [2]], inputTokens: 4, costUsd: undefined });
  t.same(EMBEDDING.read({ data: [{ embedding: [1] }, { embedding: [2] }] }), { vectors: [[1], [2]], inputTokens: undefined, costUsd: undefined });
  t.match(EMBEDDING.read({ data, usage: { total_tokens: 6 } }), { inputTokens: 6 }, 'some servers tell the total alone');
  t.match(EMBEDDING.read({ data, usage: { prompt_tokens: 4, cost: 0.5 } }, 'usage.cost'), { inputTokens: 4, costUsd: 0.5 });
});
