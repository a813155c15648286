import t from 'tap';
import { createAnthropic } from '../../../adapters/anthropic/index.ts';
import { createBedrock } from '../../../adapters/bedrock/index.ts';
import { createOllama } from '../../../adapters/ollama/index.ts';
import { createOpenAI } from '../../../adapters/openai/index.ts';
import { assertSecretsRenewed, secretsToRenew } from '../../../core/auth/moved-address.ts';

const openai = createOpenAI().settings;
const KEY = { apiKey: 'sk-canary' };
const A = 'http://127.0.0.1:4001';

t.test('a change to another origin, or to another path of a host that is not the own one, needs each stored secret again', async (t) => {
  for (const [stored, change] of [
    [KEY, { baseURL: A }],
    [KEY, { baseURL: 'http://api.openai.com/v1' }],
    [KEY, { baseURL: 'https://api.openai.com:8443/v1' }],
    [KEY, { baseURL: 'https://api.openai.com@evil.example/v1' }],
    [KEY, { baseURL: 'https://api.openai.com./v1' }],
    [{ ...KEY, baseURL: A }, { baseURL: 'http://127.0.0.1:4002' }],
    [{ ...KEY, baseURL: A }, { baseURL: 'http://localhost:4001' }],
    [{ ...KEY, baseURL: A }, { baseURL: 'https://api.openai.com/v1' }],
    [{ ...KEY, baseURL: 'nonsense' }, { baseURL: A }],
    [{ ...KEY, baseURL: `${A}/v1` }, { baseURL: `${A}/v1/another/gw` }],
    [{ ...KEY, baseURL: `${A}/me/v1` }, { baseURL: `${A}/me/../you/v1` }],
    [{ ...KEY, baseURL: A }, { baseURL: `${A}/v1` }],
  ])
    t.same(secretsToRenew(openai, stored as Record<string, string>, change as Record<string, string>), ['apiKey'], JSON.stringify([stored, change]));
  const anthropic = createAnthropic().settings;
  t.same(secretsToRenew(anthropic, { apiKey: 'k', authToken: 't' }, { baseURL: A, authToken: 'new' }), ['apiKey'], 'a key is not replaced by a token');
  const bedrock = createBedrock().settings;
  const keys = { accessKeyId: 'a', secretAccessKey: 'b', region: 'eu-west-1' };
  for (const field of ['endpoint', 'controlEndpoint']) t.same(secretsToRenew(bedrock, keys, { [field]: A }), ['accessKeyId', 'secretAccessKey'], field);
  t.same(secretsToRenew(bedrock, { ...keys, bearerToken: 't' }, { endpoint: A, accessKeyId: 'x', secretAccessKey: 'y' }), ['bearerToken']);
});

t.test('a change that stays at the address or the own host, brings the secrets or finds none needs nothing', async (t) => {
  for (const [stored, change] of [
    [KEY, { apiKey: 'new' }],
    [KEY, { baseURL: 'HTTPS://api.OpenAI.com:443/v2' }],
    [KEY, { baseURL: A, apiKey: 'new' }],
    [{ ...KEY, baseURL: A }, { baseURL: `${A}/` }],
    [{ ...KEY, baseURL: `${A}/me/v1` }, { baseURL: `${A}/you/../me/v1//` }],
    [
      { ...KEY, baseURL: `${A}/v1` },
      { baseURL: `${A}/you`, apiKey: 'new' },
    ],
    [{}, { baseURL: A }],
    [{ organization: 'org' }, { baseURL: A }],
    [{ ...KEY, baseURL: '' }, { baseURL: 'https://api.openai.com/v1' }],
  ])
    t.same(secretsToRenew(openai, stored as Record<string, string>, change as Record<string, string>), [], JSON.stringify([stored, change]));
  const ollama = createOllama().settings;
  t.same(secretsToRenew(ollama, KEY, { baseURL: '127.0.0.1' }), [], 'its other spellings of an address count as what they mean');
  t.same(secretsToRenew(createBedrock().settings, { accessKeyId: 'a', secretAccessKey: 'b' }, { region: 'us-west-2' }), []);
});

t.test('the refusal names the secret, the field and both origins, and no value', async (t) => {
  t.throws(() => assertSecretsRenewed(openai, KEY, { baseURL: `${A}/canary` }), {
    code: 'INVALID_REQUEST',
    details: [{ path: 'apiKey' }],
    message:
      'apiKey is needed again with the new baseURL: the stored one belongs to https://api.openai.com, and is not taken to http://127.0.0.1:4001. ' +
      'Send both in one change, or remove what is stored first.',
  });
  t.throws(() => assertSecretsRenewed(createBedrock().settings, { bearerToken: 't' }, { endpoint: A }), {
    message: /^bearerToken is needed again with the new endpoint: the stored one belongs to the provider's own address, /,
  });
  t.throws(() => assertSecretsRenewed(openai, { ...KEY, baseURL: `${A}/canary` }, { baseURL: `${A}/canary2` }), {
    message:
      /^apiKey is needed again with the new baseURL: the stored one belongs to another path of http:\/\/127\.0\.0\.1:4001, and is not taken to this one\. Send/,
  });
  t.doesNotThrow(() => assertSecretsRenewed(openai, KEY, { baseURL: A, apiKey: 'new' }));
});
