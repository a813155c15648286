import t from 'tap';
import { EMBEDDING } from '../../../adapters/google/embed.ts';
import { createGoogle } from '../../../adapters/google/index.ts';
import { adapterCall, settingsFor } from '../../support/adapter-call.ts';

t.test('each text is a request of its own in one call', async (t) => {
  const settings = settingsFor(createGoogle(), { env: { GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:1' } });
  const { url, body } = EMBEDDING.build({ ...adapterCall({ settings }), model: 'models/gemini-embedding-001', inputs: ['a', 'b'], dimensions: 8 });
  t.equal(url.href, 'http://127.0.0.1:1/v1beta/models/gemini-embedding-001:batchEmbedContents');
  const request = (text: string) => ({ model: 'models/gemini-embedding-001', content: { parts: [{ text }] }, outputDimensionality: 8 });
  t.same(body, { requests: [request('a'), request('b')] });
  t.same(EMBEDDING.read({ embeddings: [{ values: [1] }, { values: [2] }] }), { vectors: [[1], [2]], inputTokens: undefined });
});
