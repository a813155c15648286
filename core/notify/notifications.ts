// The targets of a workspace, what they hear of, and what their links open. Loaded with the first target.
//
// signed-out: each try has a signature of Standard Webhooks, of its own time, and the id of its notice.
// own-facts: the bus of a server tells what happens to the blocks that it has, so of several servers exactly one makes a notice.
import { signWebhook, keyOf } from '../base/webhook-signature.ts';
import type { CoreBus, CoreEvents } from '../bus.ts';
import { BlockhouseError, faultText, toBlockhouseError } from '../errors.ts';
import type { NoticeSender } from '../ports.ts';
import type { NoticeFiles } from '../store/port.ts';
import type { Approval, NotifyTarget, NotifyTest } from '../types.ts';
import { askedNotice, bodyOf, capNotice, finishedNotice, isWanted, type Notice, type NoticeBody, summaryBody, testBody } from './notices.ts';
import { type AboutApproval, Outbox } from './outbox.ts';
import { checkedURL, shownTarget, type Target } from './targets.ts';
import { type Ticket, Tickets } from './tickets.ts';

/** The longest time between two looks: a clock that was set, or a machine that slept, must not hold up a notice for long. */
const LONGEST_WAIT_MS = 60_000;
const TEST_ID = 'msg_test';

/** What notifications work with. */
export interface NotificationsOptions {
  readonly bus: CoreBus;
  readonly files: NoticeFiles;
  readonly sender: NoticeSender;
  /** What stands before the ticket of a link. */
  readonly linkPath: string;
  /** Epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds. */
  monotonic(): number;
  /** Where this server listens; undefined before it does. */
  address(): string | undefined;
  /** A call that still waits for a person; undefined for one that does not. */
  waiting(about: AboutApproval): Promise<Approval | undefined>;
}

/** Notifications at work. */
export class Notifications {
  readonly #options: NotificationsOptions;
  readonly #targets = new Map<string, { target: Target; readonly outbox: Outbox }>();
  readonly #tickets: Tickets;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: NotificationsOptions) {
    this.#options = options;
    this.#tickets = new Tickets(options.files, () => options.now(), this.#onFault);
    const { bus } = options;
    bus.on('approval.requested', this.#onRequested);
    bus.on('approval.decided', this.#onDecided);
    bus.on('message.finished', this.#onFinished);
    bus.on('block.transitioned', this.#onTransitioned);
  }

  /** Reads the links of earlier processes. */
  open(): Promise<void> {
    return this.#tickets.open();
  }

  /** These are the targets from now on. What waits for others is gone, and so are their links; one of `named` that can't be used now stays as it was. */
  async set(targets: ReadonlyMap<string, Target>, named: ReadonlySet<string>): Promise<void> {
    for (const [name, { outbox }] of [...this.#targets]) {
      if (named.has(name)) continue;
      this.#targets.delete(name);
      await outbox.erase();
      await this.#tickets.forgetTarget(name);
    }
    for (const [name, target] of targets) {
      const known = this.#targets.get(name);
      if (known !== undefined) known.target = target;
      else await this.#add(name, target);
    }
    this.#plan();
  }

  async #add(name: string, target: Target): Promise<void> {
    const { files, now, monotonic, waiting, bus } = this.#options;
    const outbox = new Outbox({
      target: name,
      files,
      now,
      monotonic,
      deliver: (id, body) => this.#deliver(name, id, body),
      summary: (counts) => summaryBody(counts, this.#telling(this.#targets.get(name)?.target)),
      isWaiting: async (about) => (await waiting(about)) !== undefined,
      onFailed: (status, isFinal) => bus.emit('notify.failed', { target: name, status, isFinal }),
      onFault: this.#onFault,
      onPlanned: () => this.#plan(),
    });
    await outbox.open();
    this.#targets.set(name, { target, outbox });
  }

  /** How a target does; undefined for one that is not there. */
  view(name: string): NotifyTarget | undefined {
    const found = this.#targets.get(name);
    if (found === undefined) return undefined;
    const { off, pending, dropped, last } = found.outbox.state;
    return { ...shownTarget(name, found.target), state: off ? 'off' : 'on', pending, dropped, last };
  }

  /** It is set again, so it may have notices again. */
  async turnOn(name: string): Promise<void> {
    await this.#targets.get(name)?.outbox.turnOn();
  }

  /** Sends one notice now, whatever the state of the target, and changes nothing. */
  async test(name: string): Promise<NotifyTest | undefined> {
    const found = this.#targets.get(name);
    if (found === undefined) return undefined;
    const startedAt = this.#options.monotonic();
    const outcome = await this.#send(found.target, `${TEST_ID}${this.#options.now().toString(36)}`, testBody(this.#telling(found.target))).then(
      (status) => ({ status, problem: null }),
      (error: unknown) => ({ status: null, problem: problemOf(error) }),
    );
    const { status } = outcome;
    const ms = Math.round((this.#options.monotonic() - startedAt) * 10) / 10;
    return { delivered: status !== null && status >= 200 && status < 300, ...outcome, ms };
  }

  /** What a link opens; undefined for none. */
  ticket(text: string): Ticket | undefined {
    return this.#tickets.find(text);
  }

  isOpen(ticket: Ticket): boolean {
    return this.#tickets.isOpen(ticket);
  }

  /** A link opens nothing any more. */
  use(text: string): Promise<void> {
    return this.#tickets.use(text);
  }

  /** Sends nothing more. What was under way is sent again after the next start, under its id. */
  async close(): Promise<void> {
    const { bus } = this.#options;
    bus.off('approval.requested', this.#onRequested);
    bus.off('approval.decided', this.#onDecided);
    bus.off('message.finished', this.#onFinished);
    bus.off('block.transitioned', this.#onTransitioned);
    clearTimeout(this.#timer);
    const closed = [...this.#targets.values()].map(({ outbox }) => outbox.close());
    this.#closing.abort();
    await Promise.all(closed);
  }

  readonly #onRequested = (fact: CoreEvents['approval.requested']): void => this.#tell(askedNotice(fact));
  readonly #onFinished = (fact: CoreEvents['message.finished']): void => this.#tell(finishedNotice(fact));
  readonly #onTransitioned = (fact: CoreEvents['block.transitioned']): void => this.#tell(capNotice(fact));
  readonly #onDecided = ({ approval }: CoreEvents['approval.decided']): void => {
    for (const { outbox } of this.#targets.values()) outbox.forget(approval).catch(this.#onFault);
  };

  readonly #onFault = (error: unknown): void => {
    this.#options.bus.emit('workspace.fault', { what: 'notify', error: faultText(error) });
  };

  /** own-facts. */
  #tell(notice: Notice | undefined): void {
    if (notice === undefined) return;
    const at = new Date(this.#options.now()).toISOString();
    for (const [name, { target, outbox }] of this.#targets) {
      if (!isWanted(target, notice)) continue;
      outbox.take(notice, async () => {
        const { block, messageId, approval } = notice;
        const telling = { ...this.#telling(target), at };
        if (approval === undefined || messageId === undefined) return { body: bodyOf(notice, telling), about: undefined };
        const about = { block, messageId, id: approval.id };
        return { body: bodyOf(notice, { ...telling, decide: await this.#linkFor(name, target, about) }), about };
      });
    }
  }

  /** Undefined where there is to be none. A ticket that the disk does not take leaves the notice without a link. */
  async #linkFor(name: string, { links, publicURL }: Target, about: AboutApproval): Promise<string | undefined> {
    if (!links || publicURL === null) return undefined;
    const approval = await this.#options.waiting(about);
    if (approval?.kind !== 'call') return undefined;
    const ticket = await this.#tickets.make(approval, name).catch(this.#onFault);
    return ticket === undefined ? undefined : `${publicURL}${this.#options.linkPath}${ticket}`;
  }

  #telling(target: Target | undefined): { readonly at: string; readonly base: string | undefined } {
    return { at: new Date(this.#options.now()).toISOString(), base: target?.publicURL ?? this.#options.address() };
  }

  async #deliver(name: string, id: string, body: NoticeBody): Promise<number | null> {
    const target = this.#targets.get(name)?.target;
    if (target === undefined) return null;
    return this.#send(target, id, body).catch((error: unknown) => {
      if (!(error instanceof BlockhouseError)) this.#onFault(error);
      return null;
    });
  }

  /** signed-out. */
  async #send({ url, secret }: Target, id: string, body: NoticeBody): Promise<number> {
    const bytes = Buffer.from(JSON.stringify(body));
    const key = keyOf(secret) ?? Buffer.alloc(0); // targets.ts lets no other in
    const timestamp = Math.floor(this.#options.now() / 1000);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'blockhouse',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signWebhook(key, id, timestamp, bytes),
    };
    return this.#options.sender.send(checkedURL(url), headers, bytes, this.#closing.signal);
  }

  /** One timer for all targets; none while nothing waits. */
  #plan(): void {
    clearTimeout(this.#timer);
    if (this.#closing.signal.aborted) return;
    const now = this.#options.monotonic();
    let next = Number.POSITIVE_INFINITY;
    for (const { outbox } of this.#targets.values()) next = Math.min(next, outbox.dueAt ?? next);
    if (next === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(this.#look, Math.min(Math.max(0, next - now), LONGEST_WAIT_MS)).unref();
  }

  readonly #look = (): void => {
    const now = this.#options.monotonic();
    for (const { outbox } of this.#targets.values()) if ((outbox.dueAt ?? Number.POSITIVE_INFINITY) <= now) void outbox.send();
    this.#plan();
  };
}

/** In words of ours. */
function problemOf(error: unknown): string {
  const { code } = toBlockhouseError(error);
  if (code === 'UPSTREAM_TIMEOUT') return 'It has not answered in time.';
  if (code === 'INVALID_REQUEST') return 'Its name leads to a link-local, metadata or unroutable address, which is never called.';
  return code === 'CANCELLED' ? 'The server is shutting down.' : 'No connection, or no HTTP answer.';
}
