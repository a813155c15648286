// What each tool does.
//
// never-ended: a client that leaves ends its own wait. Its message stays and is answered.
// right-first: a key reads the same of a block that is there and of one that is not, unless it may reach it.
// own-words: a key reads no path, no address and no words of a provider.
// bounded-chat: a conversation is read up to so many characters of JSON, the newest messages first. The result has them twice, the second time with their escapes escaped.
import { traceparentIn } from '../../../../core/base/traceparent.ts';
import {
  type AwaitedMessage,
  BlockhouseError,
  type ChatEntry,
  compile,
  forKeys,
  mayReachBlock,
  type PostMessage,
  type Validator,
} from '../../../../core/index.ts';
import { forCaller, type RouteContext } from '../../wire/route.ts';
import { failureOf } from '../block-failure.ts';
import { inLane, inSendingLane } from '../block-lanes.ts';
import { awaited } from '../block-model.ts';
import { waitsOf } from '../block-waits.ts';
import { assertHasBlocks } from '../compatible-blocks.ts';
import { accountsOf } from '../keys.ts';
import { TOOLS, type ToolName, USUAL } from './tools.ts';

/** What a call brings: a text for models, and the same as data. */
export interface Outcome {
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

type Call = (context: RouteContext, args: unknown) => Promise<Outcome>;

const checkNone: Validator<object> = compile(TOOLS.list_blocks.inputSchema);
const checkSend: Validator<Named & PostMessage & Waiting> = compile(TOOLS.send_message.inputSchema);
const checkAnswer: Validator<Named & Waiting & { readonly messageId: string }> = compile(TOOLS.read_answer.inputSchema);
const checkChat: Validator<Named & { readonly limit?: number }> = compile(TOOLS.read_chat.inputSchema);
const checkWhy: Validator<Named> = compile(TOOLS.why.inputSchema);

interface Named {
  readonly block: string;
}
interface Waiting {
  readonly waitSeconds?: number;
}

/** By the names of the tools. Each rejects with a BlockhouseError. */
export const CALLS: Readonly<Record<ToolName, Call>> = {
  list_blocks: (context, args) => inLane(context, () => listBlocks(context, args)),
  send_message: sendMessage,
  read_answer: readAnswer,
  read_chat: (context, args) => inLane(context, () => readChat(context, args)),
  why: (context, args) => inLane(context, () => why(context, args)),
};

const MAX_BLOCKS = 500;
const PAGE_OF_BLOCKS = 1000;

async function listBlocks({ core, key }: RouteContext, args: unknown): Promise<Outcome> {
  checkNone(args);
  assertHasBlocks(core);
  const found: object[] = [];
  let cursor: string | null | undefined;
  do {
    const { entries, next } = await core.blocks.page({ limit: PAGE_OF_BLOCKS, cursor: cursor ?? undefined });
    for (const { name, config, status, state, queue } of entries)
      if (key === undefined || mayReachBlock(key, name)) found.push({ name, description: config.description ?? '', status, state, queue });
    cursor = next;
  } while (cursor !== null && found.length <= MAX_BLOCKS);
  return asData({ blocks: found.slice(0, MAX_BLOCKS), more: found.length > MAX_BLOCKS });
}

async function sendMessage(context: RouteContext, args: unknown): Promise<Outcome> {
  checkSend(args);
  const { block, message, clientId, waitSeconds = USUAL.waitSeconds } = args;
  const { core, key, req } = context;
  assertMayReach(context, block);
  const refusal = key && (await accountsOf(core).checkForBlock({ key: key.name, adapterId: 'block', model: undefined, askedAs: `block/${block}` }));
  const sent = { body: { message, ...(clientId !== undefined && { clientId }) }, key, refusal, traceparent: traceparentIn(req.headers) };
  return waiting(context, block, waitSeconds, async () => (await inSendingLane(context, () => core.blocks.postFromAgent(block, sent))).id);
}

async function readAnswer(context: RouteContext, args: unknown): Promise<Outcome> {
  checkAnswer(args);
  const { block, messageId, waitSeconds = USUAL.waitSeconds } = args;
  assertMayReach(context, block);
  const found = await awaited(context, block, messageId, { waitMs: 0 }).catch((error: unknown) => rethrowTo(context, error));
  return found.note === null || waitSeconds === 0 ? outcomeOf(context, block, found) : waiting(context, block, waitSeconds, async () => messageId);
}

/** A wait has its place before anything is sent, so that nothing is sent by a call that is refused. */
async function waiting(context: RouteContext, block: string, waitSeconds: number, idOf: () => Promise<string>): Promise<Outcome> {
  const leave = waitSeconds === 0 ? undefined : waitsOf(context.core).enter(block, context.key);
  try {
    return outcomeOf(context, block, await awaited(context, block, await idOf(), { waitMs: waitSeconds * 1000 })); // never-ended
  } catch (error) {
    return rethrowTo(context, error);
  } finally {
    leave?.();
  }
}

function outcomeOf({ key }: RouteContext, block: string, found: AwaitedMessage): Outcome {
  const { entry, note } = found;
  const answer = entry.role === 'assistant' ? entry : found.answer;
  const messageId = entry.id;
  if (note !== null) {
    const said = key === undefined ? note : 'There is no answer yet.'; // own-words
    return {
      text: `${said} The message is ${entry.status}. Call read_answer with the block ${block} and the messageId ${messageId}.`,
      data: { status: entry.status, messageId, note: said },
    };
  }
  if (answer?.status === 'done') return { text: answer.content, data: { status: 'done', messageId, answer: answer.content } };
  const { message } = forCaller(failureOf(found, block), key);
  const status = entry.status === 'done' ? 'interrupted' : entry.status;
  return { text: message, data: { status, messageId, note: message }, isError: true };
}

const MAX_CHARACTERS = 20_000;
/** bounded-chat. */
const MAX_CHAT_CHARACTERS = 300_000;

async function readChat(context: RouteContext, args: unknown): Promise<Outcome> {
  checkChat(args);
  const { block, limit = USUAL.limit } = args;
  assertMayReach(context, block);
  const entries = await context.core.blocks.history(block, { limit }).catch((error: unknown) => rethrowTo(context, error));
  const shown: object[] = [];
  let room = MAX_CHAT_CHARACTERS;
  for (const entry of [...entries].reverse()) {
    const one = shownEntry(entry);
    room -= JSON.stringify(one).length;
    if (room < 0 && shown.length > 0) break; // bounded-chat
    shown.unshift(one);
  }
  return asData({ messages: shown, ...(shown.length < entries.length && { cut: entries.length - shown.length }) });
}

function shownEntry({ id, role, content, timestamp, status, replyTo }: ChatEntry): object {
  const text = content.length <= MAX_CHARACTERS ? content : `${content.slice(0, MAX_CHARACTERS)}… (${content.length - MAX_CHARACTERS} more characters)`;
  return { id, role, text, at: timestamp, status, ...(replyTo !== undefined && { replyTo }) };
}

async function why(context: RouteContext, args: unknown): Promise<Outcome> {
  checkWhy(args);
  const { block } = args;
  const { core, key } = context;
  assertMayReach(context, block);
  try {
    const { status, why, next } = await core.blocks.explain(block);
    if (key === undefined) return asData({ name: block, status, why, next });
    const blocked = await core.blocks.whyBlocked(block); // own-words
    return asData({ name: block, status, why: blocked === undefined ? `The block ${block} answers messages.` : forKeys(blocked).message });
  } catch (error) {
    return rethrowTo(context, error);
  }
}

function asData(data: Readonly<Record<string, unknown>>): Outcome {
  return { text: JSON.stringify(data), data };
}

/** right-first. Throws KEY_FORBIDDEN, and BLOCK_NOT_RUNNING for a server without blocks. */
function assertMayReach({ core, key }: RouteContext, block: string): void {
  if (key !== undefined && !mayReachBlock(key, block))
    throw new BlockhouseError('KEY_FORBIDDEN', `The key ${key.name} may not reach the block ${JSON.stringify(block)}. list_blocks says which it may.`);
  assertHasBlocks(core);
}

/** own-words: of the files of a block, and of blocks with a similar name, a key learns nothing. */
function rethrowTo({ key }: RouteContext, error: unknown): never {
  if (key === undefined || !(error instanceof BlockhouseError)) throw error;
  if (error.code === 'BLOCK_NOT_FOUND') throw new BlockhouseError('BLOCK_NOT_FOUND', 'There is no such block.', { cause: error });
  if (error.code === 'BLOCK_DAMAGED') throw new BlockhouseError('BLOCK_NOT_RUNNING', 'The block does not answer now. Try again later.', { cause: error });
  throw error;
}
