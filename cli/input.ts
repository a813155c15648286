// Standard input as text or bytes.
import { addAbortSignal, type Readable } from 'node:stream';
import { CliError } from './exit-codes.ts';

/** The same limit as for a chat request over HTTP. */
const MAX_BYTES = 10 * 1024 * 1024;

/** The whole input as text. Rejects with a CliError (`usage`) beyond 10 MiB, and when `signal` fires. */
export async function readAll(input: Readable, signal?: AbortSignal): Promise<string> {
  return (await readBytes(input, MAX_BYTES, signal)).toString('utf8');
}

/** The whole input as bytes. Rejects with a CliError (`usage`) beyond `limit` bytes, and when `signal` fires. */
export async function readBytes(input: Readable, limit: number, signal?: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  if (signal !== undefined) addAbortSignal(signal, input);
  for await (const chunk of input) {
    chunks.push(Buffer.from(chunk as Buffer));
    bytes += chunks.at(-1)?.length ?? 0;
    if (bytes > limit) throw new CliError('usage', `Standard input is larger than ${limit / 1024 / 1024} MiB.`);
  }
  return Buffer.concat(chunks);
}

/** The message of a command: its argument, or standard input when the argument is `-` or missing. Rejects with a CliError when there is none. */
export async function readMessage(argument: string | undefined, isTerminal: boolean, input: Readable, signal: AbortSignal): Promise<string> {
  if (argument === undefined && isTerminal) throw new CliError('usage', 'Give a message, or pipe one in.');
  if (argument !== undefined && argument !== '-') return argument;
  const text = await readAll(input, signal);
  if (text.trim() === '') throw new CliError('usage', 'The message on standard input is empty.');
  return text;
}
