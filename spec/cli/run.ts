// Runs the built command as a user does: a process of its own, a workspace of the test, no keys in its environment.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { friendlyDaemon } from '../support/server.ts';
import { type Answerer, type FakeUpstream, startUpstream } from '../support/upstream.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const CLI = `${ROOT}dist/cli/main.js`;

export interface RunOptions {
  readonly input?: string;
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

/** Starts the command; it is killed at the end of the test if it still runs. */
export function start(t: Test, args: readonly string[], { input, env }: RunOptions = {}): Started {
  const clean = { PATH: process.env['PATH'], HOME: t.testdirName, NO_COLOR: '1', ...env };
  const child = spawn(process.execPath, [CLI, ...args], { cwd: ROOT, env: clean, stdio: ['pipe', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  child.stdin.on('error', () => undefined); // a command that wants no input may be gone before it is written
  if (input !== undefined) child.stdin.end(input);
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

/** Runs the command to its end, with an empty standard input unless some is given. */
export function run(t: Test, args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  return start(t, args, { input: '', ...options }).ended;
}

export interface Serving extends Started {
  readonly url: string;
}

/** A server on a free port. */
export async function serve(t: Test, workspace: string, env: Record<string, string> = {}): Promise<Serving> {
  const started = start(t, ['serve', '--json', '--port', '0', '--workspace', workspace], { env });
  const { url } = JSON.parse(await started.printed('\n')) as { url: string };
  return { ...started, url };
}

export interface Desk {
  readonly workspace: string;
  readonly server: Serving;
  readonly upstream: FakeUpstream;
  /** Runs a command on this workspace. */
  on(args: readonly string[], options?: RunOptions): Promise<Outcome>;
  /** Starts one. */
  begin(args: readonly string[], options?: RunOptions): Started;
}

/** A server on a workspace of its own, before a daemon that answers as `answer` says. */
export async function openDesk(t: Test, answer: Answerer = friendlyDaemon): Promise<Desk> {
  // Not the folder of the test: that one is removed while the server still writes.
  const workspace = mkdtempSync(join(tmpdir(), 'blockhouse-spec-'));
  const upstream = await startUpstream(t, answer);
  const server = await serve(t, workspace, { OLLAMA_BASE_URL: upstream.url });
  t.teardown(async () => {
    server.child.kill('SIGKILL');
    await server.ended;
    rmSync(workspace, { recursive: true, force: true });
  });
  const at = (args: readonly string[]): string[] => [...args, '--workspace', workspace];
  return { workspace, server, upstream, on: (args, options) => run(t, at(args), options), begin: (args, options) => start(t, at(args), options) };
}
