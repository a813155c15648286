import t from 'tap';
import { toEmbeddings } from '../../../../../transports/http/dialects/openai-embeddings/response.ts';

const RESPONSE = { provider: 'p', model: 'inner', vectors: [[0.5, -1], [2]], usage: { inputTokens: 3, outputTokens: 0, totalTokens: 3 } };

t.test('vectors have their place, and the name is the one that was asked for', async (t) => {
  t.same(toEmbeddings(RESPONSE, 'asked', false), {
    object: 'list',
    data: [
      { object: 'embedding', index: 0, embedding: [0.5, -1] },
      { object: 'embedding', index: 1, embedding: [2] },
    ],
    model: 'asked',
    usage: { prompt_tokens: 3, total_tokens: 3 },
  });
});

t.test('base64 is little-endian 32-bit floats', async (t) => {
  t.match(toEmbeddings(RESPONSE, 'asked', true), { data: [{ embedding: 'AAAAPwAAgL8=' }, { embedding: 'AAAAQA==' }] });
});
