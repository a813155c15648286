// Standard input as text or bytes.
//
// pipe-may-be-idle: cron, CI and other programs often give a command a pipe that nobody writes to and nobody closes. A command that has its
// message already waits only for a while for the first byte of it.
import { fstatSync } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import { CliError } from '../terminal/exit-codes.ts';

/** The same limit as for a chat request over HTTP. */
const MAX_BYTES = 10 * 1024 * 1024;
/**
 * How long the first byte may take (pipe-may-be-idle). A pipe comes from a shell, where the command before may be slow. A socket comes from a
 * program or from ssh, which write at once or never.
 */
const PATIENCE_MS = { pipe: 10_000, socket: 1000 } as const;

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

/** Where a message comes from. */
export interface MessageSource {
  readonly input: Readable;
  /** A terminal is read only for `-`. */
  readonly isTerminal: boolean;
  readonly signal: AbortSignal;
  /** Writes a remark for the person. */
  readonly say: (text: string) => Promise<void>;
  /** How long the first byte may take when there is an argument; else as in PATIENCE_MS. */
  readonly patienceMs?: number;
}

/**
 * The message of a command: its argument, a blank line, and what is piped in. The argument `-` means the pipe alone. Rejects with a CliError
 * when there is neither.
 */
export async function readMessage(argument: string | undefined, source: MessageSource): Promise<string> {
  const { input, isTerminal, signal } = source;
  if (argument === undefined && isTerminal) throw new CliError('usage', 'Give a message, or pipe one in.');
  if (argument !== undefined && argument !== '-') return isTerminal || !(await begins(source)) ? argument : joined(argument, await readAll(input, signal));
  const text = await readAll(input, signal);
  if (text.trim() === '') throw new CliError('usage', 'The message on standard input is empty.');
  return text;
}

/** An argument and what was piped in, with a blank line between them. */
function joined(argument: string, piped: string): string {
  return piped.trim() === '' ? argument : `${argument}\n\n${piped}`;
}

function patienceFor(input: Readable): number {
  // With `bigint`: after a plain fstat of a pipe, Node 20 no longer follows links to packages, and the next `require` fails.
  const isSocket = 'fd' in input && typeof input.fd === 'number' && fstatSync(input.fd, { bigint: true }).isSocket();
  return isSocket ? PATIENCE_MS.socket : PATIENCE_MS.pipe;
}

/** Whether the input begins, or ends, in time (pipe-may-be-idle). Otherwise it is closed, so that the process can end. */
function begins({ input, signal, say, patienceMs = patienceFor(input) }: MessageSource): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const settle = (outcome: () => void): void => {
      clearTimeout(timer);
      for (const event of ['readable', 'end']) input.removeListener(event, begun);
      input.removeListener('error', failed);
      signal.removeEventListener('abort', aborted);
      outcome();
    };
    const begun = (): void => settle(() => resolve(true));
    const failed = (error: Error): void => settle(() => reject(new CliError('usage', `Standard input can't be read: ${error.message}`, error)));
    const aborted = (): void => {
      settle(() => {
        input.destroy();
        reject(new CliError('interrupted', 'interrupted'));
      });
    };
    const tooLate = (): void => {
      const note = `note: standard input gave nothing for ${patienceMs / 1000} s, so the message is sent without it; add \`< /dev/null\` to avoid this wait.`;
      settle(() => {
        input.destroy();
        resolve(say(note).then(() => false));
      });
    };
    const timer = setTimeout(tooLate, patienceMs);
    for (const event of ['readable', 'end']) input.on(event, begun);
    input.on('error', failed);
    signal.addEventListener('abort', aborted);
    if (signal.aborted) aborted();
    if (input.readableEnded || input.readableLength > 0) begun();
  });
}
