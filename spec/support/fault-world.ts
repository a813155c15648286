// The world of a fault: the built server as a process, all five providers at one that a test commands, a canary in each secret, and the
// invariants that hold after every fault.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import root, { type Test } from 'tap';
import { type Serving, serve } from '../cli/run.ts';
import { CANARIES, canaryCredentials, canaryEnvironment } from './canaries.ts';
import { openFiles, readIfThere, rssMiB, stallEnvironment, stallFileOf, worstStallMs } from './process-watch.ts';
import { friendlyDaemon } from './server.ts';
import { until } from './until.ts';
import { type Answerer, type FakeUpstream, startUpstream } from './upstream.ts';

export { CANARIES } from './canaries.ts';
export { forgetPeak, openFiles, peakRssMiB, rssMiB } from './process-watch.ts';

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
  /** The longest time that the event loop was held up by work since the last call, in milliseconds. Collects garbage, too. Linux only. */
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

const SECRET_MODE = 0o600;
/** The 20 MB that a fault may cost, and what V8 keeps once it was used. */
const RSS_LIMIT_MIB = 20 + 24;
/** V8 gives memory back some seconds after a collection, and what a closing connection held at the first one waits for the next. */
const GIVE_BACK_MS = 3000;
const MAX_COLLECTIONS = 10;
const FD_SLACK = 5;
const LONGEST_SECRET = 200;

/** The world of all specs of this process that need no settings of their own, and how its providers answer. */
let common: Promise<CountedWorld> | undefined;
let commonAnswer: Answerer = friendlyDaemon;

/**
 * The world that all specs of a process share, since a server takes a second of processor time until it is warm. From now on its providers answer as `answer` says. Blocks of the
 * specs before are gone, and what the server holds now is what it may go on holding.
 */
export async function sharedFaultWorld(answer: Answerer = friendlyDaemon): Promise<FaultWorld> {
  commonAnswer = answer;
  const isFirst = common === undefined;
  common ??= startCountedWorld(root, { answer: (request, res, index) => commonAnswer(request, res, index) });
  const world = await common;
  if (!isFirst) await world.beginAgain();
  return world;
}

export function startFaultWorld(t: Test, options: FaultWorldOptions = {}): Promise<FaultWorld> {
  return startCountedWorld(t, options);
}

interface CountedWorld extends FaultWorld {
  /** Removes all blocks. What is open and in memory then is no fault of the cases that follow. */
  beginAgain(): Promise<void>;
}

async function startCountedWorld(t: Test, options: FaultWorldOptions): Promise<CountedWorld> {
  const { answer = friendlyDaemon, env = {}, stallLimitMs = 100, memoryLimitMiB = RSS_LIMIT_MIB } = options;
  const home = mkdtempSync(join(tmpdir(), 'blockhouse-fault-'));
  const workspace = join(home, 'workspace');
  mkdirSync(workspace, { mode: 0o700 });
  const upstream = await startUpstream(t, answer);
  writeFileSync(join(workspace, 'auth.json'), JSON.stringify(canaryCredentials(upstream.url)), { mode: SECRET_MODE });
  const serving = await serve(t, workspace, { HOME: home, ...canaryEnvironment(upstream.url), ...stallEnvironment(home), ...env });
  const { child } = serving;
  const pid = child.pid ?? 0;
  t.teardown(async () => {
    child.kill('SIGKILL');
    await serving.ended;
    rmSync(home, { recursive: true, force: true });
    rmSync(stallFileOf(home), { force: true });
  });
  let spoken = '';
  const keep = (bytes: Buffer): void => {
    spoken += bytes.toString('latin1');
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const token = readFileSync(join(workspace, '.api-token'), 'utf8').trim();
  const canaries = [token, ...Object.values(CANARIES)];
  const heardTexts: string[] = [];
  let searched = 0;
  /** What has come out since the last search, and the end of what came before: a secret may lie across the seam. */
  const unsearched = (): string => {
    const output = spoken.slice(Math.max(0, searched - LONGEST_SECRET));
    searched = spoken.length;
    return [output, ...heardTexts.splice(0)].join('\n');
  };
  await warmUp(serving.url, token);
  let baseline = { fds: openFiles(pid), rssMiB: rssMiB(pid) };

  // A server that has ended is held up for ever.
  const stalledMs = async (collects = false): Promise<number> => (await worstStallMs(child, home, { collects })) ?? Number.POSITIVE_INFINITY;
  const collect = (): Promise<number> => stalledMs(true);

  async function check(t: Test, name: string): Promise<void> {
    t.equal(child.exitCode ?? child.signalCode, null, `${name}: I1 the same process lives`);
    t.equal(await healthStatus(serving.url), 200, `${name}: I1 and is healthy`);
    t.strictSame(damagedFiles(workspace), [], `${name}: I2 every JSON file parses`);
    const fresh = [unsearched(), readIfThere(`/proc/${pid}/cmdline`)].join('\n');
    t.strictSame(
      canaries.filter((canary) => fresh.includes(canary)),
      [],
      `${name}: I3 no secret was seen`,
    );
    for (const file of ['.api-token', 'auth.json'])
      t.equal(statSync(join(workspace, file)).mode & 0o777, SECRET_MODE, `${name}: I3 ${file} is closed to others`);
    await t.resolves(
      until('the descriptors are given back', () => openFiles(pid) <= baseline.fds + FD_SLACK),
      `${name}: I4 descriptors`,
    );
    const grownMiB = (): number => rssMiB(pid) - baseline.rssMiB;
    const isGivenBack = (): boolean => grownMiB() < memoryLimitMiB;
    let stallMs = await stalledMs();
    for (let collections = 0; !isGivenBack() && collections < MAX_COLLECTIONS; collections += 1) {
      stallMs = Math.max(stallMs, await collect());
      await until('the memory is given back', isGivenBack, GIVE_BACK_MS).catch(() => undefined); // the line below tells how much is not
    }
    t.ok(grownMiB() < memoryLimitMiB, `${name}: I4 memory, grown by ${grownMiB().toFixed(1)} MiB`);
    t.strictSame(readdirSync(home), ['workspace'], `${name}: I5 nothing outside the workspace was written`);
    t.ok(stallMs < stallLimitMs, `${name}: I6 the event loop was held up for ${stallMs.toFixed(0)} ms`);
    // `notMatch` would compare all that was said, line by line, with the pattern.
    t.equal(/HTTP\/1\.1 500|INTERNAL_ERROR|uncaught|UnhandledPromise/.exec(fresh)?.[0], undefined, `${name}: I7 no 500 for an input`);
  }

  async function beginAgain(): Promise<void> {
    await removeBlocks(serving.url, token);
    await collect();
    baseline = { fds: openFiles(pid), rssMiB: rssMiB(pid) };
  }

  await stalledMs(); // of the start
  return {
    workspace,
    url: serving.url,
    port: Number(new URL(serving.url).port),
    token,
    pid,
    serving,
    upstream,
    output: () => spoken,
    heard: (text) => void heardTexts.push(typeof text === 'string' ? text : text.toString('latin1')),
    worstStallMs: collect,
    check,
    beginAgain,
  };
}

// A kept connection would be a descriptor that is not given back.
const headersWith = (token: string) => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' });

async function removeBlocks(url: string, token: string): Promise<void> {
  const headers = headersWith(token);
  const { blocks } = (await (await fetch(`${url}/api/blocks`, { headers })).json()) as { blocks: { name: string }[] };
  for (const { name } of blocks) {
    const { archiveName } = (await (await fetch(`${url}/api/blocks/${name}`, { method: 'DELETE', headers })).json()) as { archiveName: string };
    await (await fetch(`${url}/api/archive/${archiveName}`, { method: 'DELETE', headers })).text();
  }
}

/** So that what is loaded at the first use is not taken for a leak. */
async function warmUp(url: string, token: string): Promise<void> {
  const headers = headersWith(token);
  for (let round = 0; round < 3; round += 1) {
    for (const body of [{ stream: true }, { stream: false }]) {
      const request = { adapter: 'ollama', model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body };
      await (await fetch(`${url}/v1/chat`, { method: 'POST', headers, body: JSON.stringify(request) })).text();
    }
    for (const path of ['/v1/adapters', '/api/blocks', '/nowhere']) await (await fetch(url + path, { headers })).text();
  }
  const call = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(url + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
    return (await answer.json()) as Record<string, unknown>;
  };
  await call('POST', '/api/blocks', { name: 'warm', config: { adapter: { provider: 'ollama', model: 'm' } } });
  await call('POST', '/api/blocks/warm/start');
  const { id } = await call('POST', '/api/blocks/warm/chat', { message: 'hi' });
  await call('GET', `/api/blocks/warm/chat/${String(id)}?wait=30`);
  await call('GET', '/api/blocks/warm/chat');
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
