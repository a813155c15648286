import t from 'tap';
import { EMBEDDING } from '../../../adapters/ollama/embed.ts';
import { createOllama } from '../../../adapters/ollama/index.ts';
import { adapterCall, settingsFor } from '../../support/adapter-call.ts';

t.test('a list of texts has a list of vectors', async (t) => {
  const settings = settingsFor(createOllama(), { env: { OLLAMA_BASE_URL: 'http://127.0.0.1:1/v1' } });
  const { url, body } = EMBEDDING.build({ ...adapterCall({ settings }), model: 'm', inputs: ['a', 'b'] });
  t.equal(url.href, 'http://127.0.0.1:1/api/embed');
  t.same(body, { model: 'm', input: ['a', 'b'] });
  t.same(EMBEDDING.read({ embeddings: [[1], [2]], prompt_eval_count: 5 }), { vectors: [[1], [2]], inputTokens: 5 });
});
