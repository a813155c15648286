// What servers tell each other by LISTEN and NOTIFY.
//
// only-hints: a notice may be lost, come twice, late or in another order. Nothing is true because of one, and a look behind each finds the same within a second.
// collected: what a server tells is sent after its commit, together with all of the next 20 ms, on a connection of its own. Nothing waits for it, and what can't be sent is dropped.
// shown-later: what only those need who show a block is told ten times a second at most, so that the messages of a busy server share a notice.
// followed: the steps of a reply come from the server that writes it, to those that follow the block. Their numbers count from the time at which that server got the
//   block, so whoever has it later has greater ones, and what an earlier owner still says is left out.
// unguessed: every user of a database may listen to each channel, and speak on it. So the names of ours are made of a secret that only those know who may read the schema.
// not-worn-out: a hint that others repeat is handed on ten times a second at most (joined-hints.ts).
// gaps: after a connection that broke, and after a flood of which a part was left out (intake.ts), whoever shows something reads it again.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { RunFact } from '../../run-fact.ts';
import type { StorePlace } from '../place.ts';
import type { Database } from '../pool.ts';
import { CHANNELS, FOLLOWED, NOTIFY } from '../sql/signals.ts';
import { Intake } from './intake.ts';
import { JoinedHints } from './joined-hints.ts';
import { Listener } from './listener.ts';
import { type Item, noticeOf, payloadsOf, type Step } from './notices.ts';
import { type Join, RemoteFollowers } from './remote-followers.ts';
import { ReplyMirror } from './reply-mirror.ts';

/** Something may have changed. `gone`: there is no such block any more. */
export type Hint =
  | { readonly what: 'work' | 'wish' | 'released' | 'gone'; readonly block: number }
  | { readonly what: 'document'; readonly block: number; readonly kind: string }
  | { readonly what: 'setting'; readonly block: undefined }
  /** In a run of another server. */
  | { readonly what: 'run'; readonly block: undefined; readonly fact: RunFact }
  /** A block has come or gone, or has another name. */
  | { readonly what: 'moved'; readonly block: undefined; readonly name: string };

/** What a server tells. */
export type Told =
  | { readonly what: 'work' | 'wish' | 'released'; readonly block: number }
  | { readonly what: 'document'; readonly block: number; readonly kind: string }
  | { readonly what: 'setting' }
  | { readonly what: 'run'; readonly fact: RunFact }
  | { readonly what: 'moved'; readonly name: string };

/** What signals work with. */
export interface SignalsOptions {
  readonly database: Database;
  /** A connection of its own. collected. */
  readonly telling: Database;
  /** Where to listen. */
  readonly direct: StorePlace;
  /** The id of this server's membership. */
  readonly node: string;
  /** Notices don't arrive: probably there is a pooler in transaction mode between. Called once. */
  onSilent?(): void;
  readonly lookMs?: number;
  readonly testMs?: number;
}

const COLLECTED_MS = 20;
/** shown-later. */
const SHOWN_EVERY_MS = 100;
const LOOK_MS = 1000;
const FOLLOW_AGAIN_MS = 10_000;
const TEST_MS = 3000;

interface Followed {
  readonly mirror: ReplyMirror;
  watches: number;
  /** The server that has said the last step. */
  writer: string | undefined;
  steppedAt: number;
  /** Undefined before the first look. */
  owner: string | null | undefined;
  version: string | undefined;
  documents: string | null | undefined;
  askedAt: number;
}

interface Row {
  readonly block: number;
  readonly owner: string | null;
  readonly version: string;
  readonly documents: string | null;
}

/** The signals of one server. */
export class PostgresSignals {
  readonly #options: SignalsOptions;
  /** unguessed. */
  readonly #secret: string;
  readonly #listener: Listener;
  readonly #intake: Intake;
  readonly #heard = new JoinedHints<Hint>((hint) => this.#hint(hint));
  readonly #listeners = new Set<(hint: Hint) => void>();
  readonly #own = new Set<(hint: { readonly what: 'work' | 'wish' | 'released'; readonly block: number }) => void>();
  readonly #gapListeners = new Set<() => void>();
  readonly #blocks = new Map<number, Followed>();
  readonly #followers: RemoteFollowers;
  /** The blocks that this server has. */
  readonly #ours = new Set<number>();
  readonly #tests = new Map<string, () => void>();
  /** By channel. collected. */
  readonly #waiting = new Map<string, Item[]>();
  readonly #looking: NodeJS.Timeout;
  #node: string;
  #timer: NodeJS.Timeout | undefined;
  /** When what waits is sent, and what was last, in monotonic milliseconds. */
  #due = Number.POSITIVE_INFINITY;
  #sentAt = Number.NEGATIVE_INFINITY;
  #sending: Promise<void> | undefined;
  #isClosed = false;
  #lookTurn: Promise<void> | undefined;

  private constructor(options: SignalsOptions, secret: string) {
    this.#options = options;
    this.#secret = secret;
    this.#node = options.node;
    this.#intake = new Intake({ take: (payload) => this.#take(payload), onLost: () => this.#gap() });
    this.#listener = new Listener({
      place: options.direct,
      channels: () => [this.#channel(), this.#channel(this.#node)],
      onNotice: (payload) => this.#intake.hear(payload),
      onGap: () => this.#gap(),
    });
    this.#followers = new RemoteFollowers((node, items) => this.#send(this.#channel(node), items));
    this.#looking = setInterval(() => void this.#look().catch(() => undefined), options.lookMs ?? LOOK_MS); // only-hints: the next look is a second away
    this.#looking.unref();
  }

  /** Rejects with STORE_UNREACHABLE, or the error of the driver, when the database can't be reached. */
  static async open(options: SignalsOptions): Promise<PostgresSignals> {
    const [row] = await options.database.query<{ value: string }>(CHANNELS, [randomBytes(32).toString('base64url')]);
    if (row === undefined) throw new Error('the channels have no name');
    const signals = new PostgresSignals(options, row.value);
    try {
      await signals.#listener.open();
    } catch (error) {
      clearInterval(signals.#looking);
      throw error;
    }
    void signals.hears().then((isHeard) => {
      if (!isHeard && !signals.#isClosed) options.onSilent?.();
    });
    return signals;
  }

  /** What the workspace is called where its name has no meaning: the same for all its servers, and nobody finds a channel by it. */
  get workspace(): string {
    return createHash('sha256').update(`workspace ${this.#secret}`).digest('hex').slice(0, 16);
  }

  /** This server has joined again. */
  rejoined(node: string): void {
    this.#node = node;
    this.#listener.reconnect();
  }

  /** The database has restarted: what is shown is read again. */
  restarted(): void {
    this.#gap();
  }

  /** After a commit: others may have to look. collected. */
  tell(told: Told): void {
    const { what } = told;
    if (what === 'setting') this.#send(this.#channel(), [{ is: 'setting' }]);
    else if (what === 'moved') this.#send(this.#channel(), [{ is: 'moved', name: told.name }]);
    else if (what === 'run') this.#send(this.#channel(), [{ is: 'run', fact: told.fact }], true);
    else if (what === 'document') this.#send(this.#channel(), [{ is: 'document', block: told.block, kind: told.kind }], told.kind !== 'config');
    else {
      const isOurs = what === 'work' && this.#ours.has(told.block); // nobody else has anything to do
      this.#send(this.#channel(), [{ is: what, block: told.block }], isOurs);
      for (const listener of [...this.#own]) listener({ what, block: told.block });
    }
  }

  /** What is to be done and what is wished, as this server and all others tell it. Returns a function that ends it. */
  onWork(listener: (hint: { readonly what: 'work' | 'wish' | 'released'; readonly block: number }) => void): () => void {
    const end = this.on((hint) => {
      if (hint.what === 'work' || hint.what === 'wish' || hint.what === 'released') listener({ what: hint.what, block: hint.block });
    });
    this.#own.add(listener);
    return () => {
      end();
      this.#own.delete(listener);
    };
  }

  /** Looks at a block each second, until the returned function is called. */
  watch(block: number): () => void {
    const followed = this.#followed(block);
    followed.watches += 1;
    return () => {
      followed.watches -= 1;
      this.#drop(block, followed);
    };
  }

  /** Of all blocks, what others tell; of those that are followed, also what a look finds. Returns a function that ends it. */
  on(listener: (hint: Hint) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Called after a gap. Returns a function that ends it. */
  onGap(listener: () => void): () => void {
    this.#gapListeners.add(listener);
    return () => this.#gapListeners.delete(listener);
  }

  /** The steps of a block's replies after `since` that another server makes. Returns a function that ends it. */
  follow(block: number, onStep: (step: Step) => void, since = 0): () => void {
    const followed = this.#followed(block);
    const leave = followed.mirror.join(onStep, since);
    if (followed.owner === undefined) void this.#look().catch(() => undefined); // the next look is a second away
    return () => {
      leave();
      this.#drop(block, followed);
    };
  }

  /** This server has the block: `join` is called for each reader elsewhere. Returns a function that ends it. */
  publish(block: number, join: Join): () => void {
    const end = this.#followers.publish(block, join);
    this.#ours.add(block);
    return () => {
      this.#ours.delete(block);
      end();
    };
  }

  /** Whether notices arrive: one to itself comes back in time. */
  async hears(): Promise<boolean> {
    const id = randomUUID();
    const arrived = new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), this.#options.testMs ?? TEST_MS).unref();
      this.#tests.set(id, () => {
        clearTimeout(timer);
        resolve(true);
      });
    });
    this.#send(this.#channel(this.#node), [{ is: 'test', id }]);
    const isHeard = await arrived;
    this.#tests.delete(id);
    return isHeard;
  }

  /** Sends what waits. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#looking);
    clearTimeout(this.#timer);
    this.#intake.close();
    this.#heard.close();
    this.#followers.close();
    await this.#flush();
    await this.#listener.close();
  }

  /** Of this workspace, or of one server. unguessed. */
  #channel(node = ''): string {
    return `bh_${createHash('sha256').update(`${this.#secret} ${node}`).digest('hex').slice(0, 40)}`;
  }

  #followed(block: number): Followed {
    const followed = this.#blocks.get(block) ?? {
      mirror: new ReplyMirror(),
      watches: 0,
      writer: undefined,
      steppedAt: 0,
      owner: undefined,
      version: undefined,
      documents: undefined,
      askedAt: Number.NEGATIVE_INFINITY,
    };
    this.#blocks.set(block, followed);
    return followed;
  }

  #drop(block: number, followed: Followed): void {
    if (followed.mirror.readers === 0 && followed.watches === 0 && this.#blocks.get(block) === followed) this.#blocks.delete(block);
  }

  #send(channel: string, items: readonly Item[], isOnlyShown = false): void {
    if (this.#isClosed) return;
    const waiting = this.#waiting.get(channel) ?? [];
    waiting.push(...items);
    this.#waiting.set(channel, waiting);
    const now = performance.now();
    const due = Math.max(now + COLLECTED_MS, isOnlyShown ? this.#sentAt + SHOWN_EVERY_MS : 0);
    if (due >= this.#due) return;
    this.#due = due;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#flush(), due - now).unref();
  }

  /** One after the other, so that a slow database collects more and does not queue. */
  async #flush(): Promise<void> {
    this.#due = Number.POSITIVE_INFINITY;
    this.#sentAt = performance.now();
    await this.#sending;
    const all = [...this.#waiting].flatMap(([channel, items]) => payloadsOf(this.#node, items).map((payload) => [channel, payload] as const));
    this.#waiting.clear();
    if (all.length === 0) return;
    this.#sending = this.#options.telling.query(NOTIFY, [all.map(([channel]) => channel), all.map(([, payload]) => payload)]).then(
      () => undefined,
      () => undefined, // only-hints
    );
    await this.#sending;
  }

  #take(payload: string): void {
    const notice = noticeOf(payload);
    if (notice === undefined) return;
    for (const item of notice.items) {
      if (item.is === 'test') this.#tests.get(item.id)?.();
      else if (notice.from !== this.#node) this.#takeItem(notice.from, item);
    }
  }

  #takeItem(from: string, item: Item): void {
    if (item.is === 'setting') this.#heard.hear({ what: 'setting', block: undefined });
    else if (item.is === 'moved') this.#heard.hear({ what: 'moved', block: undefined, name: item.name });
    else if (item.is === 'run') this.#hint({ what: 'run', block: undefined, fact: item.fact });
    else if (item.is === 'document') this.#heard.hear({ what: 'document', block: item.block, kind: item.kind });
    else if (item.is === 'work' || item.is === 'wish' || item.is === 'released') this.#heard.hear({ what: item.is, block: item.block });
    else if (item.is === 'follow') this.#followers.follow(from, item.block, item.since);
    else if (item.is === 'step') this.#takeStep(from, item.block, item.step);
  }

  #takeStep(from: string, block: number, step: Step): void {
    const followed = this.#blocks.get(block);
    if (followed === undefined || step.seq <= followed.mirror.seq) return; // followed
    if (followed.mirror.take(step)) Object.assign(followed, { writer: from, steppedAt: performance.now() });
    else this.#ask(block, followed, from);
  }

  /** Follows the block at its owner. Where it has none, all are asked: one of them will have it. */
  #ask(block: number, followed: Followed, owner: string | null): void {
    followed.askedAt = performance.now();
    this.#send(owner === null ? this.#channel() : this.#channel(owner), [{ is: 'follow', block, since: followed.mirror.seq }]);
  }

  /** A look behind the notices. Looks that are asked for meanwhile share the next one. */
  #look(): Promise<void> {
    this.#lookTurn ??= this.#lookNow().finally(() => {
      this.#lookTurn = undefined;
    });
    return this.#lookTurn;
  }

  async #lookNow(): Promise<void> {
    await Promise.resolve(); // blocks that are followed in the same turn
    this.#followers.forget();
    const blocks = [...this.#blocks];
    if (blocks.length === 0) return;
    const at = performance.now();
    const rows = await this.#options.database.query<Row>(FOLLOWED, [blocks.map(([block]) => block)]);
    const found = new Map(rows.map((row) => [row.block, row]));
    for (const [block, followed] of blocks) {
      const row = found.get(block);
      if (row === undefined) this.#hint({ what: 'gone', block });
      else this.#compare(followed, row, at);
    }
  }

  /** `at`: the row is as it was then, or later. */
  #compare(followed: Followed, { block, owner, version, documents }: Row, at: number): void {
    const before = { ...followed };
    Object.assign(followed, { owner, version, documents });
    if (before.version !== undefined && before.version !== version) this.#hint({ what: 'document', block, kind: 'chat' });
    for (const kind of before.documents === undefined ? [] : changedKinds(before.documents, documents)) this.#hint({ what: 'document', block, kind });
    if (followed.writer !== owner && followed.steppedAt < at) followed.mirror.break();
    if (followed.mirror.readers > 0 && owner !== this.#node && (before.owner !== owner || at - followed.askedAt > FOLLOW_AGAIN_MS))
      this.#ask(block, followed, owner);
  }

  #hint(hint: Hint): void {
    for (const listener of [...this.#listeners]) listener(hint);
  }

  /** gaps. */
  #gap(): void {
    for (const [block, followed] of this.#blocks)
      if (followed.mirror.readers > 0 && followed.owner !== undefined && followed.owner !== this.#node) this.#ask(block, followed, followed.owner);
    void this.#look().catch(() => undefined); // the next look is a second away
    for (const listener of [...this.#gapListeners]) listener();
  }
}

/** Of two lists such as `config3,costs7`, the kinds whose revisions differ. Another one is not read again: the wait of a retry ends where the configuration changes. */
function changedKinds(before: string | null, after: string | null): readonly string[] {
  const [old, now] = [before, after].map((list) => new Set(list?.split(',') ?? []));
  const differing = [...(old ?? [])].filter((item) => now?.has(item) === false).concat([...(now ?? [])].filter((item) => old?.has(item) === false));
  return [...new Set(differing.map((item) => item.replace(/\d+$/, '')))];
}
