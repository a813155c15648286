// What is wrong with a value of a stored setting. The text names the field and never repeats the value. Pure: no I/O.
import { urlOf } from '../base/url.ts';
import { REGION_PATTERN, SECRET_PATTERN } from '../schemas/chat.ts';
import { isAddress, type SettingSpec } from './settings.ts';

const SECRET = new RegExp(SECRET_PATTERN);
const REGION = new RegExp(REGION_PATTERN);
const PRINTABLE = /^[\x20-\x7e]{1,2048}$/;

/** Undefined for a value that can be stored. */
export function settingFault(field: string, value: string, spec: SettingSpec): string | undefined {
  if (spec.secret)
    return SECRET.test(value) ? undefined : `${field} contains characters that are not allowed in a key (spaces, line breaks or non-ASCII characters).`;
  if (!PRINTABLE.test(value)) return `${field} must be one line of printable ASCII.`;
  if (spec.oneOf !== undefined && !spec.oneOf.includes(value)) return `${field} must be one of ${spec.oneOf.join(', ')}.`;
  if (field === 'region' && !REGION.test(value)) return `${field} must be a region such as us-east-1.`;
  if (!isAddress(field, spec)) return undefined;
  const address = urlOf(spec.normalize?.(value) ?? value);
  if (address === undefined || !/^https?:$/.test(address.protocol)) return `${field} must be an address such as https://host:port.`;
  const { username, password, search, hash } = address;
  return username + password + search + hash === '' ? undefined : `${field} must be an address without a user name, query or fragment.`;
}
