// Which of OpenAI's endpoints is called, and where. Pure: no I/O.
import { urlOf } from '../../core/base/url.ts';
import { isLoopbackHost, type ResolvedSettings } from '../../core/index.ts';
import { joinURL, perSettings } from '../shared/base-url.ts';

/** OpenAI's own address, with the version. */
export const DEFAULT_BASE_URL = 'https://api.openai.com/v1';
/** `us.api.openai.com` and its like keep data in a region. */
const OWN_HOST = 'api.openai.com';
/** The documentation of compatible servers shows the whole address, and people paste it. */
const ENDPOINT_SUFFIX = /\/+(chat\/completions|responses)$/;

/** Responses, or Chat Completions. */
export type Api = 'responses' | 'chat';

/** OpenAI's newer models take tools only on Responses; other servers understand only Chat Completions. */
export function apiOf(settings: ResolvedSettings): Api {
  const { api } = settings.values;
  if (api === 'responses' || api === 'chat') return api;
  return isOwnHost(settings) ? 'responses' : 'chat';
}

/** True for OpenAI's own hosts, the regional ones included. */
export function isOwnHost(settings: ResolvedSettings): boolean {
  const host = hostOf(settings);
  return host === OWN_HOST || host.endsWith(`.${OWN_HOST}`);
}

/** True if the base URL points to this machine. */
export function isLoopback(settings: ResolvedSettings): boolean {
  return isLoopbackHost(hostOf(settings));
}

/** The URL of an endpoint. The base contains the version, as in the official client; for OpenAI's own hosts a missing one is added. */
export function endpointURL(settings: ResolvedSettings, path: '/responses' | '/chat/completions' | '/embeddings' | '/models'): URL {
  return endpointsOf(settings)[path];
}

const endpointsOf = perSettings((settings) => {
  const root = joinURL(settings.values['baseURL'] ?? DEFAULT_BASE_URL, '', ENDPOINT_SUFFIX);
  const version = isOwnHost(settings) && root.pathname === '/' ? '/v1' : '';
  const at = (path: string): URL => joinURL(root.href, `${version}${path}`);
  return { '/responses': at('/responses'), '/chat/completions': at('/chat/completions'), '/embeddings': at('/embeddings'), '/models': at('/models') };
});

/** Where the server lists its models; undefined for one that is known to have no list. */
export function listURL(settings: ResolvedSettings): URL | undefined {
  const list = settings.endpoint?.quirks.list;
  if (list === false) return undefined;
  return list === undefined ? endpointURL(settings, '/models') : joinURL(settings.values['baseURL'] ?? DEFAULT_BASE_URL, list, ENDPOINT_SUFFIX);
}

/** '' for a base that is not a URL. */
const hostOf = perSettings((settings): string => {
  const base = settings.values['baseURL'] ?? DEFAULT_BASE_URL;
  return urlOf(base)?.hostname ?? '';
});
