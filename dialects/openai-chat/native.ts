// A request for a server that speaks Chat Completions itself. Pure: no I/O.
import { isObject } from '../../core/index.ts';
import type { NativeBody } from '../dialect.ts';
import { withMembers } from '../json-edit.ts';

/** Sets the model. A stream is always asked for its usage, because calls are counted. */
export function toNative(bytes: Buffer, body: Readonly<Record<string, unknown>>, model: string): NativeBody {
  const options = isObject(body['stream_options']) ? body['stream_options'] : {};
  const hidesUsage = body['stream'] === true && options['include_usage'] !== true;
  const usage = hidesUsage ? { stream_options: JSON.stringify({ ...options, include_usage: true }) } : {};
  return { body: withMembers(bytes, { model: JSON.stringify(model), ...usage }), hidesUsage };
}
