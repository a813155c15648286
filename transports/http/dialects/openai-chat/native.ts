// A request for a server that speaks Chat Completions itself. Pure: no I/O.
import type { JsonOutline } from '../../../../core/base/json-members.ts';
import { invalidRequest } from '../../../../core/index.ts';
import type { NativeBody } from '../shared/dialect.ts';
import { type Fields, optionalObject } from '../shared/fields.ts';
import { withMembers } from '../shared/json-edit.ts';

/** Sets the model. A stream is always asked for its usage, because calls are counted. Throws INVALID_REQUEST for options that a provider may read in another way. */
export function toNative(bytes: Buffer, body: Readonly<Record<string, unknown>>, model: string, outline?: JsonOutline): NativeBody {
  const options = optionalObject(body, 'stream_options') ?? {};
  assertPlain(options);
  const hidesUsage = body['stream'] === true && options['include_usage'] !== true;
  const usage = hidesUsage ? { stream_options: JSON.stringify({ ...options, include_usage: true }) } : {};
  return { ...withMembers(bytes, { model: JSON.stringify(model), ...usage }, outline), hidesUsage };
}

/** Some servers take other values for a yes or a no, and some ignore the case of a name, so that another spelling could turn the usage off again. */
function assertPlain(options: Fields): void {
  for (const name in options) {
    const path = `stream_options.${name}`;
    if (name === 'include_usage') {
      if (typeof (options[name] ?? false) !== 'boolean') throw invalidRequest(path, 'must be true or false');
    } else if (name.toUpperCase() === 'INCLUDE_USAGE') throw invalidRequest(path, 'would be read as include_usage by some providers. Write include_usage');
  }
}
