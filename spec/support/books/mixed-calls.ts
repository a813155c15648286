// Mixed calls of clients over all lanes, against a provider that keeps its own books, while the server is killed, ended and its clock moved: then each call is
// compared by its id. Needs a build; loopback and one folder only.
//
// told-is-equal: where the provider has told the usage of all its work for a call, the ledger has exactly that, also where the client has left: all keys here
//   have a cap.
// untold-is-no-less: where it could not, the ledger has at least what the provider has seen. Of an answer that ended with the server, nobody knows how much was
//   on its way; the ledger has at least the request and what reached the client.
// untold-is-not-far-more: and it has at most twice as much, apart from what is around a prompt, from the mean output of an answer of which nothing came, and from
//   the largest output of an answer that its client has left and that broke off.
// together-is-no-less: calls of the last moments before a kill may have one line together, when many came at once. What the provider has seen of all calls without a line of
//   their own is then no more than those lines say, and these say no more than twice what such calls are expected to use.
// once-each: the ledger begins a new file in the midst of it, and each call still has one line.
// caps-hold: a caller that asks one after the other passes a cap by its last call at most, and one that asks many at a time by those that ran together.
// counters-are-of-one-life: the counters of `GET /metrics` are those of the process since its start. Whenever nothing is under way, they equal the lines of the calls that it was
//   sent, cent by cent. What was under way when it was killed is in the ledger, and in no counter.
// refused-is-free: what the provider refused before any work costs nothing.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readScrape, sumOf } from '../observability/scrape.ts';
import { Random } from '../crash/random.ts';
import { ServerProcess } from '../crash/server-process.ts';
import { BookedProvider, COURSES, type Course, type Seen, WORD } from './booked-provider.ts';

/** What the run is to do. */
export interface MixedOptions {
  readonly workspace: string;
  readonly calls: number;
  readonly seed: number;
  /** Calls after which something happens to the server. */
  readonly turnEvery: number;
}

/** What was found. */
export interface MixedReport {
  readonly calls: number;
  readonly requests: number;
  readonly lines: number;
  readonly told: number;
  readonly untold: number;
  readonly kills: number;
  readonly ends: number;
  readonly jumps: number;
  /** How often the counters were compared with the ledger. */
  readonly compared: number;
  readonly faults: readonly string[];
}

interface Lane {
  readonly path: string;
  /** The largest output that its requests allow; 4096 if absent. */
  readonly largest?: number;
  body(prompt: string, stream: boolean): object;
}

const messages = (content: string) => [{ role: 'user', content }];
const LANES: Readonly<Record<string, Lane>> = {
  'own openai': { path: '/v1/chat', body: (prompt, stream) => ({ adapter: 'openai', model: 'm', messages: messages(prompt), stream }) },
  'own anthropic': { path: '/v1/chat', body: (prompt, stream) => ({ adapter: 'anthropic', model: 'm', messages: messages(prompt), stream }) },
  'own ollama': { path: '/v1/chat', body: (prompt, stream) => ({ adapter: 'ollama', model: 'm', messages: messages(prompt), stream }) },
  'own google': { path: '/v1/chat', body: (prompt, stream) => ({ adapter: 'google', model: 'm', messages: messages(prompt), stream }) },
  'own bedrock': { path: '/v1/chat', body: (prompt, stream) => ({ adapter: 'bedrock', model: 'm', messages: messages(prompt), stream }) },
  'google chat': { path: '/v1/chat/completions', largest: 128_000, body: (prompt, stream) => ({ model: 'google/m', messages: messages(prompt), stream }) },
  'bedrock messages': { path: '/v1/messages', body: (prompt, stream) => ({ model: 'bedrock/m', max_tokens: 4096, messages: messages(prompt), stream }) },
  'google embeddings': { path: '/v1/embeddings', body: (prompt) => ({ model: 'google/m', input: prompt }) },
  'bedrock embeddings': { path: '/v1/embeddings', body: (prompt) => ({ model: 'bedrock/cohere.embed-v4:0', input: prompt }) },
  'native chat': {
    path: '/v1/chat/completions',
    largest: 128_000,
    body: (prompt, stream) => ({ model: 'openai/m', messages: messages(prompt), stream, ...(stream && { stream_options: { include_usage: true } }) }),
  },
  'native responses': { path: '/v1/responses', largest: 128_000, body: (prompt, stream) => ({ model: 'openai/m', input: prompt, stream }) },
  'native messages': { path: '/v1/messages', body: (prompt, stream) => ({ model: 'anthropic/m', max_tokens: 4096, messages: messages(prompt), stream }) },
  'translated chat': {
    path: '/v1/chat/completions',
    largest: 128_000,
    body: (prompt, stream) => ({ model: 'anthropic/m', messages: messages(prompt), stream }),
  },
  'translated messages': { path: '/v1/messages', body: (prompt, stream) => ({ model: 'ollama/m', max_tokens: 4096, messages: messages(prompt), stream }) },
  'translated responses': { path: '/v1/responses', largest: 128_000, body: (prompt, stream) => ({ model: 'anthropic/m', input: prompt, stream }) },
  'translated ollama': { path: '/ollama/api/chat', largest: 128_000, body: (prompt, stream) => ({ model: 'openai/m', messages: messages(prompt), stream }) },
  embeddings: { path: '/v1/embeddings', body: (prompt) => ({ model: 'openai/m', input: prompt }) },
  'connection own': { path: '/v1/chat', body: (prompt, stream) => ({ adapter: 'gpu', model: 'm', messages: messages(prompt), stream }) },
  'connection native': { path: '/v1/chat/completions', largest: 128_000, body: (prompt, stream) => ({ model: 'gpu/m', messages: messages(prompt), stream }) },
  'keys own': { path: '/v1/chat', body: (prompt, stream) => ({ adapter: 'keys', model: 'm', messages: messages(prompt), stream }) },
  'keys native': { path: '/v1/chat/completions', largest: 128_000, body: (prompt, stream) => ({ model: 'keys/m', messages: messages(prompt), stream }) },
  'alias chat': { path: '/v1/chat/completions', largest: 128_000, body: (prompt, stream) => ({ model: 'some', messages: messages(prompt), stream }) },
  'alias messages': { path: '/v1/messages', body: (prompt, stream) => ({ model: 'some', max_tokens: 4096, messages: messages(prompt), stream }) },
  'connection embeddings': { path: '/v1/embeddings', body: (prompt) => ({ model: 'gpu/m', input: prompt }) },
};
const HAPPENINGS = ['kill', 'jump', 'rest', 'end', 'rest', 'kill', 'jump'] as const;
/** USD a million tokens. */
const PRICE = { input: 3, output: 15 };
const AT_ONCE = 12;
/** The ledger is written ten times a second. */
const WRITTEN_MS = 1500;
const DAY_MS = 86_400_000;
const LARGE_CAP = 1_000_000_000;
const SMALL_CAP = 1500;
/** Of the ledger. */
const LEDGER_FILE_BYTES = 16 * 1024 * 1024;
const BYTES_A_LINE = 300;
/** Of the run. */
const ROTATES_AFTER = 0.4;
/** Of the longest prompt, which a refused request counts until its refusal, and of its fields, names and quotes: a request that is passed on counts by its bytes. */
const AROUND_PROMPT_TOKENS = 120;
/** Of a request without a limit. */
const USUAL_LARGEST = 4096;
/** The output that is expected of a call, at least. */
const EXPECTED_TOKENS = 1000;
const LONGEST_PROMPT_TOKENS = 200;
/** A call that came longer ago has a line of its own, on a busy machine, too. */
const COVERED_MS = 2000;

/** How a call came to its end. */
type Fate = 'answered' | 'left' | 'killed' | 'ended';

interface Made {
  readonly id: string;
  readonly what: string;
  readonly lane: string;
  readonly isWhole: boolean;
  readonly largest: number;
  /** Which of the servers, one after the other, it was sent to. */
  readonly session: number;
  /** The same, but for calls that were sent while a server was being killed: these are of that one. */
  readonly server: number;
  readonly madeAt: number;
  /** True once the server has surely read all that the provider has told of it. */
  isSettled: boolean;
  fate: Fate;
  isOver: boolean;
  /** Words that have reached the client. */
  words: number;
}

interface Line {
  readonly requestId: string;
  readonly id?: string;
  readonly error: string | null;
  readonly at: string;
  readonly key: string | null;
  readonly costUsd: number | null;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly totalTokens: number } | null;
}

/** One run. Ends what it has started. */
export class MixedCalls {
  readonly #options: MixedOptions;
  readonly #provider = new BookedProvider();
  readonly #random: Random;
  readonly #made: Made[] = [];
  #server!: ServerProcess;
  #url = '';
  #key = '';
  #providerUrl = '';
  #shiftMs = 0;
  #turns = 0;
  #session = 0;
  #servers = 0;
  /** By server: when it was killed, and the tokens in the lines that it left for several calls together. */
  readonly #together = new Map<number, { readonly killedAt: number; readonly tokens: number }>();
  /** What happens to calls that are made now: the server may live on for a moment. */
  #fate: Fate = 'answered';
  readonly #counts = { kills: 0, ends: 0, jumps: 0, compared: 0 };
  readonly #wrongCounters: string[] = [];

  constructor(options: MixedOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
  }

  async run(): Promise<MixedReport> {
    this.#providerUrl = await this.#provider.listen();
    try {
      this.#fillLedger();
      this.#connect();
      await this.#start();
      this.#key = await this.#createKey('app', LARGE_CAP);
      const { calls, turnEvery } = this.#options;
      for (let from = 0; from < calls; from += turnEvery) {
        const ids = Array.from({ length: Math.min(turnEvery, calls - from) }, (_, index) => from + index);
        await this.#during(ids);
      }
      await this.#settled();
      await this.#compareCounters();
      const spent = await this.#spent();
      const passed = await this.#passCaps();
      await this.#end();
      return this.#judge(spent, passed);
    } finally {
      await this.#server?.kill();
      this.#provider.close();
    }
  }

  /** So that it is full in the midst of the run. */
  #fillLedger(): void {
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const old = { at: new Date().toISOString(), requestId: 'old', key: 'old', provider: 'openai', model: 'm'.repeat(1500), usage, costUsd: null };
    const line = `${JSON.stringify({ ...old, firstTextMs: null, durationMs: 1, error: null })}\n`;
    const room = this.#options.calls * BYTES_A_LINE * ROTATES_AFTER;
    const count = Math.floor((LEDGER_FILE_BYTES - room) / line.length);
    writeFileSync(join(this.#options.workspace, 'gateway-ledger.jsonl'), line.repeat(count), { mode: 0o600 });
  }

  /** Named connections to the same provider: one some of whose fields change on the way, and one with several keys; and an alias for models of several. */
  #connect(): void {
    const { workspace } = this.#options;
    const gpu = {
      adapter: 'openai',
      baseURL: `${this.#providerUrl}/v1`,
      quirks: { maxTokensField: 'max_tokens', drop: ['seed'] },
      models: { m: { price: PRICE } },
    };
    const keys = {
      adapter: 'openai',
      baseURL: `${this.#providerUrl}/v1`,
      keys: ['a', 'b', 'c'].map((label) => ({ label, apiKey: `key-${label}`, inFlight: 3 })),
    };
    const bedrock = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'secret', region: 'us-east-1', endpoint: this.#providerUrl };
    writeFileSync(join(workspace, 'auth.json'), JSON.stringify({ gpu, keys, bedrock }), { mode: 0o600 });
    const targets = [{ model: 'keys/m', weight: 2 }, { model: 'gpu/m', weight: 1 }, 'anthropic/m'];
    writeFileSync(join(workspace, 'models.json'), JSON.stringify({ aliases: { some: { targets } } }), { mode: 0o600 });
  }

  /** Some calls at a time; in the midst of the last ones something happens to the server. */
  async #during(ids: number[]): Promise<void> {
    const left = [...ids];
    const work = async (): Promise<void> => {
      for (let id = left.shift(); id !== undefined; id = left.shift()) await this.#call(`call-${id}`);
    };
    const workers = Array.from({ length: AT_ONCE }, work);
    while (left.length > AT_ONCE) await delay(5);
    await delay(this.#random.next() * 60);
    const happening = HAPPENINGS[this.#turns++ % HAPPENINGS.length];
    const goesDown = happening === 'kill' || happening === 'end';
    if (happening === 'kill') await this.#kill();
    else if (happening === 'end') await this.#end();
    else if (happening === 'jump') this.#jump();
    await Promise.all(workers);
    if (goesDown) await this.#start();
    else if (happening === 'rest') {
      await this.#settled();
      await this.#compareCounters();
    }
  }

  async #start(): Promise<void> {
    const { workspace } = this.#options;
    this.#server = new ServerProcess({
      workspace,
      daemonUrl: this.#providerUrl,
      nodeFlags: ['--require', join(import.meta.dirname, 'shifted-clock.cjs')],
      env: {
        CLOCK_SHIFT_FILE: this.#shiftFile,
        BLOCKHOUSE_DRAIN_MS: '150',
        OPENAI_API_KEY: 'k',
        OPENAI_BASE_URL: `${this.#providerUrl}/v1`,
        ANTHROPIC_API_KEY: 'k',
        ANTHROPIC_BASE_URL: this.#providerUrl,
        GEMINI_API_KEY: 'k',
        GOOGLE_GEMINI_BASE_URL: this.#providerUrl,
      },
    });
    const url = await this.#server.url;
    this.#servers += 1;
    this.#fate = 'answered';
    if (url === undefined) throw new Error(`the server did not start: ${this.#server.stderr}`);
    this.#url = url;
  }

  get #shiftFile(): string {
    return join(this.#options.workspace, '..', 'clock-shift');
  }

  async #kill(): Promise<void> {
    this.#counts.kills += 1;
    this.#meet('killed');
    await this.#server.kill('SIGKILL');
    this.#together.set(this.#servers, { killedAt: performance.now(), tokens: tokensTogether(join(this.#options.workspace, 'gateway-open.jsonl')) });
  }

  async #end(): Promise<void> {
    this.#counts.ends += 1;
    this.#meet('ended');
    await this.#server.kill('SIGTERM');
  }

  /** To another day and, the next time, back. */
  #jump(): void {
    this.#counts.jumps += 1;
    this.#shiftMs = this.#shiftMs === 0 ? (this.#random.next() < 0.5 ? DAY_MS : -DAY_MS) : 0;
    writeFileSync(this.#shiftFile, String(this.#shiftMs));
  }

  /** Those under way; later ones find no server. */
  #meet(fate: Fate): void {
    this.#fate = fate;
    this.#session += 1;
    for (const made of this.#made) if (!made.isOver && made.fate !== 'left') made.fate = fate;
  }

  get #token(): string {
    return readFileSync(join(this.#options.workspace, '.api-token'), 'utf8').trim();
  }

  /** What is wrong with the caps of two callers, one patient, one not. */
  async #passCaps(): Promise<string[]> {
    const faults: string[] = [];
    for (const together of [1, 40]) {
      this.#key = await this.#createKey(`together-${together}`, SMALL_CAP);
      this.#provider.mostRunning = 0;
      const ids = Array.from({ length: 60 }, (_, index) => `call-together${together}-${index}`);
      const work = async (): Promise<void> => {
        for (let id = ids.shift(); id !== undefined; id = ids.shift()) await this.#call(id, 'slow');
      };
      await Promise.all(Array.from({ length: together }, work));
      const costs = this.#provider.seen.filter(({ id }) => id.startsWith(`call-together${together}-`)).map(({ input, output }) => input + output);
      const spent = costs.reduce((sum, cost) => sum + cost, 0);
      const most = SMALL_CAP + Math.max(...costs) * this.#provider.mostRunning;
      if ((together === 1 && spent < SMALL_CAP) || spent >= most)
        faults.push(`caps-hold: ${spent} tokens of ${SMALL_CAP}, with ${this.#provider.mostRunning} calls at a time of at most ${Math.max(...costs)}`);
    }
    return faults;
  }

  async #createKey(name: string, tokensPerDay: number): Promise<string> {
    const response = await fetch(`${this.#url}/api/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name, tokensPerDay }),
    });
    return ((await response.json()) as { key: string }).key;
  }

  /** Resolves when also the calls that their clients have left have ended. */
  async #settled(): Promise<void> {
    const headers = { authorization: `Bearer ${this.#token}` };
    for (;;) {
      const { live } = (await (await fetch(`${this.#url}/api/gateway/requests`, { headers })).json()) as { live: unknown[] };
      if (live.length === 0) break;
      await delay(50);
    }
    for (const made of this.#made) made.isSettled ||= made.session === this.#session;
  }

  /** counters-are-of-one-life. */
  async #compareCounters(): Promise<void> {
    const servers = new Map(this.#made.map(({ id, server }) => [id, server]));
    const figures = (lines: readonly Line[]) => ({
      input: lines.reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0), 0),
      output: lines.reduce((sum, { usage }) => sum + (usage?.outputTokens ?? 0), 0),
      nanoUsd: Math.round(1e9 * lines.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0)),
      unpriced: lines.filter(({ usage, costUsd }) => usage !== null && costUsd === null).length,
      calls: lines.length,
    });
    const response = await fetch(`${this.#url}/metrics`, { headers: { authorization: `Bearer ${this.#token}` } });
    const scraped = readScrape(await response.text());
    const counters = {
      input: sumOf(scraped, 'blockhouse_tokens_total', { type: 'input' }),
      output: sumOf(scraped, 'blockhouse_tokens_total', { type: 'output' }),
      nanoUsd: Math.round(1e9 * sumOf(scraped, 'blockhouse_cost_usd_total')),
      unpriced: sumOf(scraped, 'blockhouse_unpriced_calls_total'),
      calls: sumOf(scraped, 'blockhouse_calls_total'),
    };
    let ledger = '';
    for (const until = performance.now() + WRITTEN_MS; performance.now() < until && ledger !== JSON.stringify(counters); await delay(50))
      ledger = JSON.stringify(figures(linesIn(this.#options.workspace).filter(({ requestId }) => servers.get(requestId) === this.#servers)));
    this.#counts.compared += 1;
    if (ledger !== JSON.stringify(counters)) this.#wrongCounters.push(`counters-are-of-one-life: ${JSON.stringify(counters)}, and the ledger ${ledger}`);
  }

  async #spent(): Promise<{ day: string; tokens: number }> {
    const response = await fetch(`${this.#url}/api/keys`, { headers: { authorization: `Bearer ${this.#token}` } });
    const { keys } = (await response.json()) as { keys: { spentToday: { tokens: number } }[] };
    return { day: new Date(Date.now() + this.#shiftMs).toISOString().slice(0, 10), tokens: keys[0]?.spentToday.tokens ?? 0 };
  }

  /** Resolves when the client has its answer, has left, or has lost the server. */
  #call(id: string, only?: Course): Promise<void> {
    const [name, { path, body, largest = USUAL_LARGEST }] = this.#random.pick(
      Object.entries(LANES).filter(([, lane]) => only === undefined || lane.path !== '/v1/embeddings'),
    );
    const course: Course = only ?? this.#random.pick(COURSES);
    const stream = this.#random.chance(0.6);
    const patienceMs = course === 'silent' || (only === undefined && this.#random.chance(0.25)) ? this.#random.below(120) : undefined;
    const made: Made = {
      id,
      what: `${name} ${course} ${stream ? 'stream' : 'whole'}`,
      lane: name,
      isWhole: !stream,
      largest,
      session: this.#session,
      server: this.#servers,
      madeAt: performance.now(),
      isSettled: false,
      fate: this.#fate,
      isOver: false,
      words: 0,
    };
    this.#made.push(made);
    const prompt = `${id} ${course} ${1 + this.#random.below(60)} ${'filling '.repeat(this.#random.below(20))}`;
    return new Promise((resolve) => {
      const sent: ClientRequest = request(`${this.#url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json', 'x-request-id': id },
      });
      const leave = (): void => {
        made.fate = 'left';
        sent.destroy();
      };
      const patience = patienceMs === undefined ? undefined : setTimeout(leave, patienceMs);
      sent.on('error', () => undefined);
      sent.on('response', (response) => {
        response.on('error', () => undefined);
        response.on('data', (bytes: Buffer) => {
          made.words += bytes.toString('latin1').split(WORD).length - 1;
        });
      });
      sent.on('close', () => {
        clearTimeout(patience);
        made.isOver = true;
        resolve();
      });
      sent.end(JSON.stringify(body(prompt, stream)));
    });
  }

  /** together-is-no-less. */
  #togetherFault(
    server: number,
    { killedAt, tokens }: { readonly killedAt: number; readonly tokens: number },
    unlisted: readonly Made[],
    bySeen: ReadonlyMap<string, readonly Seen[]>,
    byCall: ReadonlyMap<string, readonly Line[]>,
  ): string[] {
    const calls = unlisted.filter((made) => made.server === server);
    const seen = calls.flatMap(({ id }) => bySeen.get(id) ?? []).filter(({ isBilled }) => isBilled);
    const listed = calls.reduce((sum, { id }) => sum + (byCall.get(id) ?? []).reduce((tokens, { usage }) => tokens + (usage?.totalTokens ?? 0), 0), 0);
    const least = seen.reduce((sum, { input, output }) => sum + input + output, 0) - listed;
    const recent = this.#made.filter((made) => made.server === server && made.madeAt > killedAt - COVERED_MS);
    // One that was left counts what it may have had until its line is written.
    const most = recent.reduce((sum, made) => sum + 2 * (LONGEST_PROMPT_TOKENS + Math.max(EXPECTED_TOKENS, isLeft(made) ? made.largest : 0)), 0);
    if (tokens < least)
      return [`together-is-no-less: ${calls.map(({ id }) => id).join(', ')}: the provider has ${least}, and the lines for several calls ${tokens}`];
    return tokens <= most ? [] : [`together-is-no-less: the lines for several calls have ${tokens}, and ${recent.length} calls came in the last moments`];
  }

  #judge(spent: { day: string; tokens: number }, passed: readonly string[]): MixedReport {
    const lines = linesIn(this.#options.workspace);
    const faults: string[] = [...passed, ...this.#wrongCounters];
    const [byCall, bySeen] = [groupBy(lines, (line) => line.requestId), groupBy(this.#provider.seen, ({ id }) => id)];
    const counts = { told: 0, untold: 0 };
    const isListed = ({ id, lane }: Made): boolean => {
      const [own = [], seen = []] = [byCall.get(id), bySeen.get(id)?.filter(({ isBilled }) => isBilled)];
      return own.length > 0 && (!lane.startsWith('alias') || own.filter(({ usage }) => (usage?.totalTokens ?? 0) > 0).length >= seen.length);
    };
    const unlisted = this.#made.filter((made) => this.#together.has(made.server) && !isListed(made) && isBilledIn(bySeen.get(made.id)));
    faults.push(...[...this.#together].flatMap(([server, left]) => this.#togetherFault(server, left, unlisted, bySeen, byCall)));
    for (const made of this.#made) {
      if (unlisted.includes(made)) continue;
      const fault = faultOf(made, bySeen.get(made.id) ?? [], byCall.get(made.id) ?? [], counts);
      if (fault !== undefined) faults.push(`${made.id} (${made.what} ${made.fate}): ${fault}`);
    }
    const ofDay = lines.filter(({ at, key }) => key === 'app' && at.startsWith(spent.day)).reduce((sum, { usage }) => sum + (usage?.totalTokens ?? 0), 0);
    if (ofDay !== spent.tokens) faults.push(`the key has spent ${spent.tokens} on ${spent.day}, and its lines say ${ofDay}`);
    return { calls: this.#made.length, requests: this.#provider.seen.length, lines: lines.length, ...counts, ...this.#counts, faults };
  }
}

/** What the lines for several calls that a killed server has left say together. */
function tokensTogether(path: string): number {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  const tokens = new Map<string, number>();
  for (const line of lines) {
    let value: { id?: string; requestId?: string; isOver?: boolean; usage?: Line['usage'] };
    try {
      value = JSON.parse(line);
    } catch {
      continue; // cut by the kill
    }
    if (value.id === undefined || (value.requestId !== value.id && value.isOver !== true)) continue;
    tokens.set(value.id, value.isOver === true ? 0 : (value.usage?.totalTokens ?? 0));
  }
  return [...tokens.values()].reduce((sum, each) => sum + each, 0);
}

function isBilledIn(seen: readonly Seen[] | undefined): boolean {
  return seen?.some(({ isBilled }) => isBilled) === true;
}

function isLeft({ fate }: Made): boolean {
  return fate === 'left' || fate === 'ended';
}

function faultOf(made: Made, seen: readonly Seen[], lines: readonly Line[], counts: { told: number; untold: number }): string | undefined {
  const { fate, words, isWhole, isSettled } = made;
  const billed = seen.filter(({ isBilled }) => isBilled);
  const input = billed.reduce((sum, one) => sum + one.input, 0);
  const output = billed.reduce((sum, one) => sum + one.output, 0);
  const ledger = lines.reduce((sum, { usage }) => sum + (usage?.totalTokens ?? 0), 0);
  const ids = new Set(lines.map(({ id }) => id).filter((id) => id !== undefined));
  if (ids.size < lines.filter(({ id }) => id !== undefined).length) return `once-each: ${JSON.stringify(lines)}`;
  // A call that was under way when the server was killed counts what is expected of it, and one that is left and breaks off what it may have had.
  const isExpected = lines.some(({ error }) => error === 'SHUTTING_DOWN') || (fate !== 'answered' && isWhole);
  const more = isLeft(made) ? made.largest : isExpected ? EXPECTED_TOKENS : 0;
  const most = Math.max(seen.length, 1) * (AROUND_PROMPT_TOKENS + more) + 2 * (input + output);
  const what = `the provider has ${input} + ${output} (${JSON.stringify(seen)}), the ledger ${ledger} (${JSON.stringify(lines.map(({ usage }) => usage))})`;
  if (billed.length === 0 && fate === 'answered') return ledger === 0 ? undefined : `refused-is-free: ${what}`;
  const isTold = billed.length > 0 && billed.every(({ isTold }) => isTold);
  if (isTold && (fate === 'answered' || (fate === 'left' && isSettled))) {
    counts.told += 1;
    return ledger === input + output ? undefined : `told-is-equal: ${what}`;
  }
  counts.untold += 1;
  // What was on its way when the server ended reached nobody.
  const least = fate === 'ended' || (fate === 'left' && !isSettled) ? input + Math.min(words, output) : input + output;
  if (ledger < least) return `untold-is-no-less: ${words} words came, ${what}`;
  return ledger <= most ? undefined : `untold-is-not-far-more: ${what}`;
}

/** In each line that only fills the ledger. */
const FILLING = '"requestId":"old"';

function linesIn(workspace: string): Line[] {
  const files = readdirSync(workspace).filter((name) => /^gateway-ledger.*\.jsonl$/.test(name));
  return files
    .flatMap((name) => readFileSync(join(workspace, name), 'utf8').trim().split('\n'))
    .filter((line) => line !== '' && !line.includes(FILLING)) // those are very long
    .map((line) => JSON.parse(line) as Line);
}

function groupBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}
