// Standard input as text.
import { addAbortSignal, type Readable } from 'node:stream';
import { CliError } from './exit-codes.ts';

/** As large as a chat request over HTTP may be. */
const MAX_BYTES = 10 * 1024 * 1024;

/** Everything up to the end of input. Rejects as bad usage beyond MAX_BYTES, and when `signal` fires. */
export async function readAll(input: Readable, signal?: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  if (signal !== undefined) addAbortSignal(signal, input);
  for await (const chunk of input) {
    chunks.push(Buffer.from(chunk as Buffer));
    bytes += chunks.at(-1)?.length ?? 0;
    if (bytes > MAX_BYTES) throw new CliError('usage', `standard input is larger than ${MAX_BYTES / 1024 / 1024} MiB.`);
  }
  return Buffer.concat(chunks).toString('utf8');
}
