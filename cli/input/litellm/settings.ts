// Settings of an entry besides its keys: those of its adapter, time limits, headers. Pure: no I/O.
import { isObject } from '../../../core/base/json.ts';
import { type Deployment, type ImportWorld, numberOf } from './deployments.ts';
import type { ReportBook } from './report.ts';

type Fields = Record<string, unknown>;
const PARAMS = 'litellm_params';
/** Settings of adapters by their names there. */
const SETTINGS: Readonly<Record<string, string>> = {
  aws_access_key_id: 'accessKeyId',
  aws_secret_access_key: 'secretAccessKey',
  aws_session_token: 'sessionToken',
  aws_region_name: 'region',
  organization: 'organization',
};

/** Adds them to `entry`. What can have one value for all models of a connection has the first. */
export function addSettings(entry: Fields, { path, params, adapter }: Deployment, world: ImportWorld, book: ReportBook): void {
  const known = world.settingsOf(adapter);
  for (const [theirs, ours] of Object.entries(SETTINGS)) {
    const value = params[theirs];
    if (value === undefined || known[ours] === undefined) continue;
    const place = `${path}.${PARAMS}.${theirs}`;
    const [, variable] = /^os\.environ\/(\w+)$/.exec(String(value)) ?? [];
    if (variable !== undefined && known[ours].env?.includes(variable) === true) book.taken(place, `the variable ${variable}, which is read anyway`);
    else if (variable !== undefined)
      book.left(place, `Only a key can be in a variable of any name; ${ours} is read from ${known[ours].env?.join(' or ') ?? 'auth.json'}.`);
    else if (typeof value !== 'string' || (entry[ours] !== undefined && entry[ours] !== value))
      book.left(place, `${ours} can have one value for all models of a connection.`);
    else {
      entry[ours] = value;
      book.taken(place, ours);
    }
  }
  addTimeout(entry, path, params, book);
  addHeaders(entry, path, params, book);
}

function addTimeout(entry: Fields, path: string, params: Deployment['params'], book: ReportBook): void {
  const seconds = numberOf(params['timeout']);
  if (seconds === undefined || !(seconds > 0 && seconds < 1e6)) return;
  const firstByteMs = Math.round(seconds * 1000);
  const before = isObject(entry['timeouts']) ? Number(entry['timeouts']['firstByteMs']) : 0;
  entry['timeouts'] = { firstByteMs: Math.max(firstByteMs, before) };
  book.changed(`${path}.${PARAMS}.timeout`, 'timeouts.firstByteMs: how long the first byte may take; there is no limit for a whole answer');
}

/** Header names that an entry takes; their values are secret. */
const REFUSED_HEADERS = /^(?:authorization|host|connection|content-.*|transfer-encoding|te|upgrade|cookie|accept-encoding|proxy-.*|x-blockhouse-.*)$/i;

function addHeaders(entry: Fields, path: string, params: Deployment['params'], book: ReportBook): void {
  const headers = params['extra_headers'];
  if (!isObject(headers)) return;
  for (const [name, value] of Object.entries(headers)) {
    const place = `${path}.${PARAMS}.extra_headers.${name}`;
    const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
    const isFit = /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(name) && /^[\x20-\x7e]{1,4096}$/.test(text) && !text.startsWith('os.environ/');
    if (!isFit || REFUSED_HEADERS.test(name))
      book.left(place, REFUSED_HEADERS.test(name) ? 'The server sets this header itself.' : 'It is no header with a plain text.');
    else {
      entry['headers'] = { ...(entry['headers'] as object | undefined), [name]: text };
      book.taken(place, 'headers');
    }
  }
}
