// The one WebSocket of the page, and what is followed over it.
//
// by-itself: a lost socket is opened again after 0.5, 1, 2, 4, 8, then every 15 s; at once when the page becomes visible, the network comes back, the server
// answers a request, or somebody asks.
// asks-anew: each topic says what it has seen last, so that the server sends only what was missed.
// found-dead: a ping every 20 s; a socket that leaves one unanswered for 24 s is closed, and so is one that has said nothing for 90 s, because then
// the computer or the tab has slept. Until it is open again, what is shown is marked as of its time.
import { effect, signal, untracked } from '@preact/signals';
import { now } from '../base/clock.ts';
import type { Frame } from './frame.ts';
import { ApiError, answers, post } from './http.ts';
import { signIn } from './session.ts';

/** Something that is followed. */
export interface Topic {
  /** The frame that begins it; made anew for each connection. */
  begin(): object;
  /** The frame that ends it. */
  end(): object;
  /** Takes a frame; false if it is another topic's. */
  take(frame: Frame): boolean;
}

/** How the page is connected. */
export interface Connection {
  readonly state: 'live' | 'opening' | 'lost';
  /** Epoch milliseconds of this browser. */
  readonly since: number;
  /** When the next try is made; set while it is lost. */
  readonly nextTryAt?: number;
}

const DELAYS_MS = [500, 1000, 2000, 4000, 8000, 15_000];
const PING_MS = 20_000;
const ANSWER_MS = 24_000;
/** Longer than the minute to which browsers stretch the pings of a hidden tab. */
const SLEPT_MS = 90_000;

export const connection = signal<Connection>({ state: 'opening', since: Date.now() });

const topics = new Set<Topic>();
let socket: WebSocket | undefined;
let tries = 0;
let retry: ReturnType<typeof setTimeout> | undefined;
let ping: ReturnType<typeof setInterval> | undefined;
let heardAt = 0;
/** When the ping was sent that has no answer yet. */
let askedAt: number | undefined;

/** Follows a topic until the returned function is called. */
export function follow(topic: Topic): () => void {
  topics.add(topic);
  say(topic.begin());
  return () => {
    if (topics.delete(topic)) say(topic.end());
  };
}

/** Begins a topic again, from what it has seen last. */
export function followAnew(topic: Topic): void {
  if (topics.has(topic)) say(topic.begin());
}

/** Tries at once. */
export function tryNow(): void {
  if (connection.peek().state !== 'lost') return;
  clearTimeout(retry);
  void open();
}

/** Connects for as long as somebody is signed in. */
export function runSocket(): void {
  effect(() => {
    if (signIn.value === 'in') {
      tries = 0;
      void open();
    } else close();
  });
  addEventListener('online', tryNow);
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) tryNow();
  });
  effect(() => {
    answers.value;
    untracked(tryNow);
  });
  effect(() => {
    now.value; // each second, and when the page becomes visible
    endIfDead();
  });
}

function say(frame: object): void {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
}

async function open(): Promise<void> {
  close();
  if (connection.peek().state === 'lost') connection.value = { ...connection.peek(), state: 'opening' };
  let ticket: string;
  try {
    ({ ticket } = await post<{ readonly ticket: string }>('/api/session/ticket'));
  } catch (error) {
    lost(error instanceof ApiError ? error.retryAfterMs : undefined);
    return;
  }
  const opened = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/api/ws?ticket=${encodeURIComponent(ticket)}`);
  socket = opened;
  opened.onopen = () => {
    tries = 0;
    heard();
    connection.value = { state: 'live', since: Date.now() };
    for (const topic of topics) say(topic.begin()); // asks-anew
    ping = setInterval(beat, PING_MS);
  };
  opened.onmessage = ({ data }) => {
    const frame = JSON.parse(String(data)) as Frame;
    heard();
    for (const topic of topics) if (topic.take(frame)) return;
  };
  opened.onclose = () => {
    if (socket !== opened) return;
    close();
    lost();
  };
}

function heard(): void {
  heardAt = Date.now();
  askedAt = undefined;
}

function beat(): void {
  endIfDead();
  if (socket === undefined) return;
  askedAt ??= Date.now();
  say({ type: 'ping' });
}

/** found-dead. */
function endIfDead(): void {
  const at = Date.now();
  if (connection.peek().state !== 'live') return;
  if (at - heardAt < SLEPT_MS && (askedAt === undefined || at - askedAt < ANSWER_MS)) return;
  close();
  lost(0, heardAt);
}

function close(): void {
  clearInterval(ping);
  clearTimeout(retry);
  const closing = socket;
  socket = undefined;
  closing?.close();
}

/** by-itself. */
function lost(leastMs = 0, lastAt = Date.now()): void {
  if (signIn.peek() !== 'in') return;
  const delay = DELAYS_MS[Math.min(tries, DELAYS_MS.length - 1)] ?? 15_000;
  tries += 1;
  const waitMs = Math.max(leastMs, delay * (0.9 + Math.random() * 0.2));
  const { state, since } = connection.peek();
  connection.value = { state: 'lost', since: state === 'live' ? lastAt : since, nextTryAt: Date.now() + waitMs };
  retry = setTimeout(() => void open(), waitMs);
}
