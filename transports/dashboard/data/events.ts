// What has happened in the workspace: the newest events of the server, and who wants to hear of them.
import { signal } from '@preact/signals';
import type { Frame } from './frame.ts';
import { follow } from './socket.ts';

/** One event; or, with `missed`, a hole of so many. */
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
let seq: number | undefined;
let waiting: Happened[] = [];

/** Calls `listener` for each event until the returned function is called. */
export function onEvent(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Follows the events until the page ends. */
export function runEvents(): void {
  follow({
    begin: () => ({ type: 'subscribe', events: true, ...(seq !== undefined && { since: seq }) }),
    end: () => ({ type: 'unsubscribe', events: true }),
    take(frame) {
      if (frame.type !== 'event') return false;
      takeEvent(frame);
      return true;
    },
  });
}

function takeEvent(frame: Frame): void {
  const event = frame as unknown as Happened;
  if (typeof event.seq === 'number') seq = event.seq;
  if (waiting.length === 0) setTimeout(show, document.hidden ? 1000 : 100);
  waiting.push(typeof event.missed === 'number' ? { seq: seq ?? 0, at: new Date().toISOString(), name: 'missed', data: {}, missed: event.missed } : event);
  for (const listener of listeners) listener(event);
}

/** Several at once: a busy gateway has thousands a second. */
function show(): void {
  events.value = [...waiting.reverse(), ...events.peek()].slice(0, KEPT);
  waiting = [];
}
