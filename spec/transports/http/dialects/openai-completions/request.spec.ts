import t from 'tap';
import { COMPLETION_FIELDS } from '../../../../../transports/http/dialects/openai-completions/request-fields.ts';
import { readRequest } from '../../../../../transports/http/dialects/openai-completions/request.ts';
import { forbiddenField } from '../../../../support/key-requests.ts';

const read = (more: object = {}) => readRequest({ model: 'm', prompt: 'Once', ...more });

t.test('the prompt is the message of a user, as a text or the only one of a list', async (t) => {
  t.match(read(), { model: 'm', stream: false, warnings: [], echo: { includeUsage: false } });
  t.strictSame(read().chat, { messages: [{ role: 'user', content: 'Once' }] });
  t.strictSame(read({ prompt: ['Once'] }).chat, read().chat);
});

t.test('settings keep their meaning', async (t) => {
  const settings = {
    max_tokens: 9,
    temperature: 0.5,
    top_p: 0.9,
    stop: '\n',
    seed: 1,
    presence_penalty: 1,
    frequency_penalty: -1,
    user: 'u',
    n: 1,
    best_of: 1,
  };
  const asked = read({ ...settings, stream: true, stream_options: { include_usage: true } });
  const config = { maxTokens: 9, temperature: 0.5, topP: 0.9, stop: ['\n'], seed: 1, presencePenalty: 1, frequencyPenalty: -1, user: 'u' };
  t.strictSame(asked.chat.config, config);
  t.match(asked, { stream: true, warnings: [], echo: { includeUsage: true } });
  for (const [ours, theirs] of [
    ['messages[0].content', 'prompt'],
    ['config.maxTokens', 'max_tokens'],
    ['config.topP', 'top_p'],
  ] as const)
    t.equal(asked.field?.(ours), theirs);
});

t.test('what has no effect is a warning', async (t) => {
  t.match(read({ logprobs: 2, logit_bias: { 1: 1 }, temperature: 1.5, suffix: '', echo: false }).warnings, [
    { field: 'logprobs' },
    { field: 'logit_bias' },
    { field: 'temperature' },
  ]);
});

t.test('what would make the answer wrong is refused by its name', async (t) => {
  for (const [more, message] of [
    [{ prompt: undefined }, /^prompt must be a text/],
    [{ prompt: [] }, /^prompt must be a text/],
    [{ prompt: ['a', 'b'] }, /^prompt must be a text/],
    [{ prompt: [1, 2] }, /^prompt .*token ids are not supported/],
    [{ prompt: [[1]] }, /^prompt /],
    [{ prompt: ' ' }, /^prompt must not be empty/],
    [{ suffix: 'end' }, /^suffix is not supported/],
    [{ echo: true }, /^echo is not supported/],
    [{ n: 2 }, /^n must be 1/],
    [{ best_of: 3 }, /^best_of must be 1/],
    [{ max_tokens: 0 }, /^max_tokens /],
    [{ stream: 'yes' }, /^stream /],
    [{ stream_options: 1 }, /^stream_options /],
    [{ model: '' }, /^model is required/],
  ] as const)
    t.throws(() => read(more), { code: 'INVALID_REQUEST', message }, JSON.stringify(more));
});

t.test('a usual request passes with a key that has every limit, and what a service would take besides does not', async (t) => {
  const usual = { model: 'm', prompt: 'hi', stream: true, stream_options: { include_usage: true }, max_tokens: 9, stop: ['a'], logprobs: 1, best_of: 1 };
  t.equal(forbiddenField(COMPLETION_FIELDS, usual), undefined);
  t.equal(forbiddenField(COMPLETION_FIELDS, { ...usual, api_base: 'http://127.0.0.1:1' }), 'api_base');
  t.equal(forbiddenField(COMPLETION_FIELDS, { ...usual, models: ['n'] }), 'models');
  t.equal(forbiddenField(COMPLETION_FIELDS, { ...usual, background: true }), 'background');
});
