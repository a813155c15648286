// Google Gemini through the Gemini API: `v1beta` generateContent, SSE streams, an API key in a header.
import type { Adapter, ResolvedSettings } from '../../core/index.ts';
import { joinURL } from '../shared/base-url.ts';
import { defineAdapter } from '../shared/define.ts';
import { servedModels } from '../shared/served-models.ts';
import { EMBEDDING } from './embed.ts';
import { readError } from './errors.ts';
import { SUPPORTED_OPTIONS } from './options.ts';
import { pricedModel } from './prices.ts';
import { buildRequest, replayed, tokenQuestion, VERSION_SUFFIX } from './request.ts';
import { readAnswer, readTold, readUsage } from './response.ts';
import { GoogleDecoder } from './stream.ts';

/** Text models on Google's price page, newest first. */
const MODELS = [
  'gemini-4-argon',
  'gemini-4-carbon',
  'gemini-3.8-flash',
  'gemini-3.7-flash',
  'gemini-3.6-flash',
  'gemini-3.5-flash',
  'gemini-3.5-flash-lite',
  'gemini-3.1-pro-preview',
  'gemini-3.1-flash-lite',
  'gemini-2.5-pro',
  'gemini-2.5-flash',
  'gemini-2.5-flash-lite',
];

/** Of an hour: Gemini counts some 300 for a second. The links that it follows are those of films and of its own store, which takes films. */
const FILM_TOKENS = 1_000_000;

/** The `google` adapter, with connections of its own. */
export function createGoogle(): Adapter {
  return defineAdapter({
    id: 'google',
    aliases: ['gemini'],
    displayName: 'Google Gemini',
    authRequired: true,
    defaultModel: 'gemini-3.8-flash',
    pricesAs: 'google',
    genAiProvider: 'gcp.gemini',
    pricedModel,
    envVars: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY', 'GOOGLE_GEMINI_BASE_URL'],
    settings: {
      // Google's own order; the third is what the Vercel SDK reads.
      apiKey: { env: ['GOOGLE_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'], secret: true },
      baseURL: { env: ['GOOGLE_GEMINI_BASE_URL'], default: 'https://generativelanguage.googleapis.com' },
    },
    missingCredential,
    authorize: (_request, settings) => authorize(settings),
    buildChat: buildRequest,
    replayed,
    fetchedTokens: FILM_TOKENS,
    countTokens: tokenQuestion,
    readAnswer,
    readTold,
    readUsage,
    createDecoder: ({ model }) => new GoogleDecoder(model),
    embedding: EMBEDDING,
    readError,
    supports: { parts: ['image', 'document', 'audio'], options: SUPPORTED_OPTIONS },
    modelNames: /^gemini-/,
    openModels: /^(?:models\/)?gemini-(?:1\.|2\.0-flash(?!-thinking))/,
    curatedModels: MODELS,
    listServed: async (fetchJson, settings) =>
      servedModels(await fetchJson(joinURL(settings.values['baseURL'] ?? '', '/v1beta/models?pageSize=1000', VERSION_SUFFIX))),
    verify: async (fetchJson, settings) => {
      await fetchJson(joinURL(settings.values['baseURL'] ?? '', '/v1beta/models?pageSize=1', VERSION_SUFFIX));
      return 'The key is valid.';
    },
  });
}

function missingCredential(settings: ResolvedSettings): string | undefined {
  if (settings.values['apiKey'] !== undefined) return undefined;
  return 'Gemini needs a key: set GEMINI_API_KEY, GOOGLE_API_KEY, or google.apiKey in auth.json (`blockhouse auth set google`).';
}

/** Google takes the key in the URL too, but URLs end up in logs. */
function authorize(settings: ResolvedSettings): Record<string, string> {
  const { apiKey } = settings.values;
  return apiKey === undefined ? {} : { 'x-goog-api-key': apiKey };
}
