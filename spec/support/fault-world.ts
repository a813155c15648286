// The world of a fault: the built server as a process, all five providers at one that a test commands, a canary in each secret, and the
// invariants that hold after every fault.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type Serving, serve } from '../cli/run.ts';
import { friendlyDaemon } from './server.ts';
import { until } from './until.ts';
import { type Answerer, type FakeUpstream, startUpstream } from './upstream.ts';

/** One secret each; none of them may be seen anywhere but in its file and at its provider. */
export const CANARIES = {
  openai: 'sk-canary-openai-4c1f0a7e9b',
  anthropic: 'sk-ant-canary-anthropic-77d2e1',
  google: 'AIza-canary-google-5e8b30c9f4',
  ollama: 'canary-ollama-91c6d0aa72f3',
  accessKeyId: 'AKIACANARYBEDROCK0001',
  secretAccessKey: 'canary/bedrock/secret/c0ffee2417',
} as const;

export interface FaultWorld {
  readonly workspace: string;
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly pid: number;
  readonly serving: Serving;
  readonly upstream: FakeUpstream;
  /** Log and standard output so far. */
  output(): string;
  /** Remembers what came out of the server by any way, for the search of canaries. `RawClient.received`, a body, a frame, a line. */
  heard(text: string | Buffer): void;
  /** The longest time that the event loop was held up by work since the last call, in milliseconds. Linux only. */
  worstStallMs(): Promise<number>;
  /** Asserts the invariants I1 to I7 of a case, by its name. */
  check(t: Test, name: string): Promise<void>;
}

export interface FaultWorldOptions {
  /** How the providers answer; all of them are this one. */
  readonly answer?: Answerer;
  readonly env?: Readonly<Record<string, string>>;
  /** How long work may hold up the event loop; the promise is 100 ms. */
  readonly stallLimitMs?: number;
  /** How much the memory may have grown after a case: more where bodies are large, for malloc keeps pages that were used once. */
  readonly memoryLimitMiB?: number;
}

const MIB = 1024 * 1024;
const SECRET_MODE = 0o600;
/** The 20 MB that a fault may cost, and what V8 keeps once it was used. */
const RSS_LIMIT_MIB = 20 + 24;
/** V8 gives memory back some seconds after the work has ended. */
const GIVE_BACK_MS = 15_000;
const FD_SLACK = 5;

export async function startFaultWorld(t: Test, options: FaultWorldOptions = {}): Promise<FaultWorld> {
  const { answer = friendlyDaemon, env = {}, stallLimitMs = 100, memoryLimitMiB = RSS_LIMIT_MIB } = options;
  const home = mkdtempSync(join(tmpdir(), 'blockhouse-fault-'));
  const workspace = join(home, 'workspace');
  const stallFile = join(tmpdir(), `${home.split('/').at(-1)}.stall.json`);
  mkdirSync(workspace, { mode: 0o700 });
  const upstream = await startUpstream(t, answer);
  writeFileSync(join(workspace, 'auth.json'), JSON.stringify(credentials(upstream.url)), { mode: SECRET_MODE });
  const serving = await serve(t, workspace, {
    HOME: home,
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: upstream.url,
    NODE_OPTIONS: `--require ${join(import.meta.dirname, 'stall-watch.cjs')}`,
    STALL_FILE: stallFile,
    ...env,
  });
  const { child } = serving;
  const pid = child.pid ?? 0;
  t.teardown(async () => {
    child.kill('SIGKILL');
    await serving.ended;
    rmSync(home, { recursive: true, force: true });
    rmSync(stallFile, { force: true });
  });
  const spoken: string[] = [];
  const keep = (bytes: Buffer): void => void spoken.push(bytes.toString('latin1'));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const token = readFileSync(join(workspace, '.api-token'), 'utf8').trim();
  const canaries = [token, ...Object.values(CANARIES)];
  const heardTexts: string[] = [];
  await warmUp(serving.url, token);
  const baseline = { fds: openFiles(pid), rssMiB: rssMiB(pid) };

  async function worstStallMs(): Promise<number> {
    if (process.platform !== 'linux') return 0;
    rmSync(stallFile, { force: true });
    child.kill('SIGUSR2');
    let text = '';
    await until('the server has told its stalls', () => {
      text = readIfThere(stallFile);
      return text.endsWith('}') || child.exitCode !== null;
    });
    return text === '' ? Number.POSITIVE_INFINITY : (JSON.parse(text) as { worstMs: number }).worstMs;
  }

  async function check(t: Test, name: string): Promise<void> {
    t.equal(child.exitCode ?? child.signalCode, null, `${name}: I1 the same process lives`);
    t.equal(await healthStatus(serving.url), 200, `${name}: I1 and is healthy`);
    t.strictSame(damagedFiles(workspace), [], `${name}: I2 every JSON file parses`);
    const everything = [...spoken, ...heardTexts, readIfThere(`/proc/${pid}/cmdline`)].join('\n');
    t.strictSame(
      canaries.filter((canary) => everything.includes(canary)),
      [],
      `${name}: I3 no secret was seen`,
    );
    for (const file of ['.api-token', 'auth.json'])
      t.equal(statSync(join(workspace, file)).mode & 0o777, SECRET_MODE, `${name}: I3 ${file} is closed to others`);
    await t.resolves(
      until('the descriptors are given back', () => openFiles(pid) <= baseline.fds + FD_SLACK),
      `${name}: I4 descriptors`,
    );
    const stallMs = await worstStallMs(); // which collects garbage, too
    const grownMiB = (): number => rssMiB(pid) - baseline.rssMiB;
    await until('the memory is given back', () => grownMiB() < memoryLimitMiB, GIVE_BACK_MS).catch(() => undefined); // the next line tells how much is not
    t.ok(grownMiB() < memoryLimitMiB, `${name}: I4 memory, grown by ${grownMiB().toFixed(1)} MiB`);
    t.strictSame(readdirSync(home), ['workspace'], `${name}: I5 nothing outside the workspace was written`);
    t.ok(stallMs < stallLimitMs, `${name}: I6 the event loop was held up for ${stallMs.toFixed(0)} ms`);
    t.notMatch(everything, /HTTP\/1\.1 500|INTERNAL_ERROR|uncaught|UnhandledPromise/, `${name}: I7 no 500 for an input`);
  }

  await worstStallMs(); // of the start
  return {
    workspace,
    url: serving.url,
    port: Number(new URL(serving.url).port),
    token,
    pid,
    serving,
    upstream,
    output: () => spoken.join(''),
    heard: (text) => void heardTexts.push(typeof text === 'string' ? text : text.toString('latin1')),
    worstStallMs,
    check,
  };
}

function credentials(url: string): Record<string, Record<string, string>> {
  const { openai, anthropic, google, ollama, accessKeyId, secretAccessKey } = CANARIES;
  return {
    openai: { apiKey: openai, baseURL: `${url}/v1` },
    anthropic: { apiKey: anthropic, baseURL: url },
    google: { apiKey: google, baseURL: url },
    ollama: { apiKey: ollama, baseURL: url },
    bedrock: { region: 'us-east-1', accessKeyId, secretAccessKey },
  };
}

/** So that what is loaded at the first use is not taken for a leak. */
async function warmUp(url: string, token: string): Promise<void> {
  // A kept connection would be a descriptor that is not given back.
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' };
  for (let round = 0; round < 3; round += 1) {
    for (const body of [{ stream: true }, { stream: false }]) {
      const request = { adapter: 'ollama', model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body };
      await (await fetch(`${url}/v1/chat`, { method: 'POST', headers, body: JSON.stringify(request) })).text();
    }
    for (const path of ['/v1/adapters', '/api/blocks', '/nowhere', '/openapi.json']) await (await fetch(url + path, { headers })).text();
  }
  const call = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(url + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
    return (await answer.json()) as Record<string, unknown>;
  };
  await call('POST', '/api/blocks', { name: 'warm', config: { adapter: { provider: 'ollama', model: 'm' } } });
  await call('POST', '/api/blocks/warm/start');
  await call('POST', '/api/blocks/warm/chat', { message: 'hi' });
  for (let asked = 0; asked < 1000; asked += 1) if (JSON.stringify(await call('GET', '/api/blocks/warm/chat')).includes('"assistant"')) break;
  const { archiveName } = await call('DELETE', '/api/blocks/warm');
  await call('DELETE', `/api/archive/${String(archiveName)}`);
}

async function healthStatus(url: string): Promise<number> {
  const response = await fetch(`${url}/v1/health`, { headers: { connection: 'close' } });
  await response.text();
  return response.status;
}

/** Regular files that are called JSON and are none. */
function damagedFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !isJson(readIfThere(path)));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return text === ''; // removed since
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** Sockets, pipes and files of a process; Linux only, elsewhere 0. */
export function openFiles(pid: number): number {
  if (process.platform !== 'linux') return 0;
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => linkOf(`/proc/${pid}/fd/${fd}`) !== '').length;
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // closed since it was listed
  }
}

/** Resident memory of a process; Linux only, elsewhere 0. */
export function rssMiB(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return (Number(kib) * 1024) / MIB;
}

/** The most resident memory since the start, or since `forgetPeak`; Linux only, elsewhere 0. */
export function peakRssMiB(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const kib = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return (Number(kib) * 1024) / MIB;
}

export function forgetPeak(pid: number): void {
  if (process.platform === 'linux') writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
