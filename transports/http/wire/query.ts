// Query parameters, and headers with few possible values. Unknown parameters are ignored; a known one with an invalid value
// is INVALID_REQUEST. Pure: no I/O.
import type { IncomingMessage } from 'node:http';
import { type Channel, invalidRequest, schemas } from '../../../core/index.ts';

/** The value of a query parameter; undefined when it is absent. Throws INVALID_REQUEST for a parameter that is given twice. */
export function queryValue(req: IncomingMessage, name: string): string | undefined {
  const target = req.url ?? '';
  const start = target.indexOf('?');
  const values = start === -1 ? [] : new URLSearchParams(target.slice(start + 1)).getAll(name);
  if (values.length > 1) throw invalidRequest(name, 'appears more than once in the query; give it once');
  return values[0];
}

/** The value of `Link` for the page after this one, whose cursor is given: the same request with that cursor. */
export function nextPage({ url = '' }: IncomingMessage, cursor: string): string {
  const [path = '', search] = url.split('?');
  const query = new URLSearchParams(search);
  query.set('cursor', cursor);
  return `<${path}?${query}>; rel="next"`;
}

/** A whole number in digits; undefined when the parameter is absent. Throws INVALID_REQUEST for anything else. */
export function queryNumber(req: IncomingMessage, name: string): number | undefined {
  const given = queryValue(req, name);
  if (given === undefined) return undefined;
  if (!/^\d{1,15}$/.test(given)) throw invalidRequest(name, 'must be a whole number, written in digits');
  return Number(given);
}

/** A whole number of seconds from 0 to `most`; undefined when the parameter is absent. Throws INVALID_REQUEST for anything else. */
export function querySeconds(req: IncomingMessage, name: string, most: number): number | undefined {
  const given = queryValue(req, name);
  if (given === undefined) return undefined;
  if (!/^\d{1,15}$/.test(given) || Number(given) > most) throw invalidRequest(name, `must be a whole number of seconds from 0 to ${most}`);
  return Number(given);
}

/** True when `Accept` names server-sent events, and does not prefer JSON. */
export function wantsEvents({ headers: { accept = '' } }: IncomingMessage): boolean {
  const events = weightOf(accept, 'text/event-stream');
  return events > 0 && events >= weightOf(accept, 'application/json');
}

/** The weight of a media type that `Accept` names: 1 without a `q`, and 0 for a type that it does not name. */
function weightOf(accept: string, wanted: string): number {
  const weights = accept.split(',').map((range) => {
    const [type, ...parameters] = range
      .toLowerCase()
      .split(';')
      .map((part) => part.trim());
    if (type !== wanted) return 0;
    const weight = parameters.find((part) => part.startsWith('q='))?.slice(2);
    return weight !== undefined && /^(?:0(?:\.\d*)?|1(?:\.0*)?)$/.test(weight) ? Number(weight) : 1;
  });
  return Math.max(...weights);
}

/** One of `choices`; the first one when the parameter is absent. Throws INVALID_REQUEST for any other value. */
export function queryChoice<const T extends string>(req: IncomingMessage, name: string, choices: readonly [T, ...T[]]): T {
  const given = queryValue(req, name);
  if (given === undefined) return choices[0];
  return chosen(name, given, choices);
}

/** Where a message comes from: the header `x-blockhouse-channel`, or `web` without it. Throws INVALID_REQUEST for an unknown channel. */
export function channelOf(req: IncomingMessage): Channel {
  const given = req.headers['x-blockhouse-channel'];
  return given === undefined ? 'web' : chosen('x-blockhouse-channel', String(given), schemas.CHANNELS);
}

function chosen<T extends string>(name: string, given: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === given);
  if (found === undefined) throw invalidRequest(name, `must be one of ${choices.join(', ')}`);
  return found;
}

// Revisions stay below 10^15, where numbers are exact.
const REVISION = /^(?:"(\d{1,15})"|(\d{1,15}))$/;

/** The revision that `If-Match` names; undefined without the header and for `*`. Throws INVALID_REQUEST for anything else. */
export function ifMatchOf(req: IncomingMessage): number | undefined {
  const given = req.headers['if-match']?.trim();
  if (given === undefined || given === '*') return undefined;
  const match = REVISION.exec(given);
  if (match === null)
    throw invalidRequest('If-Match', 'must be * or one revision from the ETag of the configuration, such as "3", without W/ and not as a list');
  return Number(match[1] ?? match[2]);
}

// Those of keys, which are no numbers.
const TAG = /^(?:"([\w-]{1,64})"|([\w-]{1,64}))$/;

/** The `rev` that `If-Match` names; undefined without the header and for `*`. Throws INVALID_REQUEST for anything else. */
export function tagMatchOf(req: IncomingMessage): string | undefined {
  const given = req.headers['if-match']?.trim();
  if (given === undefined || given === '*') return undefined;
  const match = TAG.exec(given);
  if (match === null) throw invalidRequest('If-Match', 'must be * or the rev of the key in quotes, without W/ and not as a list');
  return match[1] ?? match[2];
}

/** The `ETag` header of a configuration or a key: its revision in double quotes. */
export function etagOf({ rev }: { readonly rev: number | string }): { readonly etag: string } {
  return { etag: `"${rev}"` };
}
