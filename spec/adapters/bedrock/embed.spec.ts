import t from 'tap';
import { EMBEDDING } from '../../../adapters/bedrock/embed.ts';
import { createBedrock } from '../../../adapters/bedrock/index.ts';
import { adapterCall, settingsFor } from '../../support/adapter-call.ts';
import { type Answerer, sendJson, startUpstream } from '../../support/upstream.ts';

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

t.test('what the body does not count, the header does, and the larger of both counts', async (t) => {
  const counted = (body: object, told: string) => EMBEDDING.read({ ...body }, undefined, { 'x-amzn-bedrock-input-token-count': told }).inputTokens;
  t.equal(
    counted({ embeddings: [[1]] }, '480'),
    480,
    'Cohere has no count in its body, and a text of digits has four times as many tokens as an estimate says',
  );
  t.equal(counted({ embedding: [1], inputTextTokenCount: 3 }, '480'), 480);
  t.equal(counted({ embedding: [1], inputTextTokenCount: 3 }, '2'), 3);
  t.equal(counted({ embeddings: [[1]] }, 'many'), undefined);
});

t.test('the header of an answer reaches the account', async (t) => {
  const answer: Answerer = (_request, res) => {
    res.setHeader('x-amzn-bedrock-input-token-count', '480');
    sendJson(res, { embeddings: [[1, 2]] });
  };
  const upstream = await startUpstream(t, answer);
  const adapter = createBedrock();
  t.teardown(() => adapter.close());
  const env = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret', AWS_ENDPOINT_URL: upstream.url };
  const call = adapterCall({ settings: settingsFor(adapter, { env }) });
  const model = 'cohere.embed-multilingual-v3';
  t.match(await adapter.embedding?.embed({ ...call, model, inputs: ['7391'.repeat(120)], dimensions: undefined }), { inputTokens: 480 });
});

t.test('another model is refused with one that works', async (t) => {
  t.throws(() => EMBEDDING.batch('anthropic.claude-x'), {
    code: 'INVALID_REQUEST',
    message: /^model must be a Titan or Cohere model.*amazon\.titan-embed-text-v2:0/,
  });
});
