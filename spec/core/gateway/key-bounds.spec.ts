import t from 'tap';
import { createAnthropic } from '../../../adapters/anthropic/index.ts';
import { createBedrock } from '../../../adapters/bedrock/index.ts';
import { createGoogle } from '../../../adapters/google/index.ts';
import { createOllama } from '../../../adapters/ollama/index.ts';
import { createOpenAI } from '../../../adapters/openai/index.ts';
import { resolveSettings } from '../../../core/auth/settings.ts';
import { boundCall } from '../../../core/gateway/key-bounds.ts';
import type { Adapter, ChatConfig, Environment } from '../../../core/index.ts';

const A = 'http://127.0.0.1:4001';
const B = 'http://127.0.0.1:4002';
const AWAY = 'https://evil.example';

interface Places {
  readonly config?: ChatConfig;
  readonly stored?: Record<string, string>;
  readonly env?: Environment;
  readonly allowed?: readonly string[];
}

/** The secrets that the call carries, or the error. */
function bound(adapter: Adapter, { config, stored, env = {}, allowed = [] }: Places): { secrets: string[]; egress: ReturnType<typeof boundCall>['egress'] } {
  const settings = resolveSettings(adapter.settings, { config, stored, env });
  const configured = resolveSettings(adapter.settings, { stored, env });
  const found = boundCall(adapter, { settings, configured, env, allowedOrigins: new Set(allowed) });
  const { values } = found.settings;
  return { secrets: Object.keys(values).filter((name) => adapter.settings[name]?.secret && values[name] !== undefined), egress: found.egress };
}

/** The secrets that it carries, 'refused' for an address of the request, 'not configured' for one in auth.json. */
function verdict(adapter: Adapter, places: Places): string {
  try {
    return bound(adapter, places).secrets.join('+') || 'no secret';
  } catch (error) {
    const { code } = error as { code: string };
    return code === 'INVALID_REQUEST' ? 'refused' : code === 'ADAPTER_NOT_CONFIGURED' ? 'not configured' : String(error);
  }
}

const openai = createOpenAI();
const anthropic = createAnthropic();
const bedrock = createBedrock();
const ollama = createOllama();

t.test('a stored key goes with the address that is configured for it', async (t) => {
  const rows: [string, Places, string][] = [
    ['key in auth.json, no address', { stored: { apiKey: 'k' } }, 'apiKey'],
    ['key and address in auth.json', { stored: { apiKey: 'k', baseURL: A } }, 'apiKey'],
    ['key and address in the environment', { env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: A } }, 'apiKey'],
    ['key in auth.json, address of the environment in force', { stored: { apiKey: 'k' }, env: { OPENAI_BASE_URL: A } }, 'apiKey'],
    ['key of the environment, address in auth.json', { stored: { baseURL: A }, env: { OPENAI_API_KEY: 'k' } }, 'not configured'],
    ['the same, to the own host', { stored: { baseURL: 'https://api.openai.com/v2' }, env: { OPENAI_API_KEY: 'k' } }, 'apiKey'],
    ['the same, and the environment has the same one', { stored: { baseURL: `${A}/v2/` }, env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${A}/v2` } }, 'apiKey'],
    ['the same, and the environment has another path', { stored: { baseURL: `${A}/v2` }, env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: A } }, 'not configured'],
    ['the same, and the origin is allowed', { stored: { baseURL: `${A}/v2` }, env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: A }, allowed: [A] }, 'apiKey'],
    ['the same, and the environment has another one', { stored: { baseURL: B }, env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: A } }, 'not configured'],
    ['the same, and the origin is allowed', { stored: { baseURL: A }, env: { OPENAI_API_KEY: 'k' }, allowed: [A] }, 'apiKey'],
    ['both in both: auth.json is in force', { stored: { apiKey: 's', baseURL: B }, env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: A } }, 'apiKey'],
    ['no key, address in auth.json', { stored: { baseURL: A } }, 'no secret'],
  ];
  for (const [name, places, expected] of rows) t.equal(verdict(openai, places), expected, name);
});

t.test('a stored key does not go to an address that a request names, be it on loopback', async (t) => {
  const rows: [string, Places, string][] = [
    ['key in auth.json', { stored: { apiKey: 'k' }, config: { baseURL: A } }, 'refused'],
    ['key in the environment', { env: { OPENAI_API_KEY: 'k' }, config: { baseURL: A } }, 'refused'],
    ['key and another address in auth.json', { stored: { apiKey: 'k', baseURL: B }, config: { baseURL: A } }, 'refused'],
    ['the same, and the environment has that address', { stored: { apiKey: 'k', baseURL: B }, env: { OPENAI_BASE_URL: A }, config: { baseURL: A } }, 'refused'],
    ['the configured address', { stored: { apiKey: 'k', baseURL: `${A}/v1` }, config: { baseURL: `${A}/v1/` } }, 'apiKey'],
    [
      'another path of its host, which may be another tenant',
      { stored: { apiKey: 'k', baseURL: `${A}/v1` }, config: { baseURL: `${A}/v1/you/gw` } },
      'refused',
    ],
    ['the same in the environment', { env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${A}/me` }, config: { baseURL: `${A}/me/../you` } }, 'refused'],
    ['the same with its origin allowed', { stored: { apiKey: 'k', baseURL: `${A}/v1` }, config: { baseURL: `${A}/you` }, allowed: [A] }, 'apiKey'],
    ['another path of the own host', { stored: { apiKey: 'k' }, config: { baseURL: 'https://api.openai.com/v2' } }, 'apiKey'],
    ['the own host', { stored: { apiKey: 'k', baseURL: A }, config: { baseURL: 'https://api.openai.com/v1' } }, 'apiKey'],
    ['an allowed origin', { env: { OPENAI_API_KEY: 'k' }, config: { baseURL: `${AWAY}/x` }, allowed: [AWAY] }, 'apiKey'],
    ['an own key', { stored: { apiKey: 'k' }, config: { baseURL: A, apiKey: 'mine' } }, 'apiKey'],
    [
      'the address in auth.json, the key in the environment',
      { stored: { baseURL: A }, env: { OPENAI_API_KEY: 'k' }, config: { baseURL: A } },
      'not configured',
    ],
  ];
  for (const [name, places, expected] of rows) t.equal(verdict(openai, places), expected, name);
  for (const adapter of [openai, anthropic, createGoogle(), ollama])
    for (const baseURL of [A, AWAY, 'http://localhost:1', 'http://[::1]:1'])
      t.equal(verdict(adapter, { stored: { apiKey: 'k' }, config: { baseURL } }), 'refused', `${adapter.id} ${baseURL}`);
});

t.test('a call without a key may go to loopback', async (t) => {
  for (const adapter of [openai, ollama]) t.equal(bound(adapter, { config: { baseURL: A } }).egress.isKeyless, true, adapter.id);
  t.match(bound(openai, { stored: { apiKey: 'k' } }).egress, { isKeyless: false, ownKey: false });
  t.match(bound(openai, { config: { baseURL: A, apiKey: 'mine' }, stored: { apiKey: 'k' } }).egress, { isKeyless: false, ownKey: true });
});

t.test('of several secrets only those go that belong to the address', async (t) => {
  const both = { stored: { baseURL: A, authToken: 't' }, env: { ANTHROPIC_API_KEY: 'k' } };
  t.equal(verdict(anthropic, both), 'authToken');
  t.equal(verdict(anthropic, { ...both, stored: { authToken: 't' } }), 'apiKey+authToken');
  t.equal(verdict(anthropic, { stored: { baseURL: A }, env: { ANTHROPIC_AUTH_TOKEN: 't' } }), 'not configured');
  t.equal(verdict(anthropic, { env: { ANTHROPIC_AUTH_TOKEN: 't' }, config: { baseURL: A } }), 'refused');
  t.equal(verdict(anthropic, { env: { ANTHROPIC_AUTH_TOKEN: 't', ANTHROPIC_BASE_URL: A } }), 'authToken');
  const settings = boundCall(anthropic, {
    settings: resolveSettings(anthropic.settings, both),
    configured: resolveSettings(anthropic.settings, both),
    env: both.env,
    allowedOrigins: new Set(),
  }).settings;
  t.same(anthropic.missingCredential(settings), undefined);
  t.equal(settings.sources['apiKey'], undefined);
});

t.test('the keys of AWS, its tokens and what its chain finds do not go to an endpoint that auth.json alone names', async (t) => {
  const KEYS = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_SESSION_TOKEN: 'c' };
  const stored = { accessKeyId: 'a', secretAccessKey: 'b' };
  for (const endpoint of [{ endpoint: A }, { controlEndpoint: A }, { endpoint: AWAY, region: 'eu-west-1' }]) {
    const name = JSON.stringify(endpoint);
    t.equal(verdict(bedrock, { stored: endpoint, env: KEYS }), 'not configured', name);
    t.equal(verdict(bedrock, { stored: endpoint, env: { AWS_BEARER_TOKEN_BEDROCK: 'x' } }), 'not configured', name);
    t.equal(verdict(bedrock, { stored: endpoint }), 'not configured', `${name}: the chain`);
    t.equal(verdict(bedrock, { stored: { ...endpoint, profile: 'p' } }), 'not configured', `${name}: a profile`);
    t.equal(verdict(bedrock, { stored: endpoint, env: { AWS_PROFILE: 'p', ...KEYS } }), 'not configured', name);
    t.equal(verdict(bedrock, { stored: { ...endpoint, ...stored }, env: KEYS }), 'accessKeyId+secretAccessKey', `${name}: stored beside it, without the token`);
    t.equal(verdict(bedrock, { stored: endpoint, env: KEYS, allowed: [A, AWAY] }), 'accessKeyId+secretAccessKey+sessionToken', name);
  }
  for (const env of [
    { AWS_ENDPOINT_URL: A, ...KEYS },
    { AWS_ENDPOINT_URL_BEDROCK_RUNTIME: A, ...KEYS },
  ])
    t.equal(verdict(bedrock, { env }), 'accessKeyId+secretAccessKey+sessionToken');
  t.equal(verdict(bedrock, { env: { AWS_ENDPOINT_URL: A, AWS_PROFILE: 'p' } }), 'no secret', 'the chain, at an address of the environment');
  t.equal(verdict(bedrock, { config: { region: 'eu-west-1' }, env: KEYS }), 'accessKeyId+secretAccessKey+sessionToken');
  t.equal(bound(bedrock, {}).egress.isKeyless, false, 'the chain finds a key');
  t.same(
    bound(bedrock, { config: { region: 'eu-west-1' } }).egress.trustedOrigins,
    new Set(['https://bedrock-runtime.eu-west-1.amazonaws.com', 'https://bedrock.eu-west-1.amazonaws.com']),
  );
});

t.test('a provider that needs no key is called without the key of the environment where that does not belong', async (t) => {
  const env = { OLLAMA_API_KEY: 'k' };
  const apart = bound(ollama, { stored: { baseURL: A }, env });
  t.same(apart.secrets, []);
  t.equal(apart.egress.isKeyless, true);
  t.equal(verdict(ollama, { stored: { baseURL: 'https://ollama.com' }, env }), 'apiKey', 'its cloud is its own host');
  t.equal(verdict(ollama, { env, config: { baseURL: 'https://ollama.com' } }), 'apiKey');
  t.equal(verdict(ollama, { env, config: { baseURL: B } }), 'refused');
});

t.test('a refusal names the origin, the provider and every cure, and no key', async (t) => {
  const message = (places: Places): string => {
    try {
      bound(openai, places);
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  const named = message({ stored: { apiKey: 'sk-canary' }, config: { baseURL: `${A}/secret-path` } });
  t.equal(
    named,
    `config.baseURL is at ${A}, which this server is not configured for, so a stored key is not sent there. Configure the address beside the key: ` +
      '`blockhouse auth set openai --field baseURL` for a key in auth.json, OPENAI_BASE_URL for one in the environment. Or add the origin to ' +
      'BLOCKHOUSE_ALLOWED_ORIGINS. A request may bring its own key in config.apiKey.',
  );
  const apart = message({ stored: { baseURL: A }, env: { OPENAI_API_KEY: 'sk-canary' } });
  t.equal(
    apart,
    `baseURL of OpenAI in auth.json is at ${A}, and a key that is not in auth.json is not sent there. Store the key beside the address with ` +
      '`blockhouse auth set openai`, or set the address beside the key in OPENAI_BASE_URL, or add the origin to BLOCKHOUSE_ALLOWED_ORIGINS. ' +
      'A request may bring its own key in config.apiKey.',
  );
  const path = message({ stored: { apiKey: 'sk-canary', baseURL: `${A}/canary` }, config: { baseURL: `${A}/secret-path` } });
  t.match(path, `config.baseURL is at another path of ${A} than the address that is configured, so a stored key is not sent there. Configure`);
  t.match(
    message({ stored: { baseURL: `${A}/canary` }, env: { OPENAI_API_KEY: 'sk-canary', OPENAI_BASE_URL: A } }),
    `baseURL of OpenAI in auth.json is at another path of ${A} than the address of the environment, and a key`,
  );
  t.throws(() => bound(bedrock, { stored: { controlEndpoint: A } }), { message: /^controlEndpoint of Amazon Bedrock .* in AWS_ENDPOINT_URL_BEDROCK,/ });
});

t.test('an address that is no URL is left to the check of addresses', async (t) => {
  t.equal(verdict(openai, { stored: { apiKey: 'k', baseURL: 'nonsense' } }), 'apiKey');
  t.same(bound(openai, { stored: { apiKey: 'k', baseURL: 'nonsense' } }).egress.trustedOrigins, new Set(['https://api.openai.com']));
});
