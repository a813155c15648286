// One block at run time: its files, its actor, and what the two tell each other.
//
// K1 Each step of the monitor is a fact on the bus and a change of pulse.json; writing it never holds the monitor up.
// K2 The folder is watched only while the monitor runs or somebody follows.
// K3 The actor is made when the block is first steered; reading needs none.
import { join } from 'node:path';
import { type ActorRefFrom, createActor, fromPromise, type SnapshotFrom, waitFor } from 'xstate';
import type { BlockFile } from '../bus.ts';
import { BlockhouseError, toBlockhouseError } from '../errors.ts';
import { beginSession, chooseNext, outcomeOfFault } from '../monitor/choose.ts';
import { compact } from '../monitor/compaction.ts';
import { type Choice, createMonitorMachine, type MonitorEvent, type MonitorMachine, type ReplyOutcome, stateWord } from '../monitor/machine.ts';
import { beat, beginRun, takeStep } from '../monitor/pulse.ts';
import { Reply } from '../monitor/reply.ts';
import type { BlockPulse, BlockState, CurrentTask, TransitionActor } from '../schemas/block.ts';
import { BlockLog } from '../workspace/block-log.ts';
import type { FollowOptions, StopFollowing } from './api.ts';
import { countQueue, EntryIds, requeue } from './chat-file.ts';
import { pulseAtRest } from './entry.ts';
import { ReplyFeed } from './feed.ts';
import { type BlockContents, type BlockFileSet, FILE_NAMES, openFiles } from './files.ts';
import { createBlockMachine } from './machine.ts';
import type { BlockWorkshop, World } from './workshop.ts';

/** Whose messages a run will answer is not known when it begins. */
const LOG_CHANNEL = 'monitor';

type Lifecycle = ReturnType<typeof createBlockMachine>;

/** What the block asks of those who keep it. */
export interface BlockKeeper {
  /** What the list says of the block may be out of date. */
  onStale(name: string): void;
  /** Moves the folder into the archive; resolves with its name there. */
  archive(block: Block, wasRunning: boolean): Promise<string>;
}

export class Block implements BlockWorkshop {
  readonly name: string;
  readonly folder: string;
  readonly files: BlockFileSet;
  readonly log: BlockLog;
  readonly feed: ReplyFeed;
  readonly ids: EntryIds;
  readonly world: World;
  readonly #keeper: BlockKeeper;
  readonly #followers = new Set<FollowOptions>();
  readonly #waiting = new Set<(word: BlockState) => void>();
  #actor: ActorRefFrom<Lifecycle> | undefined;
  #monitor: ActorRefFrom<MonitorMachine> | undefined;
  #word: BlockState = 'stopped';
  #reply: Reply | undefined;
  #task: CurrentTask | null = null;
  #heartbeat: NodeJS.Timeout | undefined;
  #unwatch: (() => void) | undefined;
  #archiveFailure: unknown;
  #wasRunning = false;
  #logLimits = { maxFileBytes: 5_242_880, maxFiles: 50 };

  constructor(name: string, folder: string, world: World, keeper: BlockKeeper) {
    this.name = name;
    this.folder = folder;
    this.world = world;
    this.#keeper = keeper;
    this.ids = new EntryIds(() => world.now());
    this.feed = new ReplyFeed(world.steps);
    this.files = openFiles(
      folder,
      name,
      {
        onChanged: (file, own) => this.#changed(file, own),
        onDamaged: (file, reason, copy) => this.#damaged(file, reason, copy),
      },
      () => this.at(),
    );
    this.log = new BlockLog(join(folder, 'logs'), {
      limits: () => this.#logLimits,
      onFault: (error) => this.#fault('log', error),
      now: () => world.now(),
    });
  }

  at(): string {
    return new Date(this.world.now()).toISOString();
  }

  /** True while there is a reason to keep this object. */
  get isInUse(): boolean {
    return this.isRunning || this.#followers.size > 0;
  }

  get isRunning(): boolean {
    return this.#actor?.getSnapshot().matches({ active: 'running' }) ?? false;
  }

  /** True when nothing is being read or written. */
  get isQuiet(): boolean {
    return !FILE_NAMES.some((file) => this.files[file].isBusy);
  }

  get state(): BlockState {
    return this.#word;
  }

  /** Everything that is on disk; pulse as it is now. Throws BLOCK_DAMAGED. */
  async contents(): Promise<BlockContents> {
    const [config, memory, costs, chat, pulse] = await Promise.all([
      this.files.config.read(),
      this.files.memory.read(),
      this.files.costs.read(),
      this.files.chat.read(),
      this.files.pulse.read(),
    ]);
    return { config, memory, costs, chat, pulse: this.isRunning ? pulse : pulseAtRest(pulse, this.#isConfigured(config.adapter), chat) };
  }

  /** After everything that was to be written before. */
  async pulse(): Promise<BlockPulse> {
    await this.files.pulse.update((pulse) => ({ value: pulse, result: undefined }));
    return (await this.contents()).pulse;
  }

  /** Resolves when the monitor has taken its first decision. Does nothing when it runs, but for waking it up. */
  async start(cause: string, actor: TransitionActor): Promise<void> {
    this.#lifecycle().send({ type: 'block.start', cause, actor });
    await this.#until((word) => word !== 'starting');
  }

  /** Resolves when it has ended. `hurry` leaves a reply no time. */
  async stop(cause: string, actor: TransitionActor, hurry?: Promise<void>): Promise<void> {
    if (!this.isRunning) return;
    const lifecycle = this.#lifecycle();
    const stop = { type: 'stop', cause, actor } as const;
    lifecycle.send(stop);
    void hurry?.then(() => this.send(stop));
    await waitFor(lifecycle, (snapshot) => !snapshot.matches({ active: 'running' }), { timeout: Number.POSITIVE_INFINITY });
  }

  /** Stops the monitor and moves the folder. */
  async archive(): Promise<string> {
    this.#archiveFailure = undefined;
    this.#wasRunning = this.isRunning;
    const lifecycle = this.#lifecycle();
    lifecycle.send({ type: 'block.archive' });
    const settled = (snapshot: SnapshotFrom<Lifecycle>): boolean =>
      snapshot.matches('archived') || (snapshot.matches({ active: 'stopped' }) && snapshot.context.fault !== null);
    const { context } = await waitFor(lifecycle, settled, { timeout: Number.POSITIVE_INFINITY });
    if (context.archiveName === null) throw this.#archiveFailure;
    for (const { onGone } of this.#followers) onGone?.();
    this.#followers.clear();
    this.#watchAsNeeded();
    lifecycle.stop();
    return context.archiveName;
  }

  /** To the monitor, where one runs. */
  send(event: MonitorEvent): void {
    if (this.isRunning) this.#actor?.send(event);
  }

  /** Ends the reply to a message, where it is being made; true when it was. Resolves when that is over. */
  async cancelReply(messageId: string): Promise<boolean> {
    const reply = this.#reply;
    if (reply?.messageId !== messageId) return false;
    reply.abort('cancel');
    await reply.ended;
    return true;
  }

  follow(options: FollowOptions): StopFollowing {
    this.#followers.add(options);
    this.#watchAsNeeded();
    const { onReply } = options;
    const leave = onReply === undefined ? undefined : this.feed.join((step) => onReply(step), options.sinceSeq);
    return () => {
      leave?.();
      if (this.#followers.delete(options)) this.#watchAsNeeded();
    };
  }

  /** Ends all writing; what waits is written. */
  async close(): Promise<void> {
    this.#unwatch?.();
    this.#unwatch = undefined;
    clearInterval(this.#heartbeat);
    await Promise.all(FILE_NAMES.map((file) => this.files[file].close()));
    await this.log.close();
  }

  /** After a move that failed. */
  reopen(): void {
    for (const file of FILE_NAMES) this.files[file].reopen();
    this.#watchAsNeeded();
  }

  setTask(task: CurrentTask): void {
    this.#task = task;
    this.#updatePulse((pulse) => ({ ...pulse, currentTask: task }));
  }

  growTask(outputChars: number): void {
    if (this.#task === null) return;
    const isFirst = this.#task.phase !== 'streaming';
    this.#task = { ...this.#task, phase: 'streaming', outputChars };
    // Its growth is shown by the heartbeat, and by the feed to those who want every word.
    if (isFirst) this.setTask(this.#task);
  }

  failures(): number {
    return this.#monitor?.getSnapshot().context.consecutiveFailures ?? 0;
  }

  /** K3. */
  #lifecycle(): ActorRefFrom<Lifecycle> {
    if (this.#actor !== undefined) return this.#actor;
    const machine = createBlockMachine(this.#monitorMachine()).provide({
      actors: {
        archive: fromPromise(() =>
          this.#keeper.archive(this, this.#wasRunning).catch((error: unknown) => {
            this.#archiveFailure = error;
            throw error;
          }),
        ),
      },
    });
    const actor = createActor(machine, { input: { name: this.name, archiveName: null } });
    actor.subscribe({
      next: (snapshot) => this.#adopt(snapshot.children['monitor'] as ActorRefFrom<MonitorMachine> | undefined),
      error: (error) => this.#fault('actor', error),
    });
    this.#actor = actor.start();
    return this.#actor;
  }

  #monitorMachine(): MonitorMachine {
    const guarded = async <C extends Choice | ReplyOutcome>(work: () => Promise<C>): Promise<C | (Choice & { kind: 'wait' | 'fail' })> => {
      try {
        return await work();
      } catch (error) {
        return outcomeOfFault(this, error);
      }
    };
    return createMonitorMachine(() => this.world.now()).provide({
      actors: {
        recover: fromPromise(() => guarded(() => this.#recover())),
        choose: fromPromise(() => guarded(() => chooseNext(this))),
        reply: fromPromise<ReplyOutcome, { readonly name: string; readonly messageId: string }>(({ input, signal }) =>
          guarded(() => this.#makeReply(input.messageId, signal)),
        ),
        compact: fromPromise(async ({ signal }) => void (await compact(this, 'threshold', signal))),
        settle: fromPromise(() => this.#settle()),
      },
      actions: { abortReply: () => this.#reply?.abort('stop') },
    });
  }

  async #recover(): Promise<Choice> {
    const { config } = await this.contents();
    this.#logLimits = config.logs;
    this.log.open(LOG_CHANNEL);
    await beginSession(this);
    this.#beatEvery(config.pulse.intervalSeconds * 1000);
    return { kind: 'nothing' };
  }

  async #makeReply(messageId: string, signal: AbortSignal): Promise<ReplyOutcome> {
    const reply = new Reply(this, messageId);
    this.#reply = reply;
    const abort = (): void => reply.abort('stop');
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await reply.make();
    } finally {
      signal.removeEventListener('abort', abort);
      this.#reply = undefined;
      this.#task = null;
    }
  }

  /** What a reply that did not end in time has left is queued again. */
  async #settle(): Promise<void> {
    clearInterval(this.#heartbeat);
    if (this.#reply === undefined) {
      await this.files.chat.update((entries) => {
        const left = entries.filter(({ status }) => status === 'processing');
        return { value: left.reduce((all, { id }) => requeue(all, id, { countsAsAttempt: false }).value, entries), result: undefined };
      });
    }
    this.log.write('INFO', 'monitor.stopped', {});
    await this.log.flush();
  }

  #beatEvery(ms: number): void {
    clearInterval(this.#heartbeat);
    this.#heartbeat = setInterval(() => void this.#beat().catch((error: unknown) => this.#fault('pulse.json', error)), ms);
    this.#heartbeat.unref();
  }

  async #beat(): Promise<void> {
    const queue = countQueue(await this.files.chat.read());
    await this.files.pulse.update((pulse) => ({ value: beat(pulse, this.world.now(), queue, this.#task), result: undefined }), { quiet: true });
    this.#keeper.onStale(this.name);
  }

  #adopt(monitor: ActorRefFrom<MonitorMachine> | undefined): void {
    if (monitor === this.#monitor) return;
    this.#monitor = monitor;
    this.#watchAsNeeded();
    if (monitor === undefined) return;
    this.#updatePulse((pulse) => beginRun(pulse, this.world.now()));
    this.#record(monitor.getSnapshot());
    monitor.subscribe({ next: (snapshot) => this.#record(snapshot), error: (error) => this.#fault('actor', error) });
  }

  /** K1. */
  #record({ value, context }: SnapshotFrom<MonitorMachine>): void {
    const to = stateWord(value);
    if (to === undefined || (to === this.#word && to !== 'failed')) return;
    const { name, world } = this;
    const { cause, actor, reason, wakeUpAt, restarts, consecutiveFailures } = context;
    world.bus.emit('block.transitioned', { block: name, from: this.#word, to, cause, actor });
    this.#word = to;
    this.log.write(to === 'failed' ? 'ERROR' : 'INFO', `state.${to}`, { cause, by: actor, reason: reason?.message });
    void this.#write(async () => {
      const queue = countQueue(await this.files.chat.read().catch(() => []));
      const isWanted = await this.files.config.read().then(
        (config) => config.enabled,
        () => to !== 'stopped',
      );
      const step = { to, cause, actor, now: world.now(), reason, wakeUpAt, restarts, consecutiveFailures, isWanted, queue };
      await this.files.pulse.update((pulse) => ({ value: takeStep(pulse, step), result: undefined }));
    });
    for (const waiting of [...this.#waiting]) waiting(to);
  }

  #until(condition: (word: BlockState) => boolean): Promise<void> {
    if (this.isRunning && condition(this.#word)) return Promise.resolve();
    return new Promise((resolve) => {
      const look = (word: BlockState): void => {
        if (!condition(word)) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
    });
  }

  #updatePulse(change: (pulse: BlockPulse) => BlockPulse): void {
    void this.#write(() => this.files.pulse.update((pulse) => ({ value: change(pulse), result: undefined })));
  }

  async #write(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#fault('pulse.json', error);
    }
  }

  #changed(file: BlockFile, own: boolean): void {
    this.#keeper.onStale(this.name);
    this.world.bus.emit('block.changed', { block: this.name, file });
    for (const { onChange } of this.#followers) onChange?.();
    if (file === 'config') void this.#refreshLimits();
    const isRepair = !own && this.#word === 'failed';
    if (file === 'config' || isRepair) this.send({ type: 'settings.changed', cause: `${file} changed`, actor: 'user' });
    else if (file === 'chat') this.send({ type: 'chat.changed' });
  }

  async #refreshLimits(): Promise<void> {
    await this.#write(async () => {
      const { logs, pulse } = await this.files.config.read();
      this.#logLimits = logs;
      if (this.isRunning) this.#beatEvery(pulse.intervalSeconds * 1000);
    });
  }

  #damaged(file: BlockFile, reason: string, copy: string | undefined): void {
    this.#keeper.onStale(this.name);
    this.world.bus.emit('block.damaged', { block: this.name, file, reason, copy });
    for (const { onChange } of this.#followers) onChange?.();
    // Whatever it does now, it finds out.
    if (this.#word !== 'failed') this.send({ type: 'settings.changed', cause: `${file} damaged`, actor: 'server' });
  }

  /** K2. */
  #watchAsNeeded(): void {
    const isNeeded = this.#monitor !== undefined || this.#followers.size > 0;
    if (isNeeded && this.#unwatch === undefined) this.#unwatch = this.world.watches.watch(this.folder, (file) => this.#touched(file));
    else if (!isNeeded && this.#unwatch !== undefined) {
      this.#unwatch();
      this.#unwatch = undefined;
    }
  }

  #touched(fileName: string): void {
    for (const file of FILE_NAMES) {
      if (fileName === '' || fileName === `${file}.json`) void this.files[file].refresh();
    }
  }

  #isConfigured(adapter: BlockContents['config']['adapter']): boolean {
    if (adapter === null) return false;
    try {
      return this.world.gateway.stand(adapter.provider, undefined, 'adapter.provider').missing === undefined;
    } catch (error) {
      return toBlockhouseError(error).code !== 'INVALID_REQUEST';
    }
  }

  #fault(what: string, error: unknown): void {
    const text =
      error instanceof BlockhouseError ? error.message : error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : String(error);
    this.world.bus.emit('workspace.fault', { block: this.name, what, error: text });
  }
}
