// How long this server has a block: from a claim until it is given back, lost, or moved to the archive.
//
// back-at-rest: where several servers share a workspace, a block is given back at once when nothing runs, and half a minute after its monitor has had
//   nothing to do, also where that is because a person is to decide: then until somebody has, or the time is over. The next message then finds a server, maybe another one. A server that is drained does not wait: its blocks go as soon as no reply is under way.
import type { BlockRef, Claim, Rest } from '../store/port.ts';
import type { WorkspaceContext } from './reply/block-context.ts';
import type { ReplyStream } from './reply/reply-stream.ts';

/** What a tenure needs of its block. */
export interface TenureOptions {
  readonly ref: BlockRef;
  readonly world: WorkspaceContext;
  readonly feed: Pick<ReplyStream, 'join'>;
  /** `idle`: the monitor waits for a message, or for a person; where the server is drained, for anything. */
  doing(): 'nothing' | 'idle' | 'something';
  /** Until when the monitor waits for a person, in epoch milliseconds; undefined where it does not. */
  heldUntil(): number | undefined;
  /** Resolves when all that the block has said is stored. */
  written(): Promise<void>;
  /** Ends the monitor without a word, because it runs on elsewhere. */
  leave(): void;
  giveBack(claim: Claim, rest: Rest): void;
}

/** The next message within this time finds the block with its server. */
const WARM_MS = 30_000;

/** The tenures of one block, one after the other. */
export class Tenure {
  readonly #options: TenureOptions;
  #claim: Claim | undefined;
  #unpublish: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #uses = 0;

  constructor(options: TenureOptions) {
    this.#options = options;
  }

  /** Undefined while this server does not have the block. */
  get claim(): Claim | undefined {
    return this.#claim;
  }

  /** False while another server has the block. */
  async take(): Promise<boolean> {
    if (this.#claim !== undefined) return true;
    const { world, ref } = this.#options;
    const claim = await world.member().take(ref);
    if ('heldBy' in claim) return false;
    this.begin(claim);
    return true;
  }

  begin(claim: Claim): void {
    const { world, ref, feed } = this.#options;
    this.#claim = claim;
    if (!world.member().isShared) return;
    world.steps.follow(world.now() * 1000); // greater than the numbers of the owner before
    this.#unpublish = world.store.signals.publish(ref, (onStep, sinceSeq) => feed.join(onStep, sinceSeq));
  }

  /** Returns the claim, which is not used here any more. */
  end(): Claim | undefined {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#unpublish?.();
    this.#unpublish = undefined;
    const claim = this.#claim;
    this.#claim = undefined;
    return claim;
  }

  /** Work that needs the claim and is none of the monitor: until it is over, the block is not given back. */
  async using<T>(work: () => Promise<T>): Promise<T> {
    this.#uses += 1;
    try {
      return await work();
    } finally {
      this.#uses -= 1;
      this.see();
    }
  }

  /** Looks at what the block does now. back-at-rest. */
  see(): void {
    const { world, doing } = this.#options;
    if (this.#claim === undefined || !world.member().isShared || this.#uses > 0) return;
    const now = doing();
    if (now === 'nothing') return void this.#giveBack('nothing');
    if (now === 'idle' && world.member().isDraining) return void this.#giveBack('idle');
    if (now === 'idle') this.#timer ??= setTimeout(() => void this.#giveBack('idle'), WARM_MS).unref();
    else {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
  }

  async #giveBack(when: 'nothing' | 'idle'): Promise<void> {
    const { ref, world, written, doing, heldUntil, leave, giveBack } = this.#options;
    await written();
    if (doing() !== when || this.#uses > 0) return;
    const claim = this.end();
    if (claim === undefined) return;
    if (when === 'nothing') return giveBack(claim, { state: 'stopped', dueAt: null });
    const until = heldUntil();
    leave(); // its last pulse stays
    const times = [until === undefined ? null : new Date(until).toISOString(), world.schedules.dueAt(ref.name)].filter((time) => time !== null);
    giveBack(claim, { state: until === undefined ? 'idle' : 'waiting-approval', dueAt: times.sort()[0] ?? null });
  }
}
