// Reports what a block's actor says of itself (actor/pulse-of.ts): each step on the bus and in the log, and the whole in pulse.json.
//
// one-order: steps are written in their order, and steps that come together share one write. Writing never delays or fails the monitor: the bus
//   reports a fault.
// quiet-beat: a heartbeat triggers no callbacks, and writes nothing if only the time has changed.
// actor-wins: what is shown and written is always the word of the actor, whatever the file says: it may be old, or removed, reset or edited.

import PQueue from 'p-queue';
import type { BlockPulse } from '../schemas/block-pulse.ts';
import type { BlockDocuments } from '../store/port.ts';
import type { LogStore } from '../store/store.ts';
import type { Cause } from './actor/types.ts';
import type { WorkspaceContext } from './reply/block-context.ts';
import type { ReplyStream } from './reply/reply-stream.ts';
import { type ActorPulse, currentPulse, type PulseFacts, type Step } from './status/pulse.ts';

/** What the writer needs from its block. */
export interface PulseWriterOptions {
  readonly name: string;
  /** What the actor says at first, which is not written. */
  readonly actor: ActorPulse;
  readonly files: BlockDocuments;
  readonly log: LogStore;
  readonly feed: Pick<ReplyStream, 'characters'>;
  readonly world: WorkspaceContext;
  /** Called when the shown pulse changes, because the list is then out of date. */
  onShown(): void;
  /** Called when a step is shown that could not be written. */
  onUnwritten(): void;
  onFault(what: string, error: unknown): void;
}

/** The most unwritten steps that are kept. */
const KEPT_STEPS = 50;
/** Steps within this time share one write, because most replies and stops take several steps at once. */
const WRITE_DELAY_MS = 25;
/** The interval of writes in which only the time has changed. */
const REFRESH_MS = 600_000;

/** Reports what one block does. */
export class PulseWriter {
  readonly #options: PulseWriterOptions;
  readonly #writes = new PQueue({ concurrency: 1 });
  #actor: ActorPulse;
  /** The last step that was written, and those that are not yet. */
  #steps: readonly Step[] = [];
  #lastWritten: Step | undefined;
  /** The time of the last step or heartbeat, ISO 8601. */
  #lastPulse: string | null = null;
  #timer: NodeJS.Timeout | undefined;
  #endBeat: (() => void) | undefined;

  constructor(options: PulseWriterOptions) {
    this.#options = options;
    this.#actor = options.actor;
  }

  /** Another actor begins; what the one before has said is not written any more. */
  begin(actor: ActorPulse): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#actor = actor;
    this.#steps = [];
    this.#lastWritten = undefined;
  }

  /** Takes what the actor says after an event. `by` is who or what has caused it. */
  see(actor: ActorPulse, by: Cause): void {
    const before = this.#actor;
    if (JSON.stringify(actor) === JSON.stringify(before)) return;
    this.#actor = actor;
    this.#lastPulse = new Date(this.#options.world.now()).toISOString();
    if (actor.state !== before.state) this.#tell(before, by);
    this.#timer ??= setTimeout(() => this.#drain(), WRITE_DELAY_MS);
    this.#options.onShown();
  }

  /** actor-wins. */
  present(written: BlockPulse, facts: Pick<PulseFacts, 'queue' | 'enabled'> = {}): BlockPulse {
    const { world, feed } = this.#options;
    const { characters } = feed;
    return currentPulse(written, this.#actor, { now: world.now(), lastPulse: this.#lastPulse, steps: this.#steps, characters, ...facts });
  }

  /** Resolves when everything so far is written. */
  written(): Promise<void> {
    this.#drain();
    return this.#writes.onIdle();
  }

  beatEvery(ms: number): void {
    this.endBeat();
    this.#endBeat = this.#options.world.heartbeats.every(ms, () => {
      this.#drain();
      this.#enqueue(() => this.#beat());
    });
  }

  endBeat(): void {
    this.#endBeat?.();
    this.#endBeat = undefined;
  }

  #tell({ state: from }: ActorPulse, { cause, actor }: Cause): void {
    const { name, world, log } = this.#options;
    const { state: to, reason } = this.#actor;
    this.#steps = [...this.#steps, { at: new Date(world.now()).toISOString(), to, cause, actor }].slice(-KEPT_STEPS);
    world.bus.emit('block.transitioned', { block: name, from, to, cause, actor });
    log.write(to === 'failed' ? 'ERROR' : 'INFO', `state.${to}`, { cause, by: actor, reason: reason?.message });
  }

  /** one-order. */
  #drain(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#enqueue(() => this.#write());
  }

  async #write(): Promise<void> {
    const { files, onUnwritten } = this.#options;
    // A damaged chat.json must not prevent writing the pulse.
    const queue = await files.conversation.counts().catch(() => undefined);
    const enabled = await this.#enabled();
    try {
      await this.#update((pulse) => this.present(pulse, { queue, enabled }), false);
    } catch (error) {
      if (!this.#isWritten) onUnwritten();
      throw error;
    }
  }

  /** quiet-beat. */
  async #beat(): Promise<void> {
    const { files, world, onShown } = this.#options;
    const now = world.now();
    this.#lastPulse = new Date(now).toISOString();
    const queue = await files.conversation.counts();
    const enabled = await this.#enabled();
    const change = (pulse: BlockPulse): BlockPulse => {
      const next = this.present(pulse, { queue, enabled });
      return isOlderOnly(pulse, next) && Math.abs(now - Date.parse(pulse.lastPulse ?? '')) < REFRESH_MS ? pulse : next;
    };
    await this.#update(change, this.#isWritten);
    onShown();
  }

  /** Undefined if config.json is damaged. */
  #enabled(): Promise<boolean | undefined> {
    return this.#options.files.config.read().then(
      ({ enabled }) => enabled,
      () => undefined,
    );
  }

  get #isWritten(): boolean {
    return this.#steps.at(-1) === this.#lastWritten;
  }

  async #update(change: (pulse: BlockPulse) => BlockPulse, quiet: boolean): Promise<void> {
    let last: Step | undefined;
    await this.#options.files.pulse.update(
      (pulse) => {
        last = this.#steps.at(-1);
        return { value: change(pulse), result: undefined };
      },
      { quiet },
    );
    this.#lastWritten = last;
    if (last !== undefined) this.#steps = this.#steps.slice(Math.max(0, this.#steps.indexOf(last)));
  }

  #enqueue(work: () => Promise<void>): void {
    void this.#writes.add(() => work().catch((error: unknown) => this.#options.onFault('pulse.json', error)));
  }
}

/** True if `next` differs from `pulse` only in the time. */
function isOlderOnly(pulse: BlockPulse, next: BlockPulse): boolean {
  const same = { lastPulse: pulse.lastPulse, uptimeSeconds: pulse.uptimeSeconds };
  return JSON.stringify({ ...next, ...same }) === JSON.stringify(pulse);
}
