import t from 'tap';
import { DEFAULT_MODEL, isClaude, MODELS, takesCachePoints, takesHour, takesResultStatus, takesTemperature } from '../../../adapters/bedrock/models.ts';

const ARN = 'arn:aws:bedrock:us-east-1:123456789012:';

t.test('the default model is one of those listed, and none is listed twice', async (t) => {
  t.ok(MODELS.includes(DEFAULT_MODEL));
  t.equal(new Set(MODELS).size, MODELS.length);
});

t.test('gotcha 2: current Claude models are listed by profile ids, since a bare id has no on-demand throughput', async (t) => {
  for (const model of MODELS.filter(isClaude)) t.match(model, /^(us|eu|global)\./);
});

t.test('temperature goes to models that are known to take it', async (t) => {
  const takes = [
    'us.anthropic.claude-haiku-4-5-20251001-v1:0',
    'global.anthropic.claude-sonnet-4-6',
    'amazon.nova-pro-v1:0',
    'us.meta.llama3-3-70b-instruct-v1:0',
    'openai.gpt-oss-120b-1:0',
    `${ARN}inference-profile/us.amazon.nova-pro-v1:0`,
  ];
  const refuses = [
    DEFAULT_MODEL,
    'us.anthropic.claude-opus-4-8',
    'us.anthropic.claude-something-new',
    'openai.gpt-5.4-v1:0',
    `${ARN}inference-profile/us.anthropic.claude-opus-5-5`,
    `${ARN}application-inference-profile/abc123def456`,
    `${ARN}provisioned-model/abc123def456`,
  ];
  for (const model of takes) t.equal(takesTemperature(model), true, model);
  for (const model of refuses) t.equal(takesTemperature(model), false, model);
});

t.test('cache points and result status are for Claude and Nova only', async (t) => {
  for (const takes of [takesCachePoints, takesResultStatus]) {
    t.equal(takes('eu.anthropic.claude-haiku-5-5'), true);
    t.equal(takes('us.amazon.nova-premier-v1:0'), true);
    t.equal(takes('us.deepseek.r1-v1:0'), false);
    t.equal(takes(`${ARN}application-inference-profile/abc123def456`), false);
  }
});

t.test('an hour in the cache is for Claude from 4.5 on', async (t) => {
  for (const model of MODELS.filter(isClaude)) t.equal(takesHour(model), true, model);
  for (const old of ['claude-3-7-sonnet-20250219-v1:0', 'claude-v2:1', 'claude-sonnet-4-20250514-v1:0', 'claude-opus-4-1-20250805-v1:0'])
    t.equal(takesHour(`us.anthropic.${old}`), false, old);
  t.equal(takesHour('amazon.nova-pro-v1:0'), false);
});
