import t from 'tap';
import { EMBEDDING } from '../../../adapters/bedrock/embed.ts';
import { createBedrock } from '../../../adapters/bedrock/index.ts';
import { adapterCall, settingsFor } from '../../support/adapter-call.ts';

const settings = settingsFor(createBedrock(), { env: { AWS_REGION: 'eu-west-1' } });
const build = (model: string, inputs: string[], dimensions?: number) => EMBEDDING.build({ ...adapterCall({ settings }), model, inputs, dimensions });

t.test('Titan takes one text a call', async (t) => {
  t.equal(EMBEDDING.batch('amazon.titan-embed-text-v2:0'), 1);
  const { url, body } = build('amazon.titan-embed-text-v2:0', ['a'], 256);
  t.equal(url.href, 'https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.titan-embed-text-v2%3A0/invoke');
  t.same(body, { inputText: 'a', dimensions: 256 });
  t.same(EMBEDDING.read({ embedding: [1, 2], inputTextTokenCount: 3 }), { vectors: [[1, 2]], inputTokens: 3 });
});

t.test('Cohere takes 96, and answers a list or lists by type', async (t) => {
  t.equal(EMBEDDING.batch('eu.cohere.embed-v4:0'), 96);
  t.same(build('cohere.embed-multilingual-v3', ['a', 'b']).body, { texts: ['a', 'b'], input_type: 'search_document' });
  t.same(EMBEDDING.read({ embeddings: [[1], [2]] }).vectors, [[1], [2]]);
  t.same(EMBEDDING.read({ embeddings: { float: [[1], [2]] } }).vectors, [[1], [2]]);
});

t.test('another model is refused with one that works', async (t) => {
  t.throws(() => EMBEDDING.batch('anthropic.claude-x'), {
    code: 'INVALID_REQUEST',
    message: /^model must be a Titan or Cohere model.*amazon\.titan-embed-text-v2:0/,
  });
});
