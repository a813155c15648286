// What has happened in the workspace: the newest events of the server, and who wants to hear of them.
import { signal } from '@preact/signals';
import { isVisible } from '../base/clock.ts';
import { told } from './fleet.ts';
import type { Frame } from './frame.ts';
import { socket } from './services.ts';
import type { Topic } from './socket.ts';

/** One event; or, with `missed`, the number of events that are missing here. */
export interface Happened {
  readonly seq: number;
  /** ISO 8601. */
  readonly at: string;
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly missed?: number;
}

const KEPT = 1000;

/** The newest first. */
export const events = signal<readonly Happened[]>([]);

type Listener = (event: Happened) => void;
const listeners = new Set<Listener>();
/** Of the newest event that was sent. */
let seq: number | undefined;
/** Whether also those are wanted that happened before this page was opened. */
let isWhole = false;
let waiting: Happened[] = [];

let seen = 0;

/** Changes whenever something has happened, here or to a block of any server, and always while that is not known. */
export function turnOfEvents(): unknown {
  return socket.connection.peek().state === 'lost' ? {} : seen + told;
}

/** Calls `listener` for each event until the returned function is called. */
export function onEvent(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const topic: Topic = {
  begin: () => ({ type: 'subscribe', events: true, ...(seq !== undefined ? { since: seq } : isWhole && { since: 0 }) }),
  end: () => ({ type: 'unsubscribe', events: true }),
  take(frame) {
    if (frame.type !== 'event') return false;
    takeEvent(frame);
    return true;
  },
};

/** Follows the events until the page ends. */
export function runEvents(): void {
  socket.follow(topic);
}

/** Reads, once, also what the server has kept from before this page was opened. */
export function readEarlier(): void {
  if (isWhole) return;
  isWhole = true;
  seq = undefined;
  socket.followAnew(topic);
}

function takeEvent(frame: Frame): void {
  const said = frame as unknown as Happened;
  if (typeof said.seq === 'number') seq = said.seq;
  const event = typeof said.missed === 'number' ? { seq: seq ?? 0, at: new Date().toISOString(), name: 'missed', data: {}, missed: said.missed } : said;
  seen += 1;
  if (waiting.length === 0) setTimeout(show, isVisible.peek() ? 100 : 1000);
  waiting.push(event);
  for (const listener of listeners) listener(event);
}

/** Several at once: a busy gateway has thousands a second. An event that was read twice is shown once, and of progress, which has the number of the event before it, the newest. */
function show(): void {
  const all = new Map<string, Happened>();
  for (const event of [...waiting.reverse(), ...events.peek()]) if (!all.has(keyOf(event))) all.set(keyOf(event), event);
  events.value = [...all.values()].sort((one, other) => other.seq - one.seq).slice(0, KEPT);
  waiting = [];
}

/** The key of an event in the list. */
export function keyOf({ seq, name }: Happened): string {
  return `${seq} ${name}`;
}
