// People at work on a server that may be killed at any time: each goes on until the connection breaks, and notes what was acknowledged.
import { setTimeout as delay } from 'node:timers/promises';
import type { EchoDaemon } from './echo-daemon.ts';
import { type Acknowledged, type BlockPromises, FIELDS, type Field, type Place, Promised, Traveller } from './promises.ts';
import type { Random } from './random.ts';
import type { Reply, ServerClient } from './server-client.ts';

const LONGEST_PAUSE_MS = 25;
/** So many messages of a block wait at most, so that a run ends soon. */
const MAX_WAITING = 12;

/** Those that are gone for good are looked for a while. */
const MAX_TRAVELLERS = 3;
/** Of the second block: so small that its memory is compacted again and again. */
const SMALL_WINDOW = { maxContextTokens: 300, thresholdPercent: 50, keepMessages: 2 };
const DRAIN_LIMIT_MS = 120_000;

/** One life of the server. */
export interface Session {
  readonly client: ServerClient;
  readonly daemon: EchoDaemon;
  readonly promised: Acknowledged;
  readonly random: Random;
  /** Of all that is made up: a name is never used twice. */
  readonly serial: () => number;
  /** Answers that should not be. */
  readonly faults: string[];
  /** Told of each 2xx. */
  readonly onAcknowledged: () => void;
  /** True once it is about to be killed, or told to end. */
  isOver: boolean;
}

/** Makes all blocks and starts their monitors. */
export async function makeBlocks(session: Session): Promise<void> {
  for (const [index, block] of session.promised.blocks.entries()) {
    // Each end of a server may cost an attempt; more ends at one message than this are no accident.
    const config = { adapter: { provider: 'ollama', model: 'm' }, retry: { maxAttempts: 100 }, ...(index === 1 && { memory: SMALL_WINDOW }) };
    const reply = await session.client.call('POST', '/api/blocks', { name: block.name, config });
    if (reply?.status !== 200) session.faults.push(`${block.name} was not created: ${JSON.stringify(reply)}`);
    await turn(session, block, true);
  }
}

/** Resolves when the server is gone. */
export async function work(session: Session): Promise<void> {
  const { promised } = session;
  await Promise.all([
    ...promised.blocks.map((block) => repeat(session, (random) => post(session, block, random))),
    ...FIELDS.map((field) => repeat(session, (random) => configure(session, field, random))),
    repeat(session, (random) => startOrStop(session, random)),
    repeat(session, (random) => addOrRemoveFact(session, random)),
    repeat(session, (random) => move(session, random)),
  ]);
}

/** A step is false when the connection broke. */
async function repeat(session: Session, step: (random: Random) => Promise<boolean>): Promise<void> {
  const random = session.random.fork();
  while (!session.isOver) {
    if (!(await step(random))) return;
    await delay(random.below(LONGEST_PAUSE_MS));
  }
}

/** Undefined when it is not known what came of it. */
async function ask(session: Session, kind: string, method: string, path: string, body?: unknown): Promise<Reply | undefined> {
  const reply = await session.client.call(method, path, body);
  if (reply === undefined) return undefined;
  if (reply.status === 200) {
    session.promised.counts[kind] = (session.promised.counts[kind] ?? 0) + 1;
    session.onAcknowledged();
    return reply;
  }
  // A server that was told to end says so.
  if (!(session.isOver && reply.status === 503)) session.faults.push(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.json)}`);
  return undefined;
}

/** Sends again what was not acknowledged, as any client would; the id that it carries makes that harmless. */
export async function post(session: Session, block: BlockPromises, random?: Random): Promise<boolean> {
  let message = block.messages.find(({ id }) => id === undefined);
  if (message === undefined) {
    if (random === undefined) return false;
    const waiting = block.messages.filter(({ text }) => !session.daemon.answered.has(text)).length;
    if (waiting >= MAX_WAITING) return true;
    const serial = session.serial();
    message = { text: `msg ${block.name}/${serial}`, clientId: `client-${serial}`, id: undefined };
    block.messages.push(message);
  }
  const reply = await ask(session, 'message', 'POST', `/api/blocks/${block.name}/chat`, { message: message.text, clientId: message.clientId });
  if (reply !== undefined) message.id = reply.json['id'] as string;
  return reply !== undefined;
}

async function configure(session: Session, field: Field, random: Random): Promise<boolean> {
  const block = random.pick(session.promised.blocks);
  const value = `${field} ${session.serial()}`;
  const promise = block.fields[field];
  promise.ask(value);
  const patch = field === 'tag' ? { tags: [value] } : { [field]: value };
  const reply = await ask(session, 'config', 'PUT', `/api/blocks/${block.name}/config`, patch);
  if (reply !== undefined) promise.acknowledge(value);
  return reply !== undefined;
}

async function startOrStop(session: Session, random: Random): Promise<boolean> {
  const block = random.pick(session.promised.blocks);
  return turn(session, block, !block.enabled.value || random.chance(0.5));
}

export async function turn(session: Session, block: BlockPromises, on: boolean): Promise<boolean> {
  block.enabled.ask(on);
  const reply = await ask(session, 'switch', 'POST', `/api/blocks/${block.name}/${on ? 'start' : 'stop'}`);
  if (reply !== undefined) block.enabled.acknowledge(on);
  return reply !== undefined;
}

async function addOrRemoveFact(session: Session, random: Random): Promise<boolean> {
  const block = random.pick(session.promised.blocks);
  const there = [...block.facts].filter(([, fact]) => fact.value).map(([text]) => text);
  const path = `/api/blocks/${block.name}/memory/facts`;
  if (there.length < 5 || random.chance(0.4)) {
    const text = `fact ${session.serial()}`;
    const promise = new Promised<boolean>(false);
    block.facts.set(text, promise);
    promise.ask(true);
    const reply = await ask(session, 'fact', 'POST', path, { text });
    if (reply !== undefined) promise.acknowledge(true);
    return reply !== undefined;
  }
  const text = random.pick(there);
  const details = await session.client.call('GET', `/api/blocks/${block.name}`);
  if (details?.status !== 200) return false;
  const { facts } = details.json['memory'] as { facts: { id: string; text: string }[] };
  const id = facts.find((fact) => fact.text === text)?.id;
  if (id === undefined) {
    session.faults.push(`${block.name}: ${text} is not shown`);
    return false;
  }
  const promise = block.facts.get(text);
  promise?.ask(false);
  const reply = await ask(session, 'fact', 'DELETE', `${path}/${id}`);
  if (reply !== undefined) promise?.acknowledge(false);
  return reply !== undefined;
}

const STEPS: Readonly<Record<Place, readonly Place[]>> = { nowhere: ['blocks'], blocks: ['archive'], archive: ['blocks', 'nowhere'] };

/** Makes a block, archives it, restores it, purges it. */
async function move(session: Session, random: Random): Promise<boolean> {
  const { travellers } = session.promised;
  let traveller = travellers.at(-1);
  if (traveller === undefined || traveller.place.value === 'nowhere') {
    travellers.splice(0, travellers.length - MAX_TRAVELLERS);
    traveller = new Traveller(`trip-${session.serial()}`);
    travellers.push(traveller);
  }
  const { name, place } = traveller;
  const to = random.pick(STEPS[place.value]);
  const from = place.value;
  place.ask(to);
  const [method, path, body] = requestOf(name, from, to);
  const reply = await ask(session, 'move', method, path, body);
  if (reply !== undefined) place.acknowledge(to);
  return reply !== undefined;
}

function requestOf(name: string, from: Place, to: Place): [method: string, path: string, body?: unknown] {
  if (from === 'nowhere') return ['POST', '/api/blocks', { name, config: { description: name } }];
  if (to === 'archive') return ['DELETE', `/api/blocks/${name}`];
  return to === 'blocks' ? ['POST', `/api/archive/${name}/restore`] : ['DELETE', `/api/archive/${name}`];
}

/** Sends what was not acknowledged, starts all monitors, and waits until they have nothing left to do. */
export async function drain(session: Session): Promise<void> {
  for (const block of session.promised.blocks) {
    while (block.messages.some(({ id }) => id === undefined)) if (!(await post(session, block))) return;
    if (!(await turn(session, block, true))) return;
  }
  const deadline = performance.now() + DRAIN_LIMIT_MS;
  for (const { name } of session.promised.blocks) {
    while (await isWaiting(session.client, name)) {
      const stuck = await whyStuck(session.client, name, performance.now() > deadline);
      if (stuck !== undefined) {
        session.faults.push(stuck);
        return;
      }
      await delay(20);
    }
  }
}

async function isWaiting(client: ServerClient, name: string): Promise<boolean> {
  const reply = await client.call('GET', `/api/blocks/${name}/chat`);
  const messages = (reply?.json['messages'] ?? []) as { status: string }[];
  return reply?.status !== 200 || messages.some(({ status }) => status === 'queued' || status === 'processing');
}

/** A monitor that waits for a person, or takes too long; undefined while it works. */
async function whyStuck(client: ServerClient, name: string, isLate: boolean): Promise<string | undefined> {
  const why = (await client.call('GET', `/api/blocks/${name}/why`))?.json;
  if (!isLate && why?.['state'] !== 'failed' && why?.['state'] !== 'paused') return undefined;
  return `${name} has messages without an outcome: ${JSON.stringify(why)}`;
}
