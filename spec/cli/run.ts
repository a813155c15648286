// Runs commands with a workspace of the test and no keys in their environment: as a user does, in a process of the build, or in this process,
// which takes a hundredth of the time. What a process alone has (signals, a terminal, pipes, an exit) is looked at in one.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Cli } from 'clipanion';
import type { Test } from 'tap';
import { createAdapters, createNoticeSender } from '../../adapters/index.ts';
import { runProgram } from '../../cli/main/program.ts';
import type { HttpTransportOptions } from '../../transports/http/index.ts';
import { createWsTransport } from '../../transports/ws/index.ts';
import { friendlyDaemon, startServer } from '../support/server.ts';
import { testFolder } from '../support/test-folder.ts';
import { type Answerer, type FakeUpstream, startUpstream } from '../support/upstream.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const CLI = `${ROOT}dist/cli/main.js`;

export interface RunOptions {
  /** Null leaves the standard input of a process open, for the test to write. */
  readonly input?: string | null;
  readonly env?: Record<string, string>;
}

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly ended: Promise<Outcome>;
  /** Resolves once stdout holds `text`. Rejects when the command ends before. */
  printed(text: string): Promise<string>;
}

function environment(t: Test, env: RunOptions['env']): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: t.testdirName, NO_COLOR: '1', ...env };
}

/** Starts the command, with an empty standard input unless some is given; it is killed at the end of the test if it still runs. */
export function start(t: Test, args: readonly string[], { input = '', env }: RunOptions = {}): Started {
  const child = spawn(process.execPath, [CLI, ...args], { cwd: ROOT, env: environment(t, env), stdio: ['pipe', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  child.stdin.on('error', () => undefined); // a command that wants no input may be gone before it is written
  if (input !== null) child.stdin.end(input);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  const printed = async (text: string): Promise<string> => {
    while (!stdout.includes(text)) {
      const early = await Promise.race([once(child.stdout, 'data').then(() => undefined), ended]);
      if (early !== undefined && !stdout.includes(text)) throw new Error(`ended with ${early.code} before it printed ${text}: ${early.stderr}`);
    }
    return stdout;
  };
  return { child, ended, printed };
}

/** Runs the command to its end. */
export function run(t: Test, args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  return start(t, args, options).ended;
}

/** The same in this process: its streams are no terminals, and its environment is not that of the process. */
export async function runHere(t: Test, args: readonly string[], { input = '', env }: RunOptions = {}): Promise<Outcome> {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const context = { ...Cli.defaultContext, env: environment(t, env), stdin: Readable.from(input ? [Buffer.from(input)] : []), stdout, stderr };
  const code = await runProgram(args, context);
  return { code, stdout: stdout.text, stderr: stderr.text };
}

/** Keeps what is written. */
class TextSink extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

export interface Serving extends Started {
  readonly url: string;
}

/** A server on a free port. */
export async function serve(t: Test, workspace: string, env: Record<string, string> = {}, more: readonly string[] = []): Promise<Serving> {
  const started = start(t, ['serve', '--json', '--port', '0', '--workspace', workspace, ...more], { env });
  const { url } = JSON.parse(await started.printed('\n')) as { url: string };
  return { ...started, url };
}

export interface Desk {
  readonly workspace: string;
  readonly upstream: FakeUpstream;
  /** Runs a command on this workspace, in this process. */
  on(args: readonly string[], options?: RunOptions): Promise<Outcome>;
  /** Starts one as a process. */
  begin(args: readonly string[], options?: RunOptions): Started;
}

function deskOf(t: Test, workspace: string, upstream: FakeUpstream): Desk {
  const at = (args: readonly string[]): string[] => [...args, '--workspace', workspace];
  return { workspace, upstream, on: (args, options) => runHere(t, at(args), options), begin: (args, options) => start(t, at(args), options) };
}

/** A server on a workspace of its own, both in this process, before a daemon that answers as `answer` says. */
export async function openDesk(t: Test, answer: Answerer = friendlyDaemon, http: HttpTransportOptions = {}): Promise<Desk> {
  const { workspace, upstream, core, transport, url } = await startServer(t, { answer, adapters: createAdapters(), notices: createNoticeSender(), http });
  const sockets = createWsTransport(core, transport.server);
  t.teardown(() => sockets.close());
  await core.announce(url);
  return deskOf(t, workspace, upstream);
}

/** The same with a server that is a process, and so can be killed. */
export async function openDeskOfProcess(
  t: Test,
  answer: Answerer = friendlyDaemon,
  env: Record<string, string> = {},
): Promise<Desk & { readonly server: Serving }> {
  const workspace = testFolder(t);
  const upstream = await startUpstream(t, answer);
  const server = await serve(t, workspace, { OLLAMA_BASE_URL: upstream.url, ...env });
  t.teardown(async () => {
    server.child.kill('SIGKILL');
    await server.ended;
  });
  return { ...deskOf(t, workspace, upstream), server };
}
