// The processes that are measured, started and ended, and what the operating system says about them (Linux; elsewhere its figures are 0).
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Server {
  readonly name: string;
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** The bearer token of the gateway; '' for the others. */
  readonly token: string;
  /** What came on stdout so far. */
  output(): string;
  stop(): Promise<void>;
}

export interface Launch {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** For a server that can't tell its URL: where it will be, known once something answers there. */
  readonly url?: string;
}

const START_MS = 60_000;
const LOOK_EVERY_MS = 20;
const BENCH = join(import.meta.dirname, '..');
/** The folder that holds `cli/main.js`; `BENCH_DIST` names another one. */
export const DIST = process.env['BENCH_DIST'] ?? join(BENCH, '..', 'dist');
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

// A reader that has read enough, such as `head`, ends no measurement: what was started has to be ended.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

/** Starts a process and resolves once it has printed its URL. Of the environment it inherits only PATH. */
export async function launch({ name, args, env = {}, cwd, url }: Launch): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'blockhouse-bench-'));
  const log = openSync(join(folder, 'stderr'), 'w');
  const child = spawn(process.execPath, [...args], {
    env: { PATH: process.env['PATH'], HOME: folder, ...env },
    stdio: ['ignore', 'pipe', log],
    ...(cwd !== undefined && { cwd }),
  });
  closeSync(log);
  running.add(child);
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString('latin1');
  });
  const found = url === undefined ? await until(child, () => /"url":\s*"([^"]+)"/.exec(output)?.[1]) : await until(child, () => answering(url));
  if (found === undefined) throw new Error(`${name} did not start: ${readFileSync(join(folder, 'stderr'), 'utf8').slice(0, 2000)}`);
  return {
    name,
    url: found,
    port: Number(new URL(found).port),
    pid: child.pid ?? 0,
    token: '',
    output: () => output,
    stop: () => stop(child, folder),
  };
}

async function answering(url: string): Promise<string | undefined> {
  return fetch(url).then(
    () => url,
    () => undefined,
  );
}

async function until(child: ChildProcess, find: () => string | undefined | Promise<string | undefined>): Promise<string | undefined> {
  const giveUp = performance.now() + START_MS;
  while (performance.now() < giveUp && child.exitCode === null) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => {
      child.stdout?.once('data', resolve); // at once: a start is measured to the millisecond
      setTimeout(() => {
        child.stdout?.off('data', resolve);
        resolve();
      }, LOOK_EVERY_MS);
    });
  }
  return undefined;
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  if (child.exitCode === null) {
    child.kill('SIGTERM');
    const cut = setTimeout(() => child.kill('SIGKILL'), 3000);
    await ended;
    clearTimeout(cut);
  }
  running.delete(child);
  rmSync(folder, { recursive: true, force: true });
}

const typescript = (file: string): string[] => ['--import', 'tsx', join(BENCH, 'servers', file)];

export const startUpstream = (): Promise<Server> => launch({ name: 'direct', args: typescript('upstream.ts'), cwd: BENCH });
export const startPipe = (upstream: Server): Promise<Server> => launch({ name: 'pipe', args: [...typescript('pipe.ts'), upstream.url], cwd: BENCH });

export interface GatewayOptions {
  /** The endpoint of OpenAI that is called. */
  readonly api?: 'chat' | 'responses';
  /** Flags of Node. */
  readonly flags?: readonly string[];
  /** Another build than this one's, to compare the two in one run. */
  readonly dist?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The content of models.json. */
  readonly models?: object;
  /** Further arguments of `serve`. */
  readonly args?: readonly string[];
}

const KEYS = ['a', 'b', 'c', 'd'].map((label) => ({ label, apiKey: `bench-key-${label}-of-fourkeys` }));

/** The built gateway with its defaults, all five providers and the connections `upstream`, with one key, and `fourkeys` at the mock. */
export async function startGateway(
  upstream: Server,
  { api = 'chat', flags = [], dist = DIST, env = {}, models = {}, args: more = [] }: GatewayOptions = {},
): Promise<Server> {
  const workspace = mkdtempSync(join(tmpdir(), 'blockhouse-bench-'));
  writeFileSync(
    join(workspace, 'auth.json'),
    JSON.stringify({
      openai: { api },
      upstream: { adapter: 'openai', baseURL: `${upstream.url}/v1`, apiKey: 'bench-key-of-upstream', api },
      fourkeys: { adapter: 'openai', baseURL: `${upstream.url}/v1`, keys: KEYS, api },
    }),
    { mode: 0o600 },
  );
  writeFileSync(join(workspace, 'models.json'), JSON.stringify(models));
  const args = [...flags, join(dist, 'cli', 'main.js'), 'serve', '--port', '0', '--json', '--workspace', workspace, ...more];
  const server = await launch({ name: 'gateway', args, env: { ...providersAt(upstream.url), ...env } });
  const token = readFileSync(join(workspace, '.api-token'), 'utf8').trim();
  const end = async (): Promise<void> => {
    await server.stop();
    rmSync(workspace, { recursive: true, force: true });
  };
  return { ...server, token, stop: end };
}

function providersAt(url: string): Record<string, string> {
  return {
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: 'bench-key-of-openai',
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'bench-key-of-anthropic',
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: 'bench-key-of-google',
    OLLAMA_BASE_URL: url,
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'AKIDBENCHBENCHBENCH0',
    AWS_SECRET_ACCESS_KEY: 'bench-secret-of-aws',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}

/**
 * Milliseconds of processor time that a process and its children have used, all threads that they have, in user and system mode. From the scheduler's own count, in
 * nanoseconds: `/proc/<pid>/stat` counts in hundredths of a second, which is some microseconds a frame.
 */
export function cpuMs(pid: number): number {
  if (process.platform !== 'linux' || pid === 0) return 0;
  return ownCpuMs(pid) + childrenOf(pid).reduce((sum, child) => sum + cpuMs(child), 0);
}

/** The same without the children. */
export function ownCpuMs(pid: number): number {
  if (process.platform !== 'linux' || pid === 0) return 0;
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]));
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6;
}

/** The processes that a process has started and that live now. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').trim().split(' ').filter(Boolean).map(Number),
  );
}

/** Resident memory in MiB: now, or the most there ever was. */
export function rssMiB(pid: number, which: 'now' | 'peak' = 'now'): number {
  if (process.platform !== 'linux' || pid === 0) return 0;
  const name = which === 'now' ? 'VmRSS' : 'VmHWM';
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024;
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
