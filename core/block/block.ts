// One block at run time: its files, its life, and what the two tell each other.
//
// D1 Whatever changes a file, the list, the followers and the monitor hear of it, in this order.
import { join } from 'node:path';
import type { BlockFile } from '../bus.ts';
import { BlockhouseError } from '../errors.ts';
import { MonitorActors } from '../monitor/actors.ts';
import type { MonitorEvent } from '../monitor/machine.ts';
import { RetryWait } from '../monitor/retry-wait.ts';
import type { BlockConfig, BlockPulse, BlockState, CurrentTask, TransitionActor } from '../schemas/block.ts';
import { BlockLog } from '../workspace/block-log.ts';
import type { ChangeNotice } from '../workspace/json-file.ts';
import type { FollowOptions, StopFollowing } from './api.ts';
import { type Entries, EntryIds } from './chat-file.ts';
import { pulseAtRest } from './entry.ts';
import { type BlockContents, type BlockFileSet, FILE_NAMES, openFiles } from './files.ts';
import { Followers } from './followers.ts';
import { Lifecycle } from './lifecycle.ts';
import { isConfigured, unlessDamaged } from './readiness.ts';
import { Recorder } from './recorder.ts';
import { ReplyStream } from './reply-stream.ts';
import type { Stored } from './vault.ts';
import type { BlockWorkshop, World } from './workshop.ts';

/** What is looked at by itself, or is about to be renamed. */
const OWN_FILE = /^$|^(config|memory|costs|pulse|chat)\.json$|\.tmp$|^logs$|^chat-archive$/;
/** A damaged file has ended the work in these states, or may be about to. */
const MAY_BE_REPAIRED: ReadonlySet<BlockState> = new Set(['failed', 'starting', 'working']);
/** Whose messages a run will answer is not known when it begins. */
const LOG_CHANNEL = 'monitor';

/** What the block asks of those who keep it. */
export interface BlockKeeper {
  /** What the list says of the block may be out of date. */
  onStale(name: string): void;
  /** Moves the folder into the archive. */
  archive(block: Block, wasRunning: boolean): Promise<Stored>;
}

export class Block implements BlockWorkshop {
  readonly name: string;
  readonly folder: string;
  readonly files: BlockFileSet;
  readonly log: BlockLog;
  readonly feed: ReplyStream;
  readonly ids: EntryIds;
  readonly retryWait: RetryWait;
  readonly world: World;
  readonly #keeper: BlockKeeper;
  readonly #recorder: Recorder;
  readonly #followers: Followers;
  readonly #actors: MonitorActors;
  readonly #life: Lifecycle;
  #logLimits: BlockConfig['logs'] = { maxFileBytes: 5_242_880, maxFiles: 50 };

  constructor(name: string, folder: string, world: World, keeper: BlockKeeper) {
    this.name = name;
    this.folder = folder;
    this.world = world;
    this.#keeper = keeper;
    this.ids = new EntryIds(() => world.now());
    this.retryWait = new RetryWait(() => world.monotonic());
    this.feed = new ReplyStream(world.steps);
    const onChanged = (file: BlockFile, change: ChangeNotice): void => this.#changed(file, change);
    const onDamaged = (file: BlockFile, reason: string, copy: string | undefined): void => this.#damaged(file, reason, copy);
    const onFault = (what: string, error: unknown): void => this.#fault(what, error);
    const onRebuilt = (file: BlockFile, reason: string): void => world.bus.emit('block.rebuilt', { block: name, file, reason });
    this.files = openFiles(folder, name, { onChanged, onDamaged, onRebuilt }, () => this.at());
    this.log = new BlockLog(join(folder, 'logs'), { limits: () => this.#logLimits, onFault: (error) => onFault('log', error), now: () => world.now() });
    const onUnwritten = (): void => {
      keeper.onStale(name);
      this.#followers.changed();
    };
    this.#recorder = new Recorder({ name, files: this.files, log: this.log, world, onBeat: () => keeper.onStale(name), onUnwritten, onFault });
    this.#followers = new Followers({ folder, watches: world.watches, feed: this.feed, onTouched: (fileName) => this.#touched(fileName) });
    this.#actors = new MonitorActors(this, {
      onBegin: () => this.#begin(),
      onEnd: () => this.#end(),
    });
    this.#life = new Lifecycle({
      name,
      machine: () => this.#actors.machine(),
      archive: (wasRunning) => keeper.archive(this, wasRunning),
      onMonitor: (isRunning) => this.#monitored(isRunning),
      onStep: (snapshot) => this.#recorder.step(snapshot),
      onError: (error) => onFault('actor', error),
    });
  }

  at(): string {
    return new Date(this.world.now()).toISOString();
  }

  /** True while there is a reason to keep this object. */
  get isInUse(): boolean {
    return this.isRunning || this.#followers.size > 0;
  }

  /** True when nothing is being read or written. */
  get isQuiet(): boolean {
    return !FILE_NAMES.some((file) => this.files[file].isBusy);
  }

  get isRunning(): boolean {
    return this.#life.isRunning;
  }

  get state(): BlockState {
    return this.#recorder.state;
  }

  /** Everything that is on disk; pulse as it is now. Throws BLOCK_DAMAGED. */
  async contents(): Promise<BlockContents> {
    const { files } = this;
    const [config, memory, costs, chat, pulse] = await Promise.all([
      files.config.read(),
      files.memory.read(),
      files.costs.read(),
      files.chat.read(),
      files.pulse.read(),
    ]);
    return { config, memory, costs, chat, pulse: this.#asItIs(pulse, config, chat) };
  }

  /** After everything that was to be written before. Other files may be damaged. */
  async pulse(): Promise<BlockPulse> {
    await this.#recorder.written();
    const { pulse, config, chat } = this.files;
    return this.#asItIs(await pulse.read(), await config.read().catch(unlessDamaged), (await chat.read().catch(unlessDamaged)) ?? []);
  }

  /** What stands in pulse.json of a block that does not run is what the last monitor left there. */
  #asItIs(pulse: BlockPulse, config: BlockConfig | undefined, chat: Entries): BlockPulse {
    const seen = this.isRunning
      ? this.#recorder.present(pulse)
      : pulseAtRest(pulse, config !== undefined && isConfigured(this.world.gateway, config.adapter), chat);
    return config === undefined ? seen : { ...seen, desired: config.enabled ? 'running' : 'stopped' };
  }

  /** Resolves when the monitor has come through its recovery. Wakes up one that runs and waits. */
  async start(cause: string, actor: TransitionActor): Promise<void> {
    await this.#life.start(cause, actor);
    if (this.state === 'starting') await this.#recorder.until((word) => word !== 'starting');
  }

  /** Resolves when it has ended. When `hurry` resolves, a reply has no more time. */
  stop(cause: string, actor: TransitionActor, hurry?: Promise<void>): Promise<void> {
    return this.#life.stop(cause, actor, hurry);
  }

  /** Stops the monitor and moves the folder. */
  async archive(): Promise<Stored> {
    const stored = await this.#life.archive();
    this.#followers.dismiss();
    return stored;
  }

  /** To the monitor, where one runs. */
  send(event: MonitorEvent): void {
    this.#life.send(event);
  }

  /** Ends the reply to a message, where it is being made. Resolves when that is over: with true when the message was cancelled by it. */
  cancelReply(messageId: string): Promise<boolean> {
    return this.#actors.cancel(messageId);
  }

  follow(follower: FollowOptions): StopFollowing {
    return this.#followers.add(follower);
  }

  /** Ends all writing; what waits is written. */
  async close(): Promise<void> {
    this.#followers.pause();
    this.#recorder.endBeat();
    await this.#recorder.written();
    await Promise.all(FILE_NAMES.map((file) => this.files[file].close()));
    await this.log.close();
  }

  /** After a move that failed. */
  reopen(): void {
    for (const file of FILE_NAMES) this.files[file].reopen();
    this.log.reopen();
    this.#followers.resume();
  }

  setTask(task: CurrentTask): void {
    this.#recorder.setTask(task);
  }

  growTask(outputChars: number): void {
    this.#recorder.growTask(outputChars);
  }

  endTask(messageId: string | null): void {
    this.#recorder.endTask(messageId);
  }

  failures(): number {
    return this.#life.context?.consecutiveFailures ?? 0;
  }

  #monitored(isRunning: boolean): void {
    this.#followers.needWatch(isRunning);
    if (isRunning) this.#recorder.begin();
  }

  async #begin(): Promise<void> {
    const { config } = await this.contents();
    this.log.open(LOG_CHANNEL);
    this.#take(config);
  }

  async #end(): Promise<void> {
    this.#recorder.endBeat();
    this.log.write('INFO', 'monitor.stopped', {});
    await this.log.flush();
  }

  /** D1. */
  #changed(file: BlockFile, { own, healed }: ChangeNotice): void {
    this.#keeper.onStale(this.name);
    this.world.bus.emit('block.changed', { block: this.name, file });
    this.#followers.changed();
    if (file === 'config') void this.#refreshSettings();
    const isRepair = (healed || !own) && MAY_BE_REPAIRED.has(this.state);
    if (file === 'config' || isRepair) this.send({ type: 'settings.changed', cause: `${file} changed`, actor: 'user' });
    else if (file === 'chat') this.send({ type: 'chat.changed' });
  }

  async #refreshSettings(): Promise<void> {
    try {
      this.#take(await this.files.config.read());
    } catch (error) {
      this.#fault('config.json', error);
    }
  }

  #take({ logs, pulse }: BlockConfig): void {
    this.#logLimits = logs;
    if (this.isRunning) this.#recorder.beatEvery(pulse.intervalSeconds * 1000);
  }

  /** D1: whatever the monitor does now, it finds out. */
  #damaged(file: BlockFile, reason: string, copy: string | undefined): void {
    this.#keeper.onStale(this.name);
    this.world.bus.emit('block.damaged', { block: this.name, file, reason, copy });
    this.#followers.changed();
    if (this.state !== 'failed') this.send({ type: 'settings.changed', cause: `${file} damaged`, actor: 'server' });
  }

  #touched(fileName: string): void {
    for (const file of FILE_NAMES) {
      if (fileName === '' || fileName === `${file}.json`) void this.files[file].refresh();
    }
    // Whatever else a person puts there is nothing to us, but may be something to whoever follows.
    if (!OWN_FILE.test(fileName)) this.#followers.changed();
  }

  #fault(what: string, error: unknown): void {
    const text = error instanceof BlockhouseError ? error.message : ((error as NodeJS.ErrnoException).code ?? String(error));
    this.world.bus.emit('workspace.fault', { block: this.name, what, error: text });
  }
}
