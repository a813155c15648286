// Notifications of a workspace, as the core holds them. Without a target in auth.json nothing of them is loaded, nothing listens and no timer runs.
import { LINK_PATH } from '../base/url.ts';
import { newSecret } from '../base/webhook-signature.ts';
import type { CoreBus } from '../bus.ts';
import { BlockhouseError, faultText, invalidRequest } from '../errors.ts';
import type { NoticeSender } from '../ports.ts';
import { SetNotifyTarget } from '../schemas/workspace-api.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import type { NoticeFiles } from '../store/port.ts';
import type { Approval, NotifyList, NotifySet, NotifyTest } from '../types.ts';
import type { Notifications } from './notifications.ts';
import type { AboutApproval } from './outbox.ts';
import type { Target } from './targets.ts';
import type { Ticket } from './tickets.ts';

const checkSet: Validator<SetNotifyTarget> = compile(SetNotifyTarget);

/** Where targets are kept, with their secrets. All throw or reject with ADAPTER_NOT_CONFIGURED while auth.json can't be used. */
export interface NotifyEntries {
  notifyTargets(): Readonly<Record<string, unknown>>;
  /** Undefined removes it. */
  setNotifyTarget(name: string, entry: object | undefined): Promise<void>;
}

/** What notifications ask of blocks. */
export interface NotifyWork {
  /** A call that still waits for a person; undefined for one that does not. */
  waiting(about: AboutApproval): Promise<Approval | undefined>;
}

/** What the notifications of a workspace work with. */
export interface NotifyOptions {
  readonly bus: CoreBus;
  /** Undefined for a core without auth.json. */
  readonly entries: NotifyEntries | undefined;
  /** Undefined for a core that can send nothing. */
  readonly sender: NoticeSender | undefined;
  files(): Promise<NoticeFiles>;
  /** Epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds. */
  monotonic(): number;
  /** Where this server listens; undefined before it does. */
  address(): string | undefined;
}

/** What a decision link opens, and how it is closed. */
export interface OpenLink {
  readonly ticket: Ticket;
  /** False for one that was used or has expired. */
  readonly isOpen: boolean;
  /** It opens nothing any more. */
  close(): Promise<void>;
}

/** The notifications of one workspace. */
export class Notify {
  readonly #options: NotifyOptions;
  #work: NotifyWork | undefined;
  #loading: Promise<Notifications> | undefined;
  /** Looks at auth.json, one after the other. */
  #looks: Promise<void> = Promise.resolve();
  #seen = '{}';
  #isClosed = false;

  constructor(options: NotifyOptions) {
    this.#options = options;
  }

  /** Called once, before `open`. */
  provide(work: NotifyWork): void {
    this.#work = work;
  }

  /** From now on the targets of auth.json get notices. */
  async open(): Promise<void> {
    this.#options.bus.on('credentials.changed', this.#onChanged);
    await this.#look();
  }

  /** Sends nothing any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#options.bus.off('credentials.changed', this.#onChanged);
    await this.#looks;
    const notifications = await this.#loading?.catch(() => undefined); // it was reported
    await notifications?.close();
  }

  /** The targets by name. */
  async list(): Promise<NotifyList> {
    await this.#look();
    const notifications = await this.#loading;
    const names = Object.keys(this.#entries().notifyTargets()).sort();
    return { targets: names.flatMap((name) => notifications?.view(name) ?? []) };
  }

  /** Makes a target, or replaces one. Rejects with INVALID_REQUEST. */
  async set(name: string, body: unknown): Promise<NotifySet> {
    checkSet(body);
    const entries = this.#entries();
    if (this.#options.sender === undefined) throw new BlockhouseError('WRONG_STATE', 'This core has nothing that sends notifications (the option `notices`).');
    const { assertTargetName, MAX_TARGETS, settledTarget, targetIn } = await import('./parts.ts');
    assertTargetName(name);
    const settled = settledTarget(body);
    const all = entries.notifyTargets();
    const before = Object.hasOwn(all, name) ? targetIn(all[name]) : undefined;
    if (before === undefined && Object.keys(all).length >= MAX_TARGETS) throw invalidRequest('', `There are at most ${MAX_TARGETS} targets; remove one first.`);
    const kept = typeof before === 'object' && body.newSecret !== true ? before.secret : undefined;
    const secret = kept ?? newSecret();
    await entries.setNotifyTarget(name, { ...settled, secret });
    await this.#look();
    const notifications = await this.#load();
    await notifications.turnOn(name);
    const target = notifications.view(name);
    if (target === undefined) throw new BlockhouseError('WRONG_STATE', `auth.json was changed meanwhile, and has no target ${name} any more.`);
    return { success: true, target, ...(kept === undefined && { secret }) };
  }

  /** With its secret, what waits for it, and its links. Rejects with NOTIFY_TARGET_NOT_FOUND. */
  async remove(name: string): Promise<void> {
    const entries = this.#entries();
    if (!Object.hasOwn(entries.notifyTargets(), name)) throw noTarget();
    await entries.setNotifyTarget(name, undefined);
    await this.#look();
  }

  /** Sends a notice that says nothing. Rejects with NOTIFY_TARGET_NOT_FOUND. */
  async test(name: string): Promise<NotifyTest> {
    await this.#look();
    const tested = await (await this.#loading)?.test(name);
    if (tested === undefined) throw noTarget();
    return tested;
  }

  /** What a link opens; undefined for none. */
  async link(text: string): Promise<OpenLink | undefined> {
    const notifications = await this.#loading;
    const ticket = notifications?.ticket(text);
    if (notifications === undefined || ticket === undefined) return undefined;
    return { ticket, isOpen: notifications.isOpen(ticket), close: () => notifications.use(text) };
  }

  #entries(): NotifyEntries {
    if (this.#options.entries === undefined) throw new BlockhouseError('WRONG_STATE', 'This core has no auth.json, where targets of notifications are kept.');
    return this.#options.entries;
  }

  readonly #onChanged = (): void => void this.#look();

  /** Never rejects: what can't be used is reported. */
  #look(): Promise<void> {
    this.#looks = this.#looks.then(() => this.#take()).catch(this.#onFault);
    return this.#looks;
  }

  async #take(): Promise<void> {
    const { entries, sender } = this.#options;
    if (this.#isClosed || entries === undefined || sender === undefined) return;
    const all = entries.notifyTargets();
    const seen = JSON.stringify(all);
    if (seen === this.#seen || (this.#loading === undefined && Object.keys(all).length === 0)) return;
    const [notifications, { assertTargetName, MAX_TARGETS, targetIn }] = await Promise.all([this.#load(), import('./parts.ts')]);
    const targets = new Map<string, Target>();
    for (const [name, entry] of Object.entries(all).slice(0, MAX_TARGETS)) {
      assertTargetName(name);
      const target = targetIn(entry);
      if (typeof target === 'object') targets.set(name, target);
      else this.#onFault(`The target ${name} of notifications in auth.json can't be used: ${target}`);
    }
    await notifications.set(targets, new Set(Object.keys(all)));
    this.#seen = seen;
  }

  #load(): Promise<Notifications> {
    this.#loading ??= this.#begin();
    return this.#loading;
  }

  async #begin(): Promise<Notifications> {
    const { bus, files, sender, now, monotonic, address } = this.#options;
    const { Notifications } = await import('./parts.ts');
    const work = this.#work;
    if (work === undefined || sender === undefined) throw new Error('The notifications have nobody to ask or to send them.');
    const notifications = new Notifications({
      bus,
      files: await files(),
      sender,
      linkPath: LINK_PATH,
      now,
      monotonic,
      address,
      waiting: (about) => work.waiting(about),
    });
    await notifications.open();
    return notifications;
  }

  readonly #onFault = (error: unknown): void => {
    this.#options.bus.emit('workspace.fault', { what: 'notify', error: faultText(error) });
  };
}

function noTarget(): BlockhouseError {
  return new BlockhouseError('NOTIFY_TARGET_NOT_FOUND', 'There is no target of notifications of this name. `blockhouse notify ls` lists them.');
}
