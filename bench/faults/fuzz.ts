// `npx tsx bench/faults/fuzz.ts [--requests 1000000] [--seed n] [--lanes 64] [--connection n] [--one-by-one]`: requests that were valid once, to all routes. Needs
// a build; loopback only. It ends after so many requests, or with the death of the server.
//
// replayable: the bytes of a connection depend only on the seed and the number of the connection (fuzz-input.ts), so `--connection` sends them again.
// find-the-cause: a stall is noticed after it happened, so all connections of that time are sent again, one by one, to a new server.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Random } from '../../spec/support/crash/random.ts';
import { rssMiB } from '../harness/processes.ts';
import { FUZZ_NAMES, type Route, type Script, type Target, writeScript } from './fuzz-input.ts';
import { print, Verdict, wholeNumber } from './verdict.ts';
import { friendly, openFiles, type Provider, startWorld, type World } from './world.ts';

const STALL_MS = 100;
const STALL_EVERY_MS = 1000;
const TIDY_EVERY_MS = 4000;
const TELL_EVERY = 100_000;
/** An answer that takes longer is not waited for: some requests are repeated at the provider, a message may wait for its turn. */
const PATIENCE_MS = 600;
/** What is broken may be an unfinished request, which the server would wait for. */
const BROKEN_PATIENCE_MS = 15;
const MAX_FAULTS = 3;
const BLAME_LIMIT_MS = 60_000;
const SHOWN_BYTES = 3000;

const string = { type: 'string' } as const;
const { values } = parseArgs({ options: { requests: string, seed: string, lanes: string, connection: string, 'one-by-one': { type: 'boolean' } } });
const requests = wholeNumber('requests', values.requests ?? '1000000', 1_000_000_000);
const lanes = wholeNumber('lanes', values.lanes ?? '64', 256);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : wholeNumber('seed', values.seed, 2 ** 31);

interface Fault {
  readonly what: string;
  /** Of the connections that may have done it. */
  readonly connections: readonly number[];
}

/** Most answer well; a few fail, and repeat the key that they were called with, as some providers do. */
const provider: Provider = (asked, res) => {
  if (asked.body.length % 23 !== 0) return friendly(asked, res);
  const { headers } = res.req;
  const key = headers.authorization ?? headers['x-api-key'] ?? headers['x-goog-api-key'] ?? '';
  res.writeHead(400, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ error: { message: `bad request with key ${String(key)}`, type: 'invalid_request_error', code: 'x' } }));
};

const statuses = new Map<number, number>();
const faults: Fault[] = [];
let sent = 0;
let tellAt = TELL_EVERY;
let next = 0;
/** Connections that were open when the server ended. */
let openAtTheEnd: readonly number[] = [];
const open = new Set<number>();
/** Lines of the log. */
const ownFailures: string[] = [];
/** Connections since the last look at the stalls. */
let recent: number[] = [];

const targets = new WeakMap<World, Target>();

const world = await startFuzzWorld();
let restOfLog = '';
world.child.stderr?.on('data', (bytes: Buffer) => {
  const lines = (restOfLog + bytes.toString()).split('\n');
  restOfLog = lines.pop() ?? '';
  ownFailures.push(...lines.filter((line) => /INTERNAL_ERROR|uncaught|UnhandledPromise/i.test(line)));
});
world.child.once('exit', () => {
  openAtTheEnd = [...open];
});
const target = await targetOf(world);
const verdict = new Verdict();
try {
  if (values.connection !== undefined) await replayOne(Number(values.connection));
  else await fuzz();
} finally {
  await world.close();
}
verdict.end();

async function fuzz(): Promise<void> {
  print(`seed ${seed}: ${requests} requests over ${lanes} connections at a time, to ${target.routes.length} routes`);
  const before = { fds: openFiles(world.pid), rss: rssMiB(world.pid) };
  const from = performance.now();
  let isOver = false;
  let worstStall = 0;
  let isFirst = true;
  const watching = (async () => {
    while (!isOver && !world.hasEnded) {
      await delay(STALL_EVERY_MS);
      const connections = recent;
      recent = [];
      const ms = await world.worstStallMs();
      if (isFirst) {
        isFirst = false;
        verdict.tell('longest stall of the first second', `${ms.toFixed(0)} ms, while modules are loaded for the first time`);
        continue;
      }
      worstStall = Math.max(worstStall, ms);
      if (ms >= STALL_MS) note({ what: `a stall of ${ms.toFixed(0)} ms`, connections });
    }
  })();
  const tidying = (async () => {
    for (let waited = 0; !isOver && !world.hasEnded; waited += 100) {
      await delay(100);
      if (waited % TIDY_EVERY_MS === 0) await tidy(world).catch((error: unknown) => note({ what: `valid requests fail: ${String(error)}`, connections: [] }));
    }
  })();
  await Promise.all(Array.from({ length: lanes }, lane));
  const seconds = (performance.now() - from) / 1000;
  isOver = true;
  await Promise.all([watching, tidying]);
  if (world.hasEnded) {
    faults.unshift({ what: `the server has ended with ${String(await world.ended)}`, connections: openAtTheEnd });
    print(`the end of its log: ${world.output.slice(-SHOWN_BYTES)}`);
  }
  await sayFigures({ seconds, worstStall, before });
}

async function lane(): Promise<void> {
  while (sent < requests && !world.hasEnded) {
    const number = next;
    next += 1;
    const script = scriptOf(number, target);
    recent.push(number);
    const count = countOf(script);
    sent += count;
    open.add(number);
    const marks = await run(script, world, number);
    open.delete(number);
    for (const what of marks) note({ what, connections: [number] });
    if (sent >= tellAt) {
      print(`${sent} requests`);
      tellAt += TELL_EVERY;
    }
  }
}

function countOf({ groups }: Script): number {
  return groups.reduce((sum, { length }) => sum + length, 1);
}

/** replayable. */
function scriptOf(number: number, to: Target): Script {
  const script = writeScript(new Random(createHash('sha256').update(`${seed} ${number}`).digest().readUInt32BE()), to);
  return values['one-by-one'] === true ? { ...script, groups: script.groups.flat().map((one) => [one]) } : script;
}

/** Sends it all and reads what comes, over as many connections as it takes; what is wrong with that. */
async function run({ groups, broken }: Script, to: World, number: number): Promise<string[]> {
  const wrong: string[] = [];
  const source = `connection ${number}`;
  let at = 0;
  while (at < groups.length && !to.hasEnded)
    at += await exchange(groups.slice(at), at === groups.length - 1 ? broken : undefined, to, { source, wrong, number });
  to.canaries.forget(source);
  return wrong;
}

interface Notes {
  readonly source: string;
  readonly wrong: string[];
  readonly number: number;
}

/** One connection. Resolves with the number of groups that it took. */
function exchange(groups: readonly (readonly Buffer[])[], broken: Buffer | undefined, to: World, { source, wrong, number }: Notes): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect({ port: to.port, host: '127.0.0.1', noDelay: true });
    let tail = '';
    let taken = 0;
    let due = 0;
    let isBroken = false;
    let timer = setTimeout(end, PATIENCE_MS);
    function end(): void {
      clearTimeout(timer);
      if (number % 2 === 0) socket.destroy();
      else socket.resetAndDestroy();
    }
    function goOn(): void {
      clearTimeout(timer);
      const group = groups[taken];
      timer = setTimeout(end, group === undefined ? BROKEN_PATIENCE_MS : PATIENCE_MS);
      if (group !== undefined) {
        taken += 1;
        due += group.length;
        socket.write(Buffer.concat(group));
      } else if (isBroken || broken === undefined) end();
      else {
        isBroken = true;
        socket.write(broken);
      }
    }
    socket.on('connect', goOn);
    socket.on('data', (bytes: Buffer) => {
      if (to.canaries.hear(source, bytes)) wrong.push('a secret was seen');
      const text = tail + bytes.toString('latin1');
      for (const { 1: status, index } of text.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
        const code = Number(status);
        statuses.set(code, (statuses.get(code) ?? 0) + 1);
        if (code >= 200) due -= 1;
        if (code === 500) wrong.push(`an answer of 500: ${errorText(text.slice(index))}, to one of ${shown(Buffer.concat(groups[taken - 1] ?? []), to.token)}`);
      }
      tail = text.slice(-'HTTP/1.1 200'.length);
      if (isBroken) timer.refresh();
      else if (due <= 0 && taken > 0) goOn();
    });
    socket.on('error', () => undefined); // a reset is one of the ends
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(Math.max(1, taken));
    });
  });
}

function errorText(answer: string): string {
  return /\{"error":.*?"requestId"/.exec(answer)?.[0] ?? answer.slice(0, 200);
}

function note(fault: Fault): void {
  if (faults.length < MAX_FAULTS) faults.push(fault);
}

async function sayFigures(figures: { readonly seconds: number; readonly worstStall: number; readonly before: { fds: number; rss: number } }): Promise<void> {
  const { seconds, worstStall, before } = figures;
  const answers = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  const list = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  verdict.tell('requests', `${sent} over ${next} connections in ${seconds.toFixed(0)} s, ${Math.round(sent / seconds)} a second`);
  verdict.tell('answers', `${answers}; ${list.join(', ')}`);
  verdict.say('exits', world.hasEnded ? '1' : '0', '0', !world.hasEnded);
  verdict.say('answers of 500', `${statuses.get(500) ?? 0}`, '0', !statuses.has(500));
  verdict.say('longest stall of the event loop', `${worstStall.toFixed(0)} ms`, `below ${STALL_MS} ms`, worstStall < STALL_MS);
  const { found } = world.canaries;
  verdict.say('secrets seen', found.length === 0 ? '0' : `${found.length}: ${found.slice(0, 3).join(', ')}`, '0', found.length === 0);
  verdict.say('failures of its own in the log', `${ownFailures.length}`, '0', ownFailures.length === 0);
  for (const line of ownFailures.slice(0, MAX_FAULTS)) print(`        ${line.slice(0, SHOWN_BYTES)}`);
  if (!world.hasEnded) {
    await delay(2000);
    verdict.tell('descriptors', `${before.fds} before, ${openFiles(world.pid)} after`);
    verdict.tell('memory', `${before.rss.toFixed(0)} MiB before, ${rssMiB(world.pid).toFixed(0)} after`);
  }
  for (const fault of faults) await blame(fault);
  verdict.say('other faults', `${faults.length}`, '0', faults.length === 0);
}

/** find-the-cause. Prints the connection that caused the stall. */
async function blame({ what, connections }: Fault): Promise<void> {
  print(`\nseed ${seed}: ${what}; one of ${connections.length} connections`);
  if (connections.length <= 1) {
    for (const number of connections) show(number, target);
    return;
  }
  let fresh = await startFuzzWorld();
  let culprits = 0;
  const limit = performance.now() + BLAME_LIMIT_MS;
  for (const number of connections) {
    if (performance.now() > limit || fresh.hasEnded) break;
    const to = await targetOf(fresh);
    await fresh.worstStallMs(); // of what was loaded for it
    await run(scriptOf(number, to), fresh, number);
    await delay(50); // a server that dies of it needs a moment
    const ms = await fresh.worstStallMs();
    if (!fresh.hasEnded && ms < STALL_MS) continue;
    print(fresh.hasEnded ? `connection ${number} ends the server: ${fresh.output.slice(-1500)}` : `connection ${number} causes a stall of ${ms.toFixed(0)} ms`);
    show(number, to);
    culprits += 1;
    if (culprits >= 3) break;
    if (!fresh.hasEnded) continue;
    await fresh.close();
    fresh = await startFuzzWorld();
  }
  if (culprits === 0) print(`none does it alone: connections ${connections[0]} to ${connections.at(-1)}; the end of the log: ${world.output.slice(-1500)}`);
  await fresh.close();
}

function show(number: number, to: Target): void {
  const { groups, broken } = scriptOf(number, to);
  const whole = groups.flat();
  const bytes = Buffer.concat([...whole, broken]);
  const file = join(mkdtempSync(join(tmpdir(), 'blockhouse-fuzz-')), `${seed}-${number}.bin`);
  writeFileSync(file, bytes);
  print(`--seed ${seed} --connection ${number}: ${whole.length + 1} requests, ${bytes.length} bytes, whole in ${file}`);
  for (const [index, one] of [...whole, broken].entries()) print(`  ${index + 1}: ${shown(one, to.token).slice(0, SHOWN_BYTES / (whole.length + 1) + 200)}`);
}

function shown(bytes: Buffer, token: string): string {
  return JSON.stringify(bytes.toString('latin1').replaceAll(token, '<token>')).slice(0, SHOWN_BYTES);
}

async function replayOne(number: number): Promise<void> {
  show(number, target);
  const wrong = await run(scriptOf(number, target), world, number);
  await delay(100);
  verdict.say('this connection', wrong.join(', ') || 'nothing wrong', 'nothing wrong', wrong.length === 0);
  await verdict.sayInvariants(world);
}

function startFuzzWorld(): Promise<World> {
  // In memory where there is such a folder: a disk that is waited for at each write would let a tenth of the requests through.
  return startWorld({ provider, ...(existsSync('/dev/shm') && { folder: '/dev/shm' }) });
}

async function targetOf(of: World): Promise<Target> {
  const known = targets.get(of);
  if (known !== undefined) return known;
  await tidy(of);
  const response = await fetch(`${of.url}/api/blocks/fuzz-0/export`, { headers: { authorization: `Bearer ${of.token}` } });
  const bundle = Buffer.from(await response.arrayBuffer());
  const target = { port: of.port, token: of.token, bundle, routes: allRoutes() };
  targets.set(of, target);
  return target;
}

/** As the API describes itself, so that no new route is forgotten. */
function allRoutes(): Route[] {
  const { paths } = JSON.parse(readFileSync(join(import.meta.dirname, '../../spec/openapi.json'), 'utf8')) as { paths: Record<string, object> };
  return Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })));
}

/** What was made is removed and what was removed is made, so that the millionth request finds what the first one found. Throws when that fails. */
async function tidy(of: World): Promise<void> {
  await expect(of, 'DELETE', '/api/halt');
  const { blocks } = JSON.parse(await expect(of, 'GET', '/api/blocks')) as { blocks: { name: string }[] };
  const names = new Set(blocks.map(({ name }) => name));
  for (const name of names) if (!FUZZ_NAMES.includes(name)) await expect(of, 'DELETE', `/api/blocks/${name}`);
  for (const name of FUZZ_NAMES)
    if (!names.has(name)) await expect(of, 'POST', '/api/blocks', { name, config: { adapter: { provider: 'ollama', model: 'm' } } });
  const { archives } = JSON.parse(await expect(of, 'GET', '/api/archive')) as { archives: { archiveName: string }[] };
  for (const { archiveName } of archives) await expect(of, 'DELETE', `/api/archive/${encodeURIComponent(archiveName)}`);
}

/** The fuzzer works meanwhile, so a name may be taken or gone. */
async function expect(of: World, method: string, path: string, body?: unknown): Promise<string> {
  const { status, text } = await of.call(method, path, body);
  if (status !== 200 && status !== 404 && status !== 409) throw new Error(`${method} ${path} is answered with ${status}: ${text.slice(0, 300)}`);
  return text;
}
