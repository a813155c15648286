// Standard input as text or bytes.
import { addAbortSignal, type Readable } from 'node:stream';
import { CliError } from './exit-codes.ts';

/** As large as a chat request over HTTP may be. */
const MAX_BYTES = 10 * 1024 * 1024;

/** Everything up to the end of input. Rejects as bad usage beyond MAX_BYTES, and when `signal` fires. */
export async function readAll(input: Readable, signal?: AbortSignal): Promise<string> {
  return (await readBytes(input, MAX_BYTES, signal)).toString('utf8');
}

/** The same as bytes, up to a limit of the caller's. */
export async function readBytes(input: Readable, limit: number, signal?: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  if (signal !== undefined) addAbortSignal(signal, input);
  for await (const chunk of input) {
    chunks.push(Buffer.from(chunk as Buffer));
    bytes += chunks.at(-1)?.length ?? 0;
    if (bytes > limit) throw new CliError('usage', `standard input is larger than ${limit / 1024 / 1024} MiB.`);
  }
  return Buffer.concat(chunks);
}

/** The message of a command: its argument, or what is piped in where that is `-` or nothing. */
export async function readMessage(argument: string | undefined, isTerminal: boolean, input: Readable, signal: AbortSignal): Promise<string> {
  if (argument === undefined && isTerminal) throw new CliError('usage', 'give a message, or pipe one in.');
  if (argument !== undefined && argument !== '-') return argument;
  const text = await readAll(input, signal);
  if (text.trim() === '') throw new CliError('usage', 'the message on standard input is empty.');
  return text;
}
