// Makes the parts of the page, and lets them run.
import { effect, untracked } from '@preact/signals';
import type { ChatReceipt } from '../../../core/types.ts';
import { isVisible, now, timers } from '../base/clock.ts';
import { runApprovals } from '../data/approvals.ts';
import { Drafts } from '../data/drafts.ts';
import { onEvent, runEvents } from '../data/events.ts';
import { readFleet, runFleet } from '../data/fleet.ts';
import { readHalt } from '../data/halt.ts';
import { answers, call, post } from '../data/http.ts';
import type { Means } from '../data/open-block.ts';
import { Outbox } from '../data/outbox.ts';
import { blockURL } from '../data/paths.ts';
import { runRunning } from '../data/running.ts';
import { hasBlocks } from '../data/server.ts';
import { provide, type Services } from '../data/services.ts';
import { Session } from '../data/session.ts';
import { Socket } from '../data/socket.ts';
import { runNotifications } from './notifications.ts';

/** Makes the parts with what the browser has. */
export function compose(): Services {
  const session = new Session(localStorage, (path, init) => fetch(path, init));
  const socket = new Socket(
    {
      ticket: async () => (await post<{ readonly ticket: string }>('/api/session/ticket')).ticket,
      open: (ticket) => new WebSocket(`${location.origin.replace(/^http/, 'ws')}/api/ws?ticket=${encodeURIComponent(ticket)}`),
    },
    timers,
  );
  const drafts = new Drafts(localStorage, tabId(), timers.now);
  const outbox = new Outbox(drafts, (block, { clientId, text }) => post<ChatReceipt>(blockURL(block, '/chat'), { message: text, clientId }), timers);
  const means: Means = {
    socket,
    outbox,
    isVisible,
    timers,
    read: (path, etag) => call('GET', path, etag === undefined ? {} : { headers: { 'if-none-match': etag } }),
    onFrame(run) {
      const frame = requestAnimationFrame(run);
      return () => cancelAnimationFrame(frame);
    },
  };
  const services = { session, socket, drafts, outbox, means };
  provide(services);
  return services;
}

/** Lets the parts run for as long as the page lives. */
export function run({ session, socket, outbox }: Services): void {
  addEventListener('storage', ({ key }) => session.changed(key));
  addEventListener('online', () => socket.tryNow());
  runEvents();
  effect(() => (session.signIn.value === 'in' ? socket.connect() : socket.disconnect()));
  effect(() => {
    answers.value;
    untracked(() => socket.tryNow());
  });
  effect(() => {
    if (isVisible.value) untracked(() => socket.tryNow());
  });
  effect(() => {
    now.value; // each second, and when the page becomes visible
    socket.endIfDead();
  });
  if (hasBlocks) runBlocks({ session, socket, outbox });
}

/** What is about blocks. */
function runBlocks({ session, socket, outbox }: Pick<Services, 'session' | 'socket' | 'outbox'>): void {
  runFleet();
  runNotifications();
  runApprovals();
  runRunning();
  effect(() => {
    if (socket.connection.value.state === 'live') untracked(() => outbox.online());
  });
  onEvent(({ name }) => {
    if (name === 'workspace.halted') void readHalt();
  });
  effect(() => {
    // Each time anew: the socket begins where it ended, these two begin with a reading.
    if (session.signIn.value === 'in' && socket.connection.value.state === 'live') void readHalt().catch(() => undefined);
  });
  effect(() => {
    // The list needs no socket; with one, the answer to the subscription says that it is to be read.
    if (session.signIn.value === 'in' && socket.isSettled.value && socket.connection.peek().state !== 'live') void readFleet().catch(() => undefined);
  });
}

/** The same after a reload, another in each tab. */
function tabId(): string {
  const at = 'blockhouse.tab';
  const known = sessionStorage.getItem(at);
  if (known !== null) return known;
  const id = crypto.randomUUID();
  sessionStorage.setItem(at, id);
  return id;
}
