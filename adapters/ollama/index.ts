// Ollama: a daemon on this machine, or its cloud. Native `/api/chat`, NDJSON streams.
import type { Adapter, ResolvedSettings } from '../../core/index.ts';
import { joinURL } from '../base-url.ts';
import { defineAdapter } from '../define.ts';
import type { Get } from '../provider.ts';
import { asArray, asObject, asString } from '../read.ts';
import { readError } from './errors.ts';
import { buildRequest, VERSION_SUFFIX } from './request.ts';
import { readAnswer } from './response.ts';
import { OllamaDecoder } from './stream.ts';

/** A cold model is loaded before the first byte, which takes minutes on a slow disk. */
const FIRST_BYTE_MS = 300_000;
const CLOUD_HOST = 'ollama.com';

export function createOllama(): Adapter {
  return defineAdapter({
    id: 'ollama',
    displayName: 'Ollama',
    authRequired: false,
    defaultModel: 'gemma4',
    envVars: ['OLLAMA_BASE_URL'],
    settings: {
      // The daemon's own variable counts too, below ours; it may hold a listen address.
      baseURL: { env: ['OLLAMA_BASE_URL', 'OLLAMA_HOST'], default: 'http://127.0.0.1:11434', normalize: normalizeHost },
      apiKey: { env: ['OLLAMA_API_KEY'], secret: true },
    },
    timeouts: { firstByteMs: FIRST_BYTE_MS },
    unreachableHint: 'Is the daemon running there? `ollama serve` starts it.',
    missingCredential,
    authorize: (request, settings) => authorize(request.url, settings),
    buildChat: buildRequest,
    readAnswer,
    createDecoder: () => new OllamaDecoder(),
    readError,
    listModels: async (get, settings) => modelNames(await tags(get, settings)),
    verify: async (get, settings) => {
      const count = modelNames(await tags(get, settings)).length;
      return `The daemon at ${settings.values['baseURL']} is reachable; ${count} ${count === 1 ? 'model is' : 'models are'} available.`;
    },
  });
}

function missingCredential(settings: ResolvedSettings): string | undefined {
  if (!isCloud(new URL(settings.values['baseURL'] ?? '')) || settings.values['apiKey'] !== undefined) return undefined;
  return `Ollama's cloud needs a key: set OLLAMA_API_KEY, ollama.apiKey in auth.json (\`blockhouse auth set ollama\`), or send config.apiKey.`;
}

/**
 * A key of the environment is the cloud's; one in auth.json also goes to the address beside it there (a proxy in front of a daemon);
 * one that came with the request goes where the request says.
 */
function authorize(url: URL, { values, sources }: ResolvedSettings): Record<string, string> {
  const { apiKey } = values;
  const besideAddress = sources['apiKey'] === 'auth.json' && sources['baseURL'] === 'auth.json';
  if (apiKey === undefined || !(sources['apiKey'] === 'request' || besideAddress || isCloud(url))) return {};
  return { authorization: `Bearer ${apiKey}` };
}

/** Over https alone: a stored key must not travel in the clear. */
function isCloud(url: URL): boolean {
  return url.protocol === 'https:' && (url.hostname === CLOUD_HOST || url.hostname.endsWith(`.${CLOUD_HOST}`));
}

function tags(get: Get, settings: ResolvedSettings): Promise<unknown> {
  return get(joinURL(settings.values['baseURL'] ?? '', '/api/tags', VERSION_SUFFIX));
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
  if (!URL.canParse(withScheme)) return text;
  const url = new URL(withScheme);
  if (withScheme !== text && url.port === '' && !/:\d+(\/|$)/.test(text)) url.port = '11434';
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
  return url.href.replace(/\/+$/, '');
}
