// `npx tsx bench/faults/sigterm.ts [--times 50]`: servers that are told to end while they work. Needs a build; loopback only.
//
// called-is-answered: a call that has reached the provider was accepted by the server and must get an answer, which may be an error.
// one-end: a stream that has begun ends with exactly one done or error frame.
// acknowledged-is-durable: an acknowledged message is on disk.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Random } from '../../spec/support/crash/random.ts';
import { percentile } from '../harness/stats.ts';
import { print, Verdict, wholeNumber } from './verdict.ts';
import { type Asked, chat, friendly, startWorld, type World } from './world.ts';

const SIDE_BY_SIDE = 2;
const STREAMS = 8;
const WHOLE = 4;
const PROMISED_MS = 5000;
const BLOCKS = ['sig-0', 'sig-1', 'sig-2'];
/** Of a provider that works: some streams are done within the time of grace, some are not. */
const LONGEST_STREAM_MS = 6000;

const { values } = parseArgs({ options: { times: { type: 'string' }, seed: { type: 'string' } } });
const times = wholeNumber('times', values.times ?? '50', 10_000);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : wholeNumber('seed', values.seed, 2 ** 31);

interface Tally {
  readonly endMs: number[];
  readonly wrongEnds: string[];
  done: number;
  error: number;
  whole: number;
  refused: number;
  messages: number;
  readonly faults: string[];
}

const tally: Tally = { endMs: [], wrongEnds: [], done: 0, error: 0, whole: 0, refused: 0, messages: 0, faults: [] };
async function main(): Promise<void> {
  print(`seed ${seed}: ${times} servers, ${SIDE_BY_SIDE} side by side`);
  let started = 0;
  await Promise.all(
    Array.from({ length: SIDE_BY_SIDE }, async () => {
      while (started < times) {
        started += 1;
        await oneLife(new Random(seed + started), started);
      }
    }),
  );
  const verdict = new Verdict();
  const good = times - tally.wrongEnds.length;
  verdict.say('ends with 0 within 5 s', `${good} of ${times}`, `${times} of ${times}`, good === times);
  for (const end of tally.wrongEnds.slice(0, 10)) print(`        ${end}`);
  verdict.tell('time to the end', `median ${percentile(tally.endMs, 0.5).toFixed(0)} ms, worst ${percentile(tally.endMs, 1).toFixed(0)} ms`);
  verdict.say(
    'streams, whole answers, messages',
    tally.faults.length === 0 ? 'no fault' : `${tally.faults.length} faults`,
    'no fault',
    tally.faults.length === 0,
  );
  for (const fault of tally.faults.slice(0, 10)) print(`        ${fault}`);
  verdict.tell('streams', `${tally.done} ended by done, ${tally.error} by an error frame`);
  verdict.tell('whole answers', `${tally.whole}, and ${tally.refused} calls refused`);
  verdict.tell('messages acknowledged', `${tally.messages}`);
  verdict.end();
}

async function oneLife(random: Random, life: number): Promise<void> {
  /** Calls that the provider has seen, by the name of their model. */
  const arrived = new Set<string>();
  const world = await startWorld({ provider: (asked, res) => answer(asked, res, arrived, random), prepare: addBlocks });
  try {
    for (const name of BLOCKS) await world.call('POST', `/api/blocks/${name}/start`);
    const load = new Load(world, random, `life ${life}`, arrived);
    const working = load.run();
    await delay(100 + random.below(1500));
    const from = performance.now();
    world.child.kill('SIGTERM');
    const limit = setTimeout(() => world.child.kill('SIGKILL'), 4 * PROMISED_MS);
    const code = await world.ended;
    clearTimeout(limit);
    const ms = performance.now() - from;
    tally.endMs.push(ms);
    if (code !== 0 || ms > PROMISED_MS) tally.wrongEnds.push(`life ${life} ended with ${code} after ${ms.toFixed(0)} ms: ${world.output.slice(-300)}`);
    load.stop();
    await working;
    load.lookForMessages();
    if (world.canaries.found.length > 0) tally.faults.push(`life ${life}: ${world.canaries.found[0]}`);
  } finally {
    await world.close();
  }
}

function addBlocks(workspace: string): void {
  for (const name of BLOCKS) {
    const folder = join(workspace, 'blocks', name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ name, adapter: { provider: 'ollama', model: 'm' }, queue: { cap: 10_000 } }));
  }
}

/** A piece now and then, until it is done; a few streams never are. */
async function answer(asked: Asked, res: ServerResponse, arrived: Set<string>, random: Random): Promise<void> {
  const id = /call-\d+/.exec(asked.path + asked.body)?.[0];
  if (id !== undefined) arrived.add(id);
  if (id === undefined || !asked.stream) {
    await delay(id === undefined ? 0 : random.below(1000));
    return await friendly(asked, res);
  }
  const { framing } = asked;
  const endsAt = random.chance(0.1) ? Number.POSITIVE_INFINITY : performance.now() + random.below(LONGEST_STREAM_MS);
  res.writeHead(200, { 'content-type': framing.streamType });
  res.write(framing.opening('m'));
  while (!res.destroyed && performance.now() < endsAt) {
    res.write(framing.piece('m', 'and then '));
    await delay(10 + random.below(60));
  }
  if (!res.destroyed) res.end(framing.ending('m'));
}

class Load {
  readonly #world: World;
  readonly #random: Random;
  readonly #title: string;
  readonly #arrived: ReadonlySet<string>;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #acknowledged: { readonly block: string; readonly id: string }[] = [];
  #serial = 0;
  #isOver = false;

  constructor(world: World, random: Random, title: string, arrived: ReadonlySet<string>) {
    this.#world = world;
    this.#random = random;
    this.#title = title;
    this.#arrived = arrived;
  }

  async run(): Promise<void> {
    const repeat = async (one: () => Promise<void>): Promise<void> => {
      while (!this.#isOver && !this.#world.hasEnded) await one();
    };
    await Promise.all([
      ...Array.from({ length: STREAMS }, () => repeat(() => this.#stream())),
      ...Array.from({ length: WHOLE }, () => repeat(() => this.#whole())),
      ...BLOCKS.map((block) => repeat(() => this.#post(block))),
    ]);
  }

  stop(): void {
    this.#isOver = true;
    this.#agent.destroy();
  }

  /** acknowledged-is-durable. */
  lookForMessages(): void {
    for (const block of BLOCKS) {
      const onDisk = chatOf(join(this.#world.workspace, 'blocks', block));
      for (const { id } of this.#acknowledged.filter((one) => one.block === block))
        if (!onDisk.includes(`"${id}"`)) this.#fault(`${block} has lost the message ${id}`);
    }
    tally.messages += this.#acknowledged.length;
  }

  async #stream(): Promise<void> {
    const { id, status, text } = await this.#call(true);
    if (status === 200) {
      const ends = text.match(/^event: (done|error)$/gm) ?? [];
      if (ends.length !== 1 || !/event: (done|error)\ndata: [^\n]*\n\n$/.test(text))
        this.#fault(`${id} ended in ${JSON.stringify(text.slice(-200))}`); // one-end
      else if (ends[0] === 'event: done') tally.done += 1;
      else tally.error += 1;
    } else await this.#refused(id, status, text);
  }

  async #whole(): Promise<void> {
    const { id, status, text } = await this.#call(false);
    if (status !== 200) return await this.#refused(id, status, text);
    if (!text.includes('"stopReason"')) this.#fault(`${id} was answered with ${JSON.stringify(text.slice(-200))}`);
    tally.whole += 1;
  }

  async #refused(id: string, status: number, text: string): Promise<void> {
    tally.refused += 1;
    if (status === 0 && this.#arrived.has(id))
      this.#fault(`${id} was begun and got no answer`); // called-is-answered
    else if (status !== 0 && status !== 503 && status !== 502) this.#fault(`${id} was refused with ${status}: ${text.slice(0, 200)}`);
    await delay(20); // the server is ending, and further requests would only repeat this result
  }

  async #post(block: string): Promise<void> {
    const { status, text } = await this.#send(`/api/blocks/${block}/chat`, { message: `message ${this.#serial}` });
    if (status === 200) this.#acknowledged.push({ block, id: (JSON.parse(text) as { id: string }).id });
    await delay(5 + this.#random.below(30));
  }

  async #call(stream: boolean): Promise<{ readonly id: string; readonly status: number; readonly text: string }> {
    this.#serial += 1;
    const id = `call-${this.#serial}`;
    const adapter = this.#random.pick(['ollama', 'openai', 'anthropic', 'google', 'bedrock']);
    return { id, ...(await this.#send('/v1/chat', chat({ adapter, model: id, stream }))) };
  }

  /** Status 0 when no answer began; the text is as much of it as came. */
  #send(path: string, body: object): Promise<{ readonly status: number; readonly text: string }> {
    const bytes = JSON.stringify(body);
    return new Promise((resolve) => {
      const sent = request(this.#world.url + path, {
        method: 'POST',
        agent: this.#agent,
        headers: { authorization: `Bearer ${this.#world.token}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) },
      });
      sent.on('error', () => resolve({ status: 0, text: '' }));
      sent.on('response', (response: IncomingMessage) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => {
          text += piece;
        });
        response.on('error', () => undefined); // cut off: its end is looked at
        response.once('close', () => {
          this.#world.canaries.hear(path, Buffer.from(text));
          this.#world.canaries.forget(path);
          resolve({ status: response.statusCode ?? 0, text });
        });
      });
      sent.end(bytes);
    });
  }

  #fault(what: string): void {
    tally.faults.push(`${this.#title}: ${what}`);
  }
}

/** All that a block holds of its conversation. */
function chatOf(folder: string): string {
  const archive = join(folder, 'chat-archive');
  const old = existsSync(archive) ? readdirSync(archive).map((name) => join(archive, name)) : [];
  return [join(folder, 'chat.json'), ...old].map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : '')).join('\n');
}

await main(); // below the class that it needs
