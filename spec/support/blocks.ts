// A whole core for one test: a workspace on disk, one adapter before a fake daemon, the blocks in between. No transport.
import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Test } from 'tap';
import { createOllama } from '../../adapters/ollama/index.ts';
import { type BlockState, type Blocks, type ChatEntry, type Core, type CoreEvents, type CoreOptions, createCore } from '../../core/index.ts';
import { testFolder } from './test-folder.ts';
import { sought, until } from './until.ts';
import { type Answerer, type FakeUpstream, type RecordedRequest, sendJson, startUpstream } from './upstream.ts';

/** The part of a configuration that lets a block run before the fake daemon. */
export const RUNNABLE = { adapter: { provider: 'ollama', model: 'm' } };

/** Folders of blocks as they are made by hand: much quicker than `create` where there are many. */
export function runnable(names: readonly string[], config: object = {}): Record<string, Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, { 'config.json': JSON.stringify({ name, ...RUNNABLE, ...config }) }]));
}

export interface StartOptions extends Partial<CoreOptions> {
  /** What the daemon does with each request; by default it repeats the last message. */
  readonly answer?: Answerer;
  /** What is in the workspace before the core is made. Only without `workspace`. */
  readonly files?: Parameters<Test['testdir']>[0];
  /** False leaves `core.start()` to the test. */
  readonly start?: false;
}

export interface Fact {
  readonly type: keyof CoreEvents;
  readonly fact: Readonly<Record<string, unknown>>;
}

export interface StartedCore {
  readonly core: Core;
  /** The same as `core.blocks`. */
  readonly blocks: Blocks;
  readonly workspace: string;
  readonly upstream: FakeUpstream;
  /** What the bus has told so far. */
  readonly facts: readonly Fact[];
  factsOf(type: keyof CoreEvents): Fact['fact'][];
  /** Absolute path of a block's folder, or of something in it. */
  folder(name: string, ...inside: string[]): string;
  /** A file as it stands on disk now, `config` for config.json. */
  readText(name: string, file: string): string;
  // biome-ignore lint/suspicious/noExplicitAny: what is on disk is for the test to know
  readJson(name: string, file: string): any;
  /** As by hand: anything but a string becomes JSON. */
  write(name: string, file: string, content: unknown): void;
  /** A block that can run. */
  create(name: string, config?: object): Promise<void>;
  /** Posts a message and waits for its answer. */
  ask(name: string, message: string): Promise<ChatEntry>;
  /** Waits until the block shows this state: the bus tells of it first, and pulse.json is written after it. */
  inState(name: string, state: BlockState): Promise<void>;
  /** Waits until a fact was told that has these fields; those told before count. */
  told(type: keyof CoreEvents, fields?: Readonly<Record<string, unknown>>): Promise<Fact['fact']>;
}

/** Closes the core when the test ends. A second one on the same folder is made with `workspace`. */
export async function startCore(t: Test, { answer = repeatingDaemon, files = {}, start, ...options }: StartOptions = {}): Promise<StartedCore> {
  const upstream = await startUpstream(t, answer);
  const workspace = options.workspace ?? testFolder(t, files);
  const core = createCore({ adapters: [createOllama()], env: { OLLAMA_BASE_URL: upstream.url }, ...options, workspace });
  const facts: Fact[] = [];
  core.events.on('*', (type, fact) => {
    if (!type.startsWith('attempt.') && type !== 'store.answered') facts.push({ type, fact: fact as unknown as Fact['fact'] });
  });
  t.teardown(() => core.close());
  if (start !== false) await core.start();
  return {
    core,
    get blocks() {
      return core.blocks;
    },
    workspace,
    upstream,
    facts,
    ...disk(workspace),
    ...calls(core, facts),
  };
}

function disk(workspace: string): Pick<StartedCore, 'folder' | 'readText' | 'readJson' | 'write'> {
  const folder = (name: string, ...inside: string[]): string => join(workspace, 'blocks', name, ...inside);
  const readText = (name: string, file: string): string => readFileSync(folder(name, `${file}.json`), 'utf8');
  return {
    folder,
    readText,
    readJson: (name, file) => JSON.parse(readText(name, file)),
    write: (name, file, content) => writeFileSync(folder(name, `${file}.json`), typeof content === 'string' ? content : JSON.stringify(content)),
  };
}

function calls(core: Core, facts: readonly Fact[]): Pick<StartedCore, 'factsOf' | 'create' | 'ask' | 'told' | 'inState'> {
  const factsOf = (type: keyof CoreEvents): Fact['fact'][] => facts.filter((one) => one.type === type).map(({ fact }) => fact);
  const told = async (type: keyof CoreEvents, fields: Readonly<Record<string, unknown>> = {}): Promise<Fact['fact']> => {
    const find = (): Fact['fact'] | undefined =>
      factsOf(type).find((fact) => Object.entries(fields).every(([name, value]) => JSON.stringify(fact[name]) === JSON.stringify(value)));
    await until(`${type} ${JSON.stringify(fields)}`, () => find() !== undefined);
    return find() as Fact['fact'];
  };
  return {
    factsOf,
    told,
    inState: async (name, state) => {
      await told('block.transitioned', { block: name, to: state });
      const look = async (): Promise<true | undefined> => ((await core.blocks.details(name)).pulse.state === state ? true : undefined);
      await sought(look, () => `${name} is never shown as ${state}`, 20_000);
    },
    create: async (name, config = RUNNABLE) => void (await core.blocks.create({ name, config })),
    ask: async (name, message) => {
      const { id } = await core.blocks.post(name, { message }, 'api');
      const { answerId } = await told('message.finished', { block: name, id });
      const answer = (await core.blocks.history(name)).find((entry) => entry.id === answerId);
      if (answer === undefined) throw new Error(`${name} gave no answer to ${message}`);
      return answer;
    },
  };
}

interface WireMessage {
  readonly role: string;
  readonly content: string;
}

/** What a request to the daemon asks for. */
export function askedOf(request: RecordedRequest): { readonly model: string; readonly messages: readonly WireMessage[] } {
  return JSON.parse(request.body) as { model: string; messages: WireMessage[] };
}

/** One piece of a streamed answer. */
export function sendPiece(res: ServerResponse, content: string): void {
  if (!res.headersSent) res.writeHead(200, { 'content-type': 'application/x-ndjson' });
  res.write(`${JSON.stringify({ message: { role: 'assistant', content }, done: false })}\n`);
}

export function endAnswer(res: ServerResponse, input = 3, output = 2): void {
  if (!res.headersSent) res.writeHead(200, { 'content-type': 'application/x-ndjson' });
  res.end(
    `${JSON.stringify({ message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', prompt_eval_count: input, eval_count: output })}\n`,
  );
}

/** Lists one model, and answers a chat with "You said: " and the last message. */
export const repeatingDaemon: Answerer = (request, res) => {
  if (request.path === '/api/tags') return sendJson(res, { models: [{ name: 'm' }] });
  sendPiece(res, 'You said: ');
  sendPiece(res, askedOf(request).messages.at(-1)?.content ?? '');
  endAnswer(res);
};
