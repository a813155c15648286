// Kills servers that pay, again and again, and holds the book of payments against what the conversations say. The model is in the process of the rig.
//
// With a database, two servers share each round: the first one is killed, and the other one goes on with what it had.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PostgresConversation } from '../../../core/store/postgres/conversation.ts';
import { parseStorePlace } from '../../../core/store/postgres/place.ts';
import { Database } from '../../../core/store/postgres/pool.ts';
import type { ChatEntry, RunRecord } from '../../../core/types.ts';
import { ask } from '../postgres.ts';
import { bundledNode } from './bundled-nodes.ts';
import { pay } from './calls.ts';
import { FORM_POINTS, type NodeOptions, POINTS, type Point, TASK_POINTS } from './payment-node-options.ts';
import { toolModel } from './tool-model.ts';

export interface KillOptions {
  readonly folder: string;
  readonly kills: number;
  readonly seed: number;
  readonly blocks?: number;
  readonly messages?: number;
  /** Payments are tasks, as far as they go: a call whose task is recorded is never unknown. */
  readonly withTasks?: boolean;
  /** Each payment asks a person first, in a form, who answers as soon as it is shown. No form is answered twice. */
  readonly withForms?: boolean;
  /** Makes a database for each round. Without it, each round is a folder. */
  newStore?(): Promise<string>;
}

export interface KillReport {
  readonly kills: number;
  readonly points: Readonly<Record<string, number>>;
  readonly payments: number;
  readonly effects: number;
  readonly done: number;
  readonly unknown: number;
  readonly unknownThatRan: number;
  /** Messages that were killed so often before they had got on that they were given up. */
  readonly givenUp: number;
  readonly calls: number;
  readonly bills: number;
  readonly faults: readonly string[];
}

/** What a message takes, at least. */
const MESSAGE_MS = 70;
/** The shortest one. */
const LEASE_MS = 2000;
const SERVER = join(import.meta.dirname, 'payment-server.mjs');

/** Numbers from 0 to 1 that a seed repeats. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Each message asks for three payments: one, then two side by side. */
export async function killPayments({
  folder,
  kills,
  seed,
  blocks = 3,
  messages = 2,
  withTasks = false,
  withForms = false,
  newStore,
}: KillOptions): Promise<KillReport> {
  const node = await bundledNode('payment-node');
  const random = randomFrom(seed);
  const names = Array.from({ length: blocks }, (_, index) => `b${index}`);
  const daemon = await startModel(withTasks ? 'bank__pay_later' : withForms ? 'bank__pay_asked' : 'bank__pay');
  const moments = [...POINTS, ...(withTasks ? TASK_POINTS : []), ...(withForms ? FORM_POINTS : []), 'any time', 'any time'] as const;
  const points: Record<string, number> = {};
  const faults: string[] = [];
  const rounds: Round[] = [];
  let done = 0;
  try {
    for (let round = 0; done < kills; round += 1) {
      const workspace = join(folder, `round-${round}`);
      mkdirSync(workspace);
      const store = await newStore?.();
      rounds.push({ name: `round-${round}`, store });
      const options = {
        ...(store !== undefined && { store, leaseMs: LEASE_MS }),
        workspace,
        book: join(folder, `book-${round}`),
        daemon: daemon.url,
        server: SERVER,
        blocks: names,
        answersForms: withForms,
        messages: Array.from({ length: messages }, (_, index) => `m${index}`),
      };
      let isOver = false;
      while (!isOver) {
        const isLast = done >= kills;
        const point = isLast ? undefined : pick(moments, random);
        const ended = await (store === undefined ? life(node, options, point, random) : twoLives(node, options, point, random));
        if (ended === 'failed') faults.push(`a server in round ${round} has ended by itself`);
        isOver = ended !== 'killed' || store !== undefined;
        if (ended === 'killed') {
          done += 1;
          points[point ?? 'none'] = (points[point ?? 'none'] ?? 0) + 1;
        }
      }
    }
  } finally {
    await daemon.close();
  }
  return { kills: done, points, ...(await sum({ folder, rounds, names, calls: daemon.calls(), before: faults })) };
}

function pick<T>(from: readonly T[], random: () => number): T {
  return from[Math.floor(random() * from.length)] as T;
}

/** One server from its start to its end. */
async function life(
  node: string,
  base: Omit<NodeOptions, 'times'>,
  point: Point | 'any time' | undefined,
  random: () => number,
  onStart?: (child: ChildProcess) => void,
): Promise<'over' | 'killed' | 'failed'> {
  const own = point === undefined || point === 'any time' ? {} : { point };
  const options: NodeOptions = { ...base, ...own, times: 1 + Math.floor(random() * 3) };
  const child = spawn(process.execPath, [node, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
  if (point === 'any time') killSoon(child, random() * MESSAGE_MS * base.blocks.length * base.messages.length);
  onStart?.(child);
  const said: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => said.push(line));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (signal === 'SIGKILL') return 'killed';
  return code === 0 && said.includes('over') ? 'over' : 'failed';
}

/** A server that is to be killed, and another one, which ends when all messages have their outcome. */
async function twoLives(
  node: string,
  base: Omit<NodeOptions, 'times'>,
  point: Point | 'any time' | undefined,
  random: () => number,
): Promise<'over' | 'killed' | 'failed'> {
  const workspace = `${base.workspace}-other`;
  mkdirSync(workspace);
  let other: ReturnType<typeof life> = Promise.resolve('over');
  const ended = await life(node, base, point, random, (child) => {
    const begun = new Promise<void>((resolve) => {
      child.stdout?.once('data', () => resolve());
      child.once('close', () => resolve());
    });
    other = begun.then(() => life(node, { ...base, workspace }, undefined, random));
  });
  return (await other) === 'failed' ? 'failed' : ended;
}

/** After it is ready, so that time counts which it works in. */
function killSoon(child: ChildProcess, afterMs: number): void {
  child.stdout?.once('data', () => setTimeout(() => child.kill('SIGKILL'), afterMs));
}

interface Model {
  readonly url: string;
  calls(): number;
  close(): Promise<void>;
}

/** `tool`: with which it pays. */
async function startModel(tool: string): Promise<Model> {
  let calls = 0;
  const answer = toolModel(({ results, question }) => {
    calls += 1;
    const to = question.replaceAll(/\W+/g, '-');
    if (results.length === 0) return [{ ...pay(`${to}-1`, { delayMs: 3 }), name: tool }];
    if (results.length === 1)
      return [
        { ...pay(`${to}-2`, { delayMs: 5 }), name: tool },
        { ...pay(`${to}-3`, { answerAfterMs: 5 }), name: tool },
      ];
    return `Done: ${results.length}`;
  });
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    const closed = new Promise<void>((resolve) => void res.once('close', () => resolve()));
    req.on('error', () => undefined);
    res.on('error', () => undefined);
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      if (req.url === '/api/show') res.writeHead(404).end('{"error":"no"}');
      else void answer({ method: req.method ?? '', path: req.url ?? '', headers: req.headers, body: Buffer.concat(chunks).toString(), closed }, res, 0);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => calls,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const linesOf = <T>(path: string): T[] =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as T)
    : [];

type Totals = Omit<KillReport, 'kills' | 'points'>;

interface Round {
  readonly name: string;
  readonly store: string | undefined;
}

/** What is left of a round. */
interface Left {
  readonly bills: readonly { readonly messageId: string; readonly step: number }[];
  block(name: string): Promise<{ readonly entries: readonly ChatEntry[]; records(id: string): Promise<readonly RunRecord[]> }>;
  close(): Promise<void>;
}

function leftInFolder(workspace: string): Left {
  return {
    bills: linesOf<{ messageId: string; step: number }>(join(workspace, 'ledger.jsonl')),
    block: async (name) => {
      const folder = join(workspace, 'blocks', name);
      const entries = JSON.parse(readFileSync(join(folder, 'chat.json'), 'utf8')) as ChatEntry[];
      return { entries, records: async (id) => linesOf<RunRecord>(join(folder, 'runs', `${id}.jsonl`)) };
    },
    close: async () => undefined,
  };
}

async function leftInDatabase(store: string): Promise<Left> {
  const database = await Database.open(parseStorePlace(store), { connections: 1 });
  const bills = (await ask(store, 'select message_id, step from bh.ledger')).map(({ message_id, step }) => ({
    messageId: String(message_id),
    step: Number(step),
  }));
  return {
    bills,
    block: async (name) => {
      const [row] = await ask(store, 'select id::int from bh.block where name = $1', [name]);
      const conversation = new PostgresConversation({ database, block: Number(row?.['id']), at: () => new Date().toISOString() });
      return { entries: await conversation.entries(), records: (id) => conversation.steps(id) };
    },
    close: () => database.close(),
  };
}

interface ToSum {
  readonly folder: string;
  readonly rounds: readonly Round[];
  readonly names: readonly string[];
  readonly calls: number;
  readonly before: readonly string[];
}

/** What the disk or the database says, of all rounds. */
async function sum({ folder, rounds, names, calls, before }: ToSum): Promise<Totals> {
  const faults = [...before];
  const totals = { payments: 0, effects: 0, done: 0, unknown: 0, unknownThatRan: 0, givenUp: 0, bills: 0 };
  for (const { name: round, store } of rounds) {
    const paid = new Map<string, number>();
    for (const { callId } of linesOf<{ callId: string }>(join(folder, round.replace('round', 'book')))) paid.set(callId, (paid.get(callId) ?? 0) + 1);
    const answered = linesOf<Answered>(join(folder, `${round.replace('round', 'book')}.answers`));
    for (const [callId, times] of paid) if (times > 1) faults.push(`${round}: ${callId} took effect ${times} times`);
    totals.effects += paid.size;
    const left = store === undefined ? leftInFolder(join(folder, round)) : await leftInDatabase(store);
    totals.bills += left.bills.length;
    for (const name of names) await judgeBlock(left, { round, name, paid, answered, totals, faults });
    await left.close();
  }
  if (totals.bills > calls) faults.push(`${totals.bills} bills for ${calls} calls of the model`);
  return { ...totals, calls, faults };
}

/** What a server has heard in answer to its form. */
interface Answered {
  readonly callId: string;
  readonly answers: { readonly who?: { readonly content?: { readonly name?: string } } };
}

interface Judged {
  readonly answered: readonly Answered[];
  readonly round: string;
  readonly name: string;
  readonly paid: ReadonlyMap<string, number>;
  readonly totals: { payments: number; done: number; unknown: number; unknownThatRan: number; givenUp: number };
  readonly faults: string[];
}

async function judgeBlock({ bills, block }: Left, { round, name, paid, answered, totals, faults }: Judged): Promise<void> {
  const { entries, records: recordsOf } = await block(name);
  const isFormed = answered.length > 0;
  for (const { id, status, clientId, error } of entries.filter(({ role }) => role === 'user')) {
    const place = `${round} ${name} ${clientId}`;
    const answers = entries.filter(({ replyTo }) => replyTo === id);
    // Five kills of one message before it has got on: it is given up, and what it has called is told.
    const isGivenUp = status === 'failed' && error?.code === 'CRASHED';
    if (isGivenUp) totals.givenUp += 1;
    else if (status !== 'done' || answers.length !== 1) faults.push(`${place}: it is ${status} and has ${answers.length} answers`);
    const records = await recordsOf(id);
    for (const record of records) {
      if (record.t === 'answer' && !bills.some((bill) => bill.messageId === id && bill.step === record.step))
        faults.push(`${place}: step ${record.step} has no bill`);
    }
    const steps = answers[0]?.steps ?? [];
    totals.payments += steps.length;
    if (steps.length !== 3 && !isGivenUp) faults.push(`${place}: the answer shows ${steps.length} of 3 calls`);
    for (const { call, outcome } of steps) {
      const ran = paid.has(`${name}/${id}/${call}`);
      if (outcome === 'done') totals.done += 1;
      else if (outcome === 'unknown') {
        totals.unknown += 1;
        if (ran) totals.unknownThatRan += 1;
        if (records.some((record) => record.t === 'task' && record.call === call) && !isGivenUp)
          faults.push(`${place}: call ${call} has a task in its journal, and is unknown`);
      } else if (!(isGivenUp && outcome === 'not-run')) faults.push(`${place}: call ${call} is ${outcome}`);
      if (outcome === 'done' && !ran) faults.push(`${place}: call ${call} is said to be done, and the book does not have it`);
    }
    if (isFormed) {
      for (const { call, outcome } of steps)
        for (const fault of formFaults(records, answered, `${name}/${id}`, call, outcome)) faults.push(`${place}: call ${call} ${fault}`);
    }
    for (const callId of paid.keys()) {
      if (callId.startsWith(`${name}/${id}/`) && !steps.some(({ call }) => callId.endsWith(`/${call}`)))
        faults.push(`${place}: ${callId} took effect, and nobody is told`);
    }
  }
}

/** What is wrong with the form of a call, as the rest of a sentence. */
function formFaults(records: readonly RunRecord[], answered: readonly Answered[], message: string, call: string, outcome: string): string[] {
  const of = <T extends RunRecord['t']>(t: T): Extract<RunRecord, { readonly t: T }>[] =>
    records.filter((record): record is Extract<RunRecord, { readonly t: T }> => record.t === t && 'call' in record && record.call === call);
  const [inputs, asks, calls] = [of('input'), of('ask'), of('call')];
  const ids = asks.map(({ approval }) => approval.id);
  const decisions = records.filter((record) => record.t === 'decision' && ids.includes(record.approval));
  const heard = answered.filter(({ callId }) => callId === `${message}/${call}`);
  return [
    ...(asks.length > inputs.length ? [`was shown ${asks.length} times for ${inputs.length} forms`] : []),
    ...(decisions.length > asks.length ? [`was decided ${decisions.length} times`] : []),
    ...(calls.length > 1 + decisions.length ? [`was sent ${calls.length} times, with ${decisions.length} answers`] : []),
    ...(heard.length > 1 ? [`was answered ${heard.length} times`] : []),
    ...(heard.some(({ answers }) => !ids.includes(answers.who?.content?.name ?? '')) ? ['was answered with what nobody has said'] : []),
    ...(outcome === 'done' && heard.length === 0 ? ['is done without an answer'] : []),
    ...(outcome === 'unknown' && inputs.length > 0 && calls.length < 2 ? ['has a form in its journal that was not shown again'] : []),
  ];
}
