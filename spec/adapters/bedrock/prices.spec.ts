import t from 'tap';
import { createBedrock } from '../../../adapters/bedrock/index.ts';
import { pricedModel } from '../../../adapters/bedrock/prices.ts';
import { CLAUDE, NOVA, settingsFrom } from './help.ts';

const GOV_CLAUDE = 'us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0';
const priced = (model: string, region?: string, tier?: string) =>
  pricedModel({ model, settings: settingsFrom(region === undefined ? {} : { config: { region } }), tier });

t.test('an id and the ARN that ends in it are the same model', async (t) => {
  for (const id of [CLAUDE, NOVA])
    for (const model of [id, `arn:aws:bedrock:eu-west-1::foundation-model/${id}`, `arn:aws:bedrock:eu-west-1:123456789012:inference-profile/${id}`])
      t.equal(priced(model), id, model);
});

t.test('a name that hides its model has no price', async (t) => {
  const kinds = [
    'application-inference-profile',
    'custom-model-deployment',
    'custom-model',
    'imported-model',
    'provisioned-model',
    'prompt',
    'prompt-router',
    'default-prompt-router',
  ];
  for (const kind of kinds) t.equal(priced(`arn:aws:bedrock:us-east-1:123456789012:${kind}/${NOVA}`), undefined, kind);
  for (const model of [`arn:aws:sagemaker:us-east-1:123456789012:endpoint/${NOVA}`, `arn:aws:bedrock:us-east-1::foundation-model/${NOVA}/x`, 'arn:'])
    t.equal(priced(model), undefined, model);
});

t.test('the region that is asked decides whether there is a price, and that of an ARN comes first', async (t) => {
  for (const region of ['us-east-1', 'eu-central-1', 'ap-south-1']) t.equal(priced(NOVA, region), NOVA, region);
  for (const region of ['cn-north-1', 'us-gov-west-1', 'eusc-de-east-1']) {
    t.equal(priced(NOVA, region), undefined, region);
    t.equal(priced(`arn:aws:bedrock:${region}::foundation-model/${NOVA}`), undefined, region);
  }
  t.equal(priced(GOV_CLAUDE, 'us-gov-west-1'), GOV_CLAUDE);
  t.equal(priced(`arn:aws:bedrock:us-east-1::foundation-model/${NOVA}`, 'cn-north-1'), NOVA);
});

t.test('a dearer tier has no price, and the data do not hold at another server', async (t) => {
  t.equal(priced(NOVA, 'us-east-1', 'priority'), undefined);
  t.equal(priced(NOVA, 'us-east-1', 'flex'), NOVA);
  const at = (endpoint: string) => createBedrock().isOwnAddress?.(settingsFrom({ stored: { endpoint } }));
  for (const host of ['vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com', 'bedrock-runtime.cn-north-1.amazonaws.com.cn', 'bedrock.us-east-1.api.aws'])
    t.equal(at(`https://${host}`), true, host);
  for (const host of ['127.0.0.1:9', 'amazonaws.com.example', 'notamazonaws.com', 'api.aws.example']) t.equal(at(`https://${host}`), false, host);
});
