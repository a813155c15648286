// Anthropic: the Messages API, server-sent events.
import { isObject } from '../../core/base/json.ts';
import type { Adapter, ResolvedSettings } from '../../core/index.ts';
import { joinURL } from '../shared/base-url.ts';
import { defineAdapter } from '../shared/define.ts';
import { asArray, asObject } from '../shared/read.ts';
import { CLOUD_MODEL, servedModels } from '../shared/served-models.ts';
import { pricedModel } from '../shared/tiers.ts';
import { toldAnswer } from '../shared/told-answer.ts';
import { readError } from './errors.ts';
import { SUPPORTED_OPTIONS } from './options.ts';
import { PRESETS } from './presets.ts';
import { forwardedAnswer, forwardedTier, MESSAGES } from './protocol.ts';
import { buildRequest, tokenQuestion, VERSION_SUFFIX } from './request.ts';
import { readAnswer, readUsage } from './response.ts';
import { AnthropicDecoder } from './stream.ts';
import { replayed } from './thinking.ts';

/** The newer 2026-10-21 answers 400 to any temperature, even for models that take one. Anthropic still serves this version. */
const API_VERSION = '2023-06-01';

/** Current ids, the recommended start first. Source: the model pages, November 2026; those that end this year are left out. */
const MODELS = [
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'claude-haiku-5-5',
  'claude-fable-5-2',
  'claude-fable-5-1',
  'claude-opus-5',
  'claude-sonnet-5',
  'claude-opus-4-8',
  'claude-opus-4-7',
  'claude-opus-4-6',
  'claude-opus-4-5',
  'claude-sonnet-4-6',
  'claude-haiku-4-5',
];

/** The `anthropic` adapter, with connections of its own. */
export function createAnthropic(): Adapter {
  return defineAdapter({
    id: 'anthropic',
    displayName: 'Anthropic',
    authRequired: true,
    defaultModel: 'claude-sonnet-5-5',
    pricesAs: 'anthropic',
    pricedModel,
    envVars: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL'],
    settings: {
      apiKey: { env: ['ANTHROPIC_API_KEY'], secret: true },
      baseURL: { env: ['ANTHROPIC_BASE_URL'], default: 'https://api.anthropic.com' },
      // Sent as `Authorization: Bearer`, for compatible servers that accept only that; the key wins if both are set.
      authToken: { env: ['ANTHROPIC_AUTH_TOKEN'], secret: true, storedOnly: true },
    },
    missingCredential,
    authorize: (_request, settings) => ({ 'anthropic-version': API_VERSION, ...keyHeader(settings) }),
    protocol: () => MESSAGES,
    forwardedTier,
    forwardedAnswer,
    passedOn: CLOUD_MODEL,
    buildChat: buildRequest,
    replayed,
    countTokens: tokenQuestion,
    readAnswer,
    readTold: (json) => toldAnswer(asObject(json)['id'], asObject(json)['model']),
    readUsage: (answer) => readUsage(asObject(answer)['usage']),
    createDecoder: (context) => new AnthropicDecoder(context),
    readError,
    modelNames: /^claude-/,
    openModels: /^claude-3-(?:5-|opus|sonnet|haiku)/,
    supports: { parts: ['image', 'document'], options: SUPPORTED_OPTIONS },
    curatedModels: MODELS,
    presets: PRESETS,
    listServed: async (fetchJson, settings) =>
      servedModels(await fetchJson(joinURL(settings.values['baseURL'] ?? '', '/v1/models?limit=1000', VERSION_SUFFIX))),
    verify: async (fetchJson, settings) => {
      const list = await fetchJson(joinURL(settings.values['baseURL'] ?? '', '/v1/models?limit=1', VERSION_SUFFIX));
      return asArray(isObject(list) ? list['data'] : undefined).length > 0 ? 'The key is valid.' : 'The key is valid, but Anthropic lists no models for it.';
    },
  });
}

function missingCredential({ values }: ResolvedSettings): string | undefined {
  if (values['apiKey'] !== undefined || values['authToken'] !== undefined) return undefined;
  return 'Anthropic needs a key: set ANTHROPIC_API_KEY, or anthropic.apiKey in auth.json (`blockhouse auth set anthropic`).';
}

function keyHeader({ values }: ResolvedSettings): Record<string, string> {
  const { apiKey, authToken } = values;
  if (apiKey !== undefined) return { 'x-api-key': apiKey };
  return authToken === undefined ? {} : { authorization: `Bearer ${authToken}` }; // a connection may need no key
}
