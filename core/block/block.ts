// One block at run time: its files, its actor, and the events between them.
//
// one-truth: only the snapshot of the actor says what the block does and may do.
// told-in-order: a change of a file is reported to the list first, then to the followers, then to the actor.
import { setTimeout as delay } from 'node:timers/promises';
import { type AnyActorRef, createActor, waitFor } from 'xstate';
import type { ActorSystem } from '../base/abortable.ts';
import type { BlockFile } from '../bus.ts';
import { leaseLost } from '../errors.ts';
import type { BlockConfig } from '../schemas/block-config.ts';
import type { BlockMemory } from '../schemas/block-memory.ts';
import type { BlockPulse, BlockState, CurrentTask, TransitionActor } from '../schemas/block-pulse.ts';
import type { BlockContents, BlockDocuments, BlockRef, Claim, Entries, Rest, Standing, Stored } from '../store/port.ts';
import type { RunFact } from '../store/run-fact.ts';
import type { ChangeNotice, LogStore, StoredBlock } from '../store/store.ts';
import { ask, type BlockActor } from './actor/ask.ts';
import { type BlockMachine, isRunning, stateOf } from './actor/machine.ts';
import { doingIn, heldUntil, pulseOf } from './actor/pulse-of.ts';
import type { BlockEvent } from './actor/types.ts';
import type { FollowOptions, StopFollowing } from './api.ts';
import { ChangeGate } from './change-gate.ts';
import { isWaiting } from './conversation/chat-file.ts';
import { countQueue } from './conversation/counts.ts';
import { CONFIG_DEFAULTS } from './documents/document-codecs.ts';
import { Followers } from './followers.ts';
import { PulseWriter } from './pulse-writer.ts';
import type { BlockContext, WorkspaceContext } from './reply/block-context.ts';
import { type ReplyStep, ReplyStream } from './reply/reply-stream.ts';
import { pulseAsItStands, withWish } from './status/list-entry.ts';
import { unlessDamaged } from './status/readiness.ts';
import { UnsavedAnswer } from './reply/unsaved-answer.ts';
import { RetryWait } from './status/retry-wait.ts';
import { Tenure } from './tenure.ts';

/** The channel in log names: a run answers messages of any channel. */
const LOG_CHANNEL = 'monitor';
/** An editor may remove a file before it writes the new one. */
const GONE_AFTER_MS = 100;

/** Blocks by actor system: all blocks share one machine, and its work finds its block here. */
const owners = new WeakMap<ActorSystem, Block>();

/** The block of an actor system. Throws for a system that belongs to no block. */
export function blockOf(system: ActorSystem): Block {
  const block = owners.get(system);
  if (block === undefined) throw new Error('The actor belongs to no block.');
  return block;
}

/** The options of a block. */
export interface BlockOptions {
  readonly ref: BlockRef;
  readonly world: WorkspaceContext;
  readonly machine: BlockMachine;
  /** Takes the claim of a block that has nothing to do here. */
  giveBack(claim: Claim, rest: Rest): void;
  /** Called when the list's entry of the block may be out of date. */
  onStale(): void;
  onFault(what: string, error: unknown): void;
}

/** A block that is held in memory. */
export class Block implements BlockContext {
  readonly ref: BlockRef;
  readonly name: string;
  readonly stored: StoredBlock;
  readonly files: BlockDocuments;
  readonly log: LogStore;
  readonly feed: ReplyStream;
  readonly retryWait: RetryWait;
  readonly unsaved = new UnsavedAnswer();
  readonly world: WorkspaceContext;
  readonly tenure: Tenure;
  /** Copies under way: the block does not move before they are complete. */
  readonly copies = new ChangeGate();
  readonly #pulseWriter: PulseWriter;
  readonly #followers: Followers;
  readonly #options: BlockOptions;
  #actor: BlockActor;
  #logLimits: BlockConfig['logs'] = CONFIG_DEFAULTS.logs;

  /** `restored` is the actor of a block that comes from the archive; the block keeps it. */
  constructor(options: BlockOptions, restored?: BlockActor) {
    const { ref, world, machine, onStale, onFault } = options;
    this.#options = options;
    const { name } = ref;
    this.ref = ref;
    this.name = name;
    this.world = world;
    this.retryWait = new RetryWait(() => world.monotonic());
    this.feed = new ReplyStream(world.steps);
    this.stored = world.store.blocks.block(ref, {
      onChanged: (file, change) => this.#changed(file, change),
      onDamaged: (file, reason, copy) => this.#damaged(file, reason, copy),
      onRebuilt: (file, reason) => world.bus.emit('block.rebuilt', { block: name, file, reason }),
      onOther: () => this.#followers.changed(),
      onLogged: (file, offset, text) => this.#followers.logged({ file, offset, text }),
      onLogFault: (error) => onFault('log', error),
      logLimits: () => this.#logLimits,
    });
    this.files = this.stored.documents;
    this.log = this.stored.log;
    const onUnwritten = (): void => {
      onStale();
      this.#followers.changed();
    };
    const join = (reader: (step: ReplyStep) => void, sinceSeq?: number): (() => void) => this.#join(reader, sinceSeq);
    this.#followers = new Followers({ feed: { join }, watch: () => this.stored.watch(), watchLog: () => this.log.follow() });
    this.#actor = restored ?? createActor(machine, { input: { name, archiveName: null } });
    const actor = pulseOf(this.#actor.getSnapshot());
    this.#pulseWriter = new PulseWriter({ name, actor, files: this.files, log: this.log, feed: this.feed, world, onShown: onStale, onUnwritten, onFault });
    this.tenure = new Tenure({
      ref,
      world,
      feed: this.feed,
      doing: () => (this.isActive ? doingIn(this.state, world.member().isDraining) : 'nothing'),
      heldUntil: () => heldUntil(this.#actor.getSnapshot()),
      written: () => this.#written(),
      leave: () => this.#leaveActor(),
      giveBack: options.giveBack,
    });
    this.#startActor();
  }

  #startActor(): void {
    const actor = this.#actor;
    owners.set((actor as AnyActorRef).system, this);
    actor.subscribe({
      next: (snapshot) => {
        this.#pulseWriter.see(pulseOf(snapshot), snapshot.context);
        this.tenure.see();
      },
      error: (error) => this.#options.onFault('actor', error),
    });
    actor.start();
  }

  at(): string {
    return new Date(this.world.now()).toISOString();
  }

  get claim(): Claim {
    const { claim } = this.tenure;
    if (claim === undefined) throw leaseLost();
    return claim;
  }

  drop(): void {
    if (this.tenure.end() !== undefined) this.#leaveActor();
  }

  /** The monitor ends without a word, and another one may begin. */
  #leaveActor(): void {
    this.#pulseWriter.endBeat();
    this.#followers.needWatch(false);
    const before = this.#actor;
    this.#actor = createActor(this.#options.machine, { input: { name: this.name, archiveName: null } });
    this.#pulseWriter.begin(pulseOf(this.#actor.getSnapshot()));
    this.#startActor();
    before.stop();
    this.#options.onStale();
  }

  /** Resolves when its steps and its log are stored. */
  async #written(): Promise<void> {
    await this.#pulseWriter.written();
    await this.log.flush();
  }

  /** How it stands, wherever its monitor runs. */
  async standing(): Promise<Pick<Standing, 'isRunning' | 'state'>> {
    const elsewhere = this.isActive ? undefined : await this.stored.standing();
    if (elsewhere === undefined) return { isRunning: this.isRunning, state: this.state };
    const { isRunning, state } = elsewhere;
    return { isRunning, state: isRunning && state === 'stopped' ? 'idle' : state }; // a server has given it back
  }

  /** True while there is a reason to keep this object. */
  get isInUse(): boolean {
    return this.isActive || this.#followers.size > 0;
  }

  /** True when nothing is being read or written. */
  get isQuiet(): boolean {
    return this.stored.isQuiet;
  }

  get isRunning(): boolean {
    return isRunning(this.#actor.getSnapshot());
  }

  /** True while it does anything, with or without a monitor. */
  get isActive(): boolean {
    return this.isRunning || this.state === 'compacting' || this.isMoving;
  }

  /** True while the folder moves to the archive: from the end of all work until the move has succeeded or failed. */
  get isMoving(): boolean {
    return this.#actor.getSnapshot().matches({ life: 'archiving' });
  }

  get state(): BlockState {
    return stateOf(this.#actor.getSnapshot());
  }

  /** The contents of all files, with the current pulse. Throws BLOCK_DAMAGED. */
  async contents(): Promise<BlockContents> {
    const contents = await this.stored.contents();
    return { ...contents, pulse: await this.#asItIs(contents.pulse, contents.config, contents.chat) };
  }

  /** The current pulse, after all earlier writes. Works even if other files are damaged. */
  async pulse(): Promise<BlockPulse> {
    await this.#pulseWriter.written();
    const { pulse, config, conversation } = this.files;
    return this.#asItIs(await pulse.read(), await config.read().catch(unlessDamaged), (await conversation.entries().catch(unlessDamaged)) ?? []);
  }

  /** Corrects the pulse of a block at rest, because its pulse.json is what the last monitor left there. */
  async #asItIs(pulse: BlockPulse, config: BlockConfig | undefined, chat: Entries): Promise<BlockPulse> {
    if (this.isActive) return withWish(this.#pulseWriter.present(pulse), config);
    const standing = await this.stored.standing();
    return pulseAsItStands({ pulse, config, queue: countQueue(chat) }, standing, this.world.gateway);
  }

  /** Resolves when the monitor has finished its recovery. Wakes a monitor that runs and waits. Throws SHUTTING_DOWN, WRONG_STATE. */
  start(cause: string, actor: TransitionActor): Promise<void> {
    return ask(this.#actor, { type: 'block.start', cause, actor });
  }

  /** Resolves when no monitor runs. */
  stop(cause: string, actor: TransitionActor): Promise<void> {
    return ask(this.#actor, { type: 'block.stop', cause, actor });
  }

  /** Ends everything permanently, and resolves when it has ended. A second call aborts a reply at once. */
  end(): Promise<void> {
    this.#followers.pause(); // followers don't need the last writes
    return ask(this.#actor, { type: 'block.close' });
  }

  /** Stops the monitor and moves the folder. */
  async archive(): Promise<Stored> {
    const stored = await ask(this.#actor, { type: 'block.archive' });
    this.#followers.dismiss();
    return stored;
  }

  /** Resolves with the memory afterwards. Throws WRONG_STATE, or the failure of the model. */
  compact(): Promise<BlockMemory> {
    return ask(this.#actor, { type: 'block.compact' });
  }

  /** Ends the reply to a message, if it is under way. Resolves when the reply is over, with true if this cancelled the message. */
  cancelReply(messageId: string): Promise<boolean> {
    return ask(this.#actor, { type: 'message.cancel', messageId });
  }

  /** Resolves when a move to the archive under way has succeeded or failed. */
  async moved(): Promise<void> {
    await waitFor(this.#actor, (snapshot) => !snapshot.matches({ life: 'archiving' }), { timeout: Number.POSITIVE_INFINITY });
  }

  /** Sends an event to the actor, which ignores events that don't apply. */
  send(event: BlockEvent): void {
    this.#actor.send(event);
  }

  /** Something has happened in a run, here or at another server. */
  readonly ran = (fact: RunFact): void => this.#followers.ran(fact);

  follow(follower: FollowOptions): StopFollowing {
    return this.#followers.add(follower);
  }

  /** The block has gone elsewhere: nothing of it is written any more. */
  leave(): void {
    this.tenure.end();
    this.#followers.dismiss();
    this.#pulseWriter.endBeat();
    this.#actor.stop();
  }

  /** Refuses further writes. Resolves when the waiting ones are on disk. */
  async close(): Promise<void> {
    this.#followers.pause();
    this.#pulseWriter.endBeat();
    await this.#pulseWriter.written();
    await this.stored.close();
  }

  /** Allows writes again, after a failed move. */
  reopen(): void {
    this.stored.reopen();
    this.#followers.resume();
  }

  /** A number from which on a reader misses nothing. Of replies that another server makes, 0: its numbers are its own. */
  get lastStep(): number {
    return this.tenure.claim === undefined && this.world.member().isShared ? 0 : this.feed.seq;
  }

  /** Joins the replies that are made here, and those of other servers. */
  #join(reader: (step: ReplyStep) => void, sinceSeq = 0): () => void {
    const leave = this.feed.join(reader, sinceSeq);
    const unfollow = this.world.store.signals.follow(this.ref, reader, sinceSeq);
    return () => {
      leave();
      unfollow();
    };
  }

  setTask(task: CurrentTask): void {
    this.send({ type: 'task.changed', task });
  }

  endTask(messageId: string | null): void {
    this.send({ type: 'task.ended', messageId });
  }

  failures(): number {
    return this.#actor.getSnapshot().context.consecutiveFailures;
  }

  /** The machine's `openRun`: a monitor is about to start. */
  openRun(): void {
    this.#followers.needWatch(true);
  }

  /** The machine's `closeRun`. */
  closeRun(): void {
    this.#followers.needWatch(false);
  }

  async beginRun(): Promise<void> {
    const { config } = await this.contents();
    this.log.open(LOG_CHANNEL);
    this.#take(config);
  }

  async endRun(): Promise<void> {
    this.#pulseWriter.endBeat();
    this.log.write('INFO', 'monitor.stopped', {});
    await this.log.flush();
  }

  /** told-in-order. */
  #changed(file: BlockFile, { own, healed }: ChangeNotice): void {
    this.#options.onStale();
    this.world.bus.emit('block.changed', { block: this.name, file });
    this.#followers.changed();
    const cause = { cause: `${file} changed`, actor: 'user' } as const;
    if (file === 'config') {
      void this.#refreshSettings();
      this.send({ type: 'settings.changed', ...cause });
      return;
    }
    if (healed || !own) this.send({ type: 'file.repaired', ...cause });
    if (file !== 'chat') return;
    this.send({ type: 'chat.changed' });
    if (!own) this.#endReplyIfGone().catch((error: unknown) => this.#options.onFault('chat.json', error));
  }

  /** Ends the reply under way if a person has removed its message, or has given it an outcome. */
  async #endReplyIfGone(): Promise<void> {
    const { messageId } = this.#actor.getSnapshot().context;
    if (messageId === null || (await this.#isWaiting(messageId))) return;
    await delay(GONE_AFTER_MS);
    if (!(await this.#isWaiting(messageId))) this.send({ type: 'message.gone', messageId });
  }

  /** True also while chat.json is damaged, which says nothing about the message. */
  async #isWaiting(messageId: string): Promise<boolean> {
    const entries = await this.files.conversation.entries().catch(unlessDamaged);
    return entries === undefined || entries.some((entry) => entry.id === messageId && isWaiting(entry));
  }

  async #refreshSettings(): Promise<void> {
    try {
      this.#take(await this.files.config.read());
    } catch (error) {
      this.#options.onFault('config.json', error);
    }
  }

  #take(config: BlockConfig): void {
    this.#logLimits = config.logs;
    if (!this.isRunning) return;
    this.#pulseWriter.beatEvery(config.pulse.intervalSeconds * 1000);
    this.world.schedules.see(this, config);
  }

  /** told-in-order. The actor gets no event: a monitor finds the damage at its next read. */
  #damaged(file: BlockFile, reason: string, copy: string | undefined): void {
    this.#options.onStale();
    this.world.bus.emit('block.damaged', { block: this.name, file, reason, copy });
    this.#followers.changed();
    this.send({ type: 'file.damaged', cause: `${file} damaged`, actor: 'server' });
  }
}
