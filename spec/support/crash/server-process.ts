// The built server as a process of its own, to be killed. No test is needed to use it; it never outlives this process.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ServerClient } from './server-client.ts';

const MAIN = resolve(import.meta.dirname, '../../../dist/cli/main.js');

/** In the seventh field of /proc/<pid>/stat behind the name; the kernel sets it before it closes what the process had open. */
const PF_EXITING = 0x4;

export interface SpawnOptions {
  readonly workspace: string;
  readonly daemonUrl: string;
  /** For Node itself. */
  readonly nodeFlags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** More for `serve`. */
  readonly args?: readonly string[];
}

export class ServerProcess {
  readonly child: ChildProcess;
  readonly workspace: string;
  /** Resolves with its address once it has said it; undefined when the process ended before. */
  readonly url: Promise<string | undefined>;
  /** Resolves when it has ended. */
  readonly ended: Promise<unknown>;
  readonly #spawnedAt = performance.now();
  #stderr = '';

  constructor({ workspace, daemonUrl, nodeFlags = [], env = {}, args = [] }: SpawnOptions) {
    this.workspace = workspace;
    this.child = spawn(process.execPath, [...nodeFlags, MAIN, 'serve', '--json', '--port', '0', '--workspace', workspace, ...args], {
      env: { PATH: process.env['PATH'], HOME: workspace, NO_COLOR: '1', BLOCKHOUSE_LOG_LEVEL: 'error', OLLAMA_BASE_URL: daemonUrl, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const kill = (): void => void this.child.kill('SIGKILL');
    process.once('exit', kill);
    this.ended = once(this.child, 'close').then(() => process.off('exit', kill));
    this.child.stderr?.on('data', (bytes: Buffer) => {
      this.#stderr += bytes.toString();
    });
    this.url = this.#readUrl();
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** True once it is on its way out, by whatever: from before its connections break. Linux only, elsewhere once it is gone. */
  get isDying(): boolean {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return true;
    return process.platform === 'linux' && isExiting(this.pid);
  }

  async #readUrl(): Promise<string | undefined> {
    let text = '';
    for await (const bytes of this.child.stdout ?? []) {
      text += String(bytes);
      const line = /^(\{.*\})\n/.exec(text)?.[1];
      if (line !== undefined) return (JSON.parse(line) as { url: string }).url;
    }
    return undefined;
  }

  /** Resolves once it answers as healthy: a client, and the milliseconds since it was started. Undefined when it ended before. */
  async ready(maxSockets = 64): Promise<{ readonly client: ServerClient; readonly ms: number } | undefined> {
    const url = await this.url;
    if (url === undefined) return undefined;
    const client = new ServerClient(url, readFileSync(join(this.workspace, '.api-token'), 'utf8').trim(), maxSockets);
    let health = await client.call('GET', '/api/health');
    for (; health?.status === 503; health = await client.call('GET', '/api/health')) await delay(100); // its database is slow
    return health?.status === 200 ? { client, ms: performance.now() - this.#spawnedAt } : undefined;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.child.kill(signal);
    await this.ended;
  }
}

function isExiting(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const flags = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[6];
    return (Number(flags) & PF_EXITING) !== 0;
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return true; // gone
    throw error;
  }
}
