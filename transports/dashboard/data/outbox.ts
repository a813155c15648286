// Messages on their way to the server. Each keeps its clientId until its receipt, so that sending it again is harmless.
//
// in-order: the messages of a block are sent one after the other.
// by-itself: what the server did not get is sent again when it answers; what it has no room for, when it says that it has.
import { effect, type Signal, signal } from '@preact/signals';
import type { ChatReceipt } from '../../../core/types.ts';
import { blockURL } from './blocks.ts';
import { Drafts, type Sending } from './drafts.ts';
import { ApiError, post } from './http.ts';
import { connection } from './socket.ts';

/** A message that the server does not have yet. */
export interface Outgoing extends Sending {
  readonly block: string;
  /** `offline`: sent when the server is back. `full`: sent at `nextAt`. `refused`: not sent again by itself. `sent`: the server has it, its entry is not read yet. */
  readonly state: 'sending' | 'offline' | 'full' | 'refused' | 'sent';
  readonly nextAt?: number;
  readonly error?: ApiError;
}

const FULL_MS = 5000;
const AGAIN_MS = 3000;

export const outbox: Signal<readonly Outgoing[]> = signal([]);
export const drafts = new Drafts(localStorage, tabId(), Date.now);

const busy = new Set<string>();

/** Sends a message. */
export function send(block: string, text: string): void {
  const message = { clientId: crypto.randomUUID(), text };
  drafts.send(block, message);
  outbox.value = [...outbox.peek(), { ...message, block, state: 'sending' }];
  void work(block);
}

/** Takes back what an earlier load of this tab had on its way. */
export function resume(block: string): void {
  const known = new Set(outbox.peek().map(({ clientId }) => clientId));
  const left = drafts.read(block).sending.filter(({ clientId }) => !known.has(clientId));
  if (left.length === 0) return;
  outbox.value = [...outbox.peek(), ...left.map((message) => ({ ...message, block, state: 'sending' as const }))];
  void work(block);
}

/** Sends a message again that was refused. */
export function sendAgain({ clientId, block }: Outgoing): void {
  change(clientId, { state: 'sending' });
  void work(block);
}

/** Takes a message out: the server has it, or somebody took it back. */
export function drop(block: string, clientId: string): void {
  drafts.received(block, clientId);
  outbox.value = outbox.peek().filter((message) => message.clientId !== clientId);
}

/** in-order. */
async function work(block: string): Promise<void> {
  if (busy.has(block)) return;
  busy.add(block);
  try {
    for (let next = nextOf(block); next !== undefined; next = nextOf(block)) if (!(await sendOne(next))) break;
  } finally {
    busy.delete(block);
  }
}

function nextOf(block: string): Outgoing | undefined {
  return outbox.peek().find((message) => message.block === block && message.state === 'sending');
}

/** False if the next ones wait, too. */
async function sendOne({ block, clientId, text }: Outgoing): Promise<boolean> {
  try {
    await post<ChatReceipt>(blockURL(block, '/chat'), { message: text, clientId });
    drafts.received(block, clientId);
    change(clientId, { state: 'sent' });
    return true;
  } catch (error) {
    const failure = error instanceof ApiError ? error : new ApiError(String(error), { status: 0, code: 'NO_ANSWER' });
    const { status, code, retryAfterMs } = failure;
    if (code === 'QUEUE_FULL' || status === 429) return later(block, clientId, 'full', failure, retryAfterMs ?? FULL_MS);
    if (status === 0 || status === 401 || status >= 500) return later(block, clientId, 'offline', failure, retryAfterMs ?? AGAIN_MS);
    change(clientId, { state: 'refused', error: failure });
    return true;
  }
}

/** by-itself. */
function later(block: string, clientId: string, state: 'full' | 'offline', error: ApiError, ms: number): false {
  change(clientId, { state, error, nextAt: Date.now() + ms });
  if (state === 'full' || (error.status !== 0 && error.status !== 401)) setTimeout(() => again(block, clientId), ms);
  return false;
}

function again(block: string, clientId: string): void {
  const message = outbox.peek().find((each) => each.clientId === clientId);
  if (message === undefined || message.state === 'sent') return;
  change(clientId, { state: 'sending' });
  void work(block);
}

function change(clientId: string, changes: Partial<Outgoing>): void {
  outbox.value = outbox.peek().map((message) => (message.clientId === clientId ? { ...message, ...changes } : message));
}

effect(() => {
  if (connection.value.state !== 'live') return;
  for (const { block, clientId, state } of outbox.peek()) if (state === 'offline') again(block, clientId);
});

/** The same after a reload, another in each tab. */
function tabId(): string {
  const at = 'blockhouse.tab';
  const known = sessionStorage.getItem(at);
  if (known !== null) return known;
  const id = crypto.randomUUID();
  sessionStorage.setItem(at, id);
  return id;
}
