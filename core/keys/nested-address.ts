// Finds addresses and secrets deeper in a request: proxies take them in fallbacks, in lists of models, in tools and in messages. Pure: no I/O.
//
// data-is-free: names within the application's data mean nothing here, so it is not searched. At the top of a request, the names of data are fields like others.
import { DATA, SCHEMAS } from '../gateway/request-data.ts';
import { type RequestFields, ruleOf } from './field-rules.ts';

/** Outside of data, a request nests deeper only to hide something. */
const MAX_LEVELS = 100;
/** The end of a path that was not followed further. */
const NOT_FOLLOWED = '…';

/** True for a path of {@link nestedAddress} at which nothing was found but too many levels. */
export function isTooDeep(path: string): boolean {
  return path.endsWith(NOT_FOLLOWED);
}

/** The path of an address or a secret in the field of this name, not of the field itself; undefined if there is none. */
export function nestedAddress(fields: RequestFields, name: string, value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || SCHEMAS.has(name)) return undefined;
  const place = placeIn(fields, value, ruleOf(fields, name)?.holdsRequests === true, MAX_LEVELS);
  return place === undefined ? undefined : name + place;
}

/** `isRequest`: every address counts, and every text that is a URL. */
function placeIn(fields: RequestFields, value: unknown, isRequest: boolean, levels: number): string | undefined {
  if (typeof value === 'string') return isRequest && value.includes('://') ? '' : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return NOT_FOLLOWED;
  if (!Array.isArray(value)) return placeInMembers(fields, value as Readonly<Record<string, unknown>>, isRequest, levels);
  for (let index = 0; index < value.length; index += 1) {
    const place = placeIn(fields, value[index], isRequest, levels - 1);
    if (place !== undefined) return `[${index}]${place}`;
  }
  return undefined;
}

function placeInMembers(fields: RequestFields, value: Readonly<Record<string, unknown>>, isRequest: boolean, levels: number): string | undefined {
  for (const name in value) {
    const inner = value[name];
    if (inner === null) continue;
    const rule = ruleOf(fields, name);
    if (rule?.decides === 'address' && (isRequest || rule.isCommonWord !== true)) return `.${name}`;
    if (typeof inner !== 'object' && !isRequest) continue;
    if (!isRequest && DATA.has(name)) continue; // data-is-free
    const place = placeIn(fields, inner, isRequest || rule?.holdsRequests === true, levels - 1);
    if (place !== undefined) return `.${name}${place}`;
  }
  return undefined;
}
