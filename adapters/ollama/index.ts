// Ollama: a daemon on this machine, or its cloud. Native `/api/chat`, NDJSON streams.
import { urlOf } from '../../core/base/url.ts';
import type { Adapter, ResolvedSettings } from '../../core/index.ts';
import { joinURL } from '../shared/base-url.ts';
import { defineAdapter } from '../shared/define.ts';
import type { FetchJson } from '../shared/provider.ts';
import { asArray, asObject, asString } from '../shared/read.ts';
import { CLOUD_MODEL } from '../shared/served-models.ts';
import { toldAnswer } from '../shared/told-answer.ts';
import { ContextSizes } from './context-size.ts';
import { EMBEDDING } from './embed.ts';
import { readError } from './errors.ts';
import { ModelContexts } from './model-contexts.ts';
import { SUPPORTED_OPTIONS } from './options.ts';
import { buildRequest, VERSION_SUFFIX } from './request.ts';
import { readAnswer, readUsage } from './response.ts';
import { OllamaDecoder } from './stream.ts';

/** A cold model is loaded before the first byte, which takes minutes on a slow disk. */
const FIRST_BYTE_MS = 300_000;
const CLOUD_HOST = 'ollama.com';
/** A smaller context has no room for a conversation. */
const MIN_CONTEXT = 512;

/** The `ollama` adapter, with connections of its own. */
export function createOllama(): Adapter {
  const models = new ModelContexts();
  const sizes = new ContextSizes();
  return defineAdapter({
    id: 'ollama',
    displayName: 'Ollama',
    authRequired: false,
    defaultModel: 'gemma4',
    envVars: ['OLLAMA_BASE_URL'],
    settings: {
      // The daemon's own variable is read after ours; it may hold a listen address.
      baseURL: { env: ['OLLAMA_BASE_URL', 'OLLAMA_HOST'], default: 'http://127.0.0.1:11434', normalize: normalizeHost },
      apiKey: { env: ['OLLAMA_API_KEY'], secret: true },
      // The daemon's own variable: it says how much this machine can take.
      contextTokens: { env: ['OLLAMA_CONTEXT_LENGTH'], default: '32768', storedOnly: true },
    },
    timeouts: { firstByteMs: FIRST_BYTE_MS },
    trustedOrigins: () => [`https://${CLOUD_HOST}`],
    unreachableHint: 'Is the daemon running there? `ollama serve` starts it.',
    missingCredential,
    authorize: (request, settings) => authorize(request.url, settings),
    contextTokens: (fetchJson, settings, model) => contextLimit(models, fetchJson, settings, model),
    buildChat: (context) => buildRequest(context, sizes),
    readAnswer,
    readTold: (json) => toldAnswer(undefined, asObject(json)['model']),
    readUsage,
    createDecoder: () => new OllamaDecoder(),
    streamsJson: true,
    embedding: EMBEDDING,
    readError,
    supports: { parts: ['image', 'document'], options: SUPPORTED_OPTIONS },
    modelNames: /:/,
    passedOn: CLOUD_MODEL,
    openModels: /./, // a daemon sends the reasoning of every model, and its tokens are those that it has sent
    listModels: async (fetchJson, settings) => modelNames(await tags(fetchJson, settings)),
    probe: async (fetchJson, settings) => {
      if (!isCloud(new URL(settings.values['baseURL'] ?? ''))) await tags(fetchJson, settings);
    },
    verify: async (fetchJson, settings) => {
      const count = modelNames(await tags(fetchJson, settings)).length;
      return `The daemon at ${settings.values['baseURL']} is reachable; ${count} ${count === 1 ? 'model is' : 'models are'} available.`;
    },
  });
}

function missingCredential(settings: ResolvedSettings): string | undefined {
  const { contextTokens = '' } = settings.values;
  if (!/^\d{3,9}$/.test(contextTokens) || Number(contextTokens) < MIN_CONTEXT) {
    return `contextTokens from ${settings.sources['contextTokens']} must be a whole number of ${MIN_CONTEXT} or more, not ${JSON.stringify(contextTokens)}.`;
  }
  if (!isCloud(new URL(settings.values['baseURL'] ?? '')) || settings.values['apiKey'] !== undefined) return undefined;
  return `Ollama's cloud needs a key: set OLLAMA_API_KEY, or ollama.apiKey in auth.json (\`blockhouse auth set ollama\`).`;
}

/**
 * A key of the environment goes only to the cloud. A key in auth.json also goes to the base URL in the same entry (a proxy in front of a
 * daemon), and that of a connection to its address. A key of the request goes to the request's address.
 */
function authorize(url: URL, { values, sources, endpoint }: ResolvedSettings): Record<string, string> {
  const { apiKey } = values;
  const besideAddress = endpoint?.isConnection === true || (sources['apiKey'] === 'auth.json' && sources['baseURL'] === 'auth.json');
  if (apiKey === undefined || !(sources['apiKey'] === 'request' || besideAddress || isCloud(url))) return {};
  return { authorization: `Bearer ${apiKey}` };
}

/** Only over https: a stored key must not be sent unencrypted. */
function isCloud(url: URL): boolean {
  return url.protocol === 'https:' && (url.hostname === CLOUD_HOST || url.hostname.endsWith(`.${CLOUD_HOST}`));
}

/** The smaller of the model's limit and the setting. Undefined for the cloud, whose models are loaded with a fixed size. */
function contextLimit(
  models: ModelContexts,
  fetchJson: FetchJson,
  { values }: ResolvedSettings,
  model: string,
): Promise<number | undefined> | number | undefined {
  const base = values['baseURL'] ?? '';
  if (isCloud(new URL(base)) || CLOUD_MODEL.test(model)) return undefined;
  const allowed = Number(values['contextTokens']);
  const most = models.of(`${base} ${model}`, () => fetchJson(joinURL(base, '/api/show', VERSION_SUFFIX), { model }));
  return most instanceof Promise ? most.then((tokens) => Math.min(tokens ?? allowed, allowed)) : Math.min(most ?? allowed, allowed);
}

function tags(fetchJson: FetchJson, settings: ResolvedSettings): Promise<unknown> {
  return fetchJson(joinURL(settings.values['baseURL'] ?? '', '/api/tags', VERSION_SUFFIX));
}

function modelNames(json: unknown): string[] {
  return asArray(asObject(json)['models']).flatMap((model) => {
    const name = asString(asObject(model)['name']) ?? asString(asObject(model)['model']);
    return name === undefined ? [] : [name];
  });
}

/** OLLAMA_HOST may be `0.0.0.0`, `host:port` or `:port`; a bare host means the daemon's own port. */
function normalizeHost(text: string): string {
  const withScheme = /^[a-z]+:\/\//i.test(text) ? text : `http://${text.startsWith(':') ? `127.0.0.1${text}` : text}`;
  const url = urlOf(withScheme);
  if (url === undefined) return text;
  if (withScheme !== text && url.port === '' && !/:\d+(\/|$)/.test(text)) url.port = '11434';
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
  return url.href.replace(/\/+$/, '');
}
