import t from 'tap';
import { COMPLETION_FIELDS } from '../../../../../transports/http/dialects/openai-completions/request-fields.ts';
import { forbiddenField } from '../../../../support/key-requests.ts';

t.test('a usual request passes with a key that has every limit, and what a service would take besides does not', async (t) => {
  const usual = { model: 'm', prompt: 'hi', stream: true, stream_options: { include_usage: true }, max_tokens: 9, stop: ['a'], logprobs: 1, best_of: 1 };
  t.equal(forbiddenField(COMPLETION_FIELDS, usual), undefined);
  t.equal(forbiddenField(COMPLETION_FIELDS, { ...usual, api_base: 'http://127.0.0.1:1' }), 'api_base');
  t.equal(forbiddenField(COMPLETION_FIELDS, { ...usual, models: ['n'] }), 'models');
  t.equal(forbiddenField(COMPLETION_FIELDS, { ...usual, background: true }), 'background');
});
