// OpenAI: `/responses` at its own hosts, `/chat/completions` at every server that is compatible with it.
import { type Adapter, BlockhouseError, type ChatEvent, type ReportedUsage, type ResolvedSettings } from '../../core/index.ts';
import { defineAdapter } from '../shared/define.ts';
import type { ChatContext, FetchJson, StreamDecoder } from '../shared/provider.ts';
import { asObject } from '../shared/read.ts';
import { CLOUD_MODEL, servedModels } from '../shared/served-models.ts';
import { pricedModel } from '../shared/tiers.ts';
import { toldAnswer } from '../shared/told-answer.ts';
import { EMBEDDING } from './embed.ts';
import { apiOf, DEFAULT_BASE_URL, endpointURL, isLoopback, isOwnHost, listURL } from './endpoint.ts';
import { isListingRefused, readError } from './errors.ts';
import { DEFAULT_MODEL, MODELS } from './models.ts';
import { SUPPORTED_OPTIONS } from './options.ts';
import { PRESETS } from './presets.ts';
import { forwardedAnswer, forwardedTier, protocolOf } from './protocol.ts';
import { editForwarded, forwardWarnings, mustTranslate, quirksOf } from './quirks.ts';
import { buildRequest, replayed } from './request.ts';
import { readResponse } from './response.ts';
import { readChatAnswer } from './response-chat.ts';
import { ResponsesDecoder } from './stream.ts';
import { ChatDecoder } from './stream-chat.ts';
import { usageOfChat, usageOfResponse, withCost } from './usage.ts';

/** What a server answers that has no list. */
const NO_LIST: ReadonlySet<number> = new Set([404, 405, 501]);
const HEADER_SAFE = /^[\x21-\x7e]+$/;
const trim = (value: string): string => value.trim();

/** The `openai` adapter, with connections of its own. */
export function createOpenAI(): Adapter {
  return defineAdapter({
    id: 'openai',
    displayName: 'OpenAI',
    authRequired: true,
    defaultModel: DEFAULT_MODEL,
    pricesAs: 'openai',
    pricedModel,
    envVars: ['OPENAI_API_KEY', 'OPENAI_BASE_URL'],
    settings: {
      apiKey: { env: ['OPENAI_API_KEY'], secret: true },
      baseURL: { env: ['OPENAI_BASE_URL'], default: DEFAULT_BASE_URL },
      api: { storedOnly: true, oneOf: ['responses', 'chat'] },
      organization: { env: ['OPENAI_ORG_ID'], storedOnly: true, normalize: trim },
      project: { env: ['OPENAI_PROJECT_ID'], storedOnly: true, normalize: trim },
    },
    missingCredential,
    authorize: (_request, settings) => authorize(settings),
    protocol: protocolOf,
    mustTranslate,
    passedOn: CLOUD_MODEL,
    forwardWarnings: ({ quirks }, fields) => forwardWarnings(quirks, fields),
    editForwarded: ({ quirks }, request) => editForwarded(quirks, request),
    forwardedTier,
    forwardedAnswer,
    buildChat: buildRequest,
    replayed,
    readAnswer,
    readTold: (json) => toldAnswer(asObject(json)['id'], asObject(json)['model']),
    readUsage: (json, { settings }) => usageIn(asObject(json), settings),
    readsCost: true,
    createDecoder,
    embedding: EMBEDDING,
    readError,
    supports: { parts: ['image', 'document', 'audio'], options: SUPPORTED_OPTIONS },
    openModels: /^(?:ft:)?(?:gpt-3\.5|gpt-4|chatgpt-4o)/,
    modelNames: /^(?:gpt-|chatgpt-|codex-|o\d|text-embedding-3|text-embedding-ada)/,
    curatedModels: MODELS,
    presets: PRESETS,
    listServed: async (fetchJson, settings) => {
      const url = listURL(settings);
      return url === undefined ? undefined : servedModels(await fetchJson(url));
    },
    verify,
  });
}

function missingCredential(settings: ResolvedSettings): string | undefined {
  for (const name of ['organization', 'project']) {
    const value = settings.values[name];
    if (value !== undefined && !HEADER_SAFE.test(value))
      return `${name} from ${settings.sources[name]} contains characters that are not allowed in an HTTP header. Set it again.`;
  }
  // A server on this machine usually needs no key.
  if (settings.values['apiKey'] !== undefined || isLoopback(settings)) return undefined;
  return `OpenAI needs a key: set OPENAI_API_KEY, or openai.apiKey in auth.json (\`blockhouse auth set openai\`).`;
}

/** Organization and project belong to the stored key: with another key OpenAI would refuse them, and other servers must not see them. */
function authorize({ values, sources }: ResolvedSettings): Record<string, string> {
  const { apiKey, organization, project } = values;
  const isStored = apiKey !== undefined && sources['apiKey'] !== 'request';
  return {
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    ...(isStored && organization !== undefined && { 'openai-organization': organization }),
    ...(isStored && project !== undefined && { 'openai-project': project }),
  };
}

function readAnswer(json: unknown, { model, settings }: ChatContext): ChatEvent[] {
  const { costField } = quirksOf(settings);
  return apiOf(settings) === 'chat' ? readChatAnswer(json, costField) : readResponse(json, model, costField);
}

function usageIn(answer: Readonly<Record<string, unknown>>, settings: ResolvedSettings): ReportedUsage | undefined {
  return withCost(apiOf(settings) === 'chat' ? usageOfChat(answer) : usageOfResponse(answer), answer, quirksOf(settings).costField);
}

function createDecoder({ model, settings }: ChatContext): StreamDecoder {
  const { costField } = quirksOf(settings);
  return apiOf(settings) === 'chat' ? new ChatDecoder(costField) : new ResponsesDecoder(model, costField);
}

/** Compatible servers often list their models without a key, so only OpenAI's own answer proves the key. */
async function verify(fetchJson: FetchJson, settings: ResolvedSettings): Promise<string> {
  const list = listURL(settings);
  const url = list ?? endpointURL(settings, '/models');
  try {
    const count = servedModels(await fetchJson(url)).length;
    return `${isOwnHost(settings) ? 'The key is valid' : `The server at ${url.origin} answers`}; ${count} ${count === 1 ? 'model is' : 'models are'} listed.`;
  } catch (error) {
    if (!(error instanceof BlockhouseError)) throw error;
    if (list === undefined && NO_LIST.has(error.upstreamStatus ?? 0))
      return `The server at ${url.origin} answers. It has no list of models, so nothing has proved the key.`;
    if (!isListingRefused(error)) throw error;
    return 'The key is valid, but it is not allowed to list models.';
  }
}
