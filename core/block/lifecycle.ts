// The actor of one block, and the monitor within it.
//
// K1 The actor is made when the block is first steered; reading needs none.
// K2 A start that comes while a monitor ends waits for that end: the last word counts.
// K3 After the server's own stop nothing starts any more.
// K4 A block on its way to the archive starts nothing.
import { type ActorRefFrom, createActor, fromPromise, type SnapshotFrom, waitFor } from 'xstate';
import { BlockhouseError } from '../errors.ts';
import type { MonitorContext, MonitorEvent, MonitorMachine } from '../monitor/machine.ts';
import type { TransitionActor } from '../schemas/block.ts';
import { type BlockContext, createBlockMachine } from './machine.ts';
import type { Stored, Unconfirmed } from './vault.ts';

type BlockMachine = ReturnType<typeof createBlockMachine>;
type BlockSnapshot = SnapshotFrom<BlockMachine>;

export interface LifecycleOptions {
  readonly name: string;
  /** With its actors. */
  machine(): MonitorMachine;
  /** Moves the folder, after the monitor's end. */
  archive(wasRunning: boolean): Promise<Stored>;
  /** A monitor begins, or has ended. */
  onMonitor(isRunning: boolean): void;
  onStep(snapshot: SnapshotFrom<MonitorMachine>): void;
  /** A defect: an actor is not to throw. */
  onError(error: unknown): void;
}

export class Lifecycle {
  readonly #options: LifecycleOptions;
  #actor: ActorRefFrom<BlockMachine> | undefined;
  #monitor: ActorRefFrom<MonitorMachine> | undefined;
  #archiveFailure: unknown;
  #unconfirmed: Unconfirmed;
  #wasRunning = false;
  #isOver = false;

  constructor(options: LifecycleOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#actor !== undefined && isRunning(this.#actor.getSnapshot());
  }

  /** Of the monitor that runs. */
  get context(): MonitorContext | undefined {
    return this.#monitor?.getSnapshot().context;
  }

  /** Wakes up a monitor that runs and waits. K2, K3; throws WRONG_STATE (K4). */
  async start(cause: string, actor: TransitionActor): Promise<void> {
    while (this.context?.isStopping === true) await this.#ended();
    if (this.#isOver) throw new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.');
    const begun = this.#begun();
    if (!begun.getSnapshot().matches('active')) throw new BlockhouseError('WRONG_STATE', `${this.#options.name} is being archived.`); // K4
    begun.send({ type: 'block.start', cause, actor });
  }

  /** Resolves when the monitor has ended. When `hurry` resolves, a reply has no more time. */
  async stop(cause: string, actor: TransitionActor, hurry?: Promise<void>): Promise<void> {
    if (actor === 'server') this.#isOver = true;
    if (!this.isRunning) return;
    const stop = { type: 'stop', cause, actor } as const;
    this.send(stop);
    void hurry?.then(() => this.send(stop));
    await this.#ended();
  }

  /** Ends the monitor and moves the folder. */
  async archive(): Promise<Stored> {
    this.#archiveFailure = undefined;
    this.#wasRunning = this.isRunning;
    const actor = this.#begun();
    actor.send({ type: 'block.archive' });
    const settled = (snapshot: BlockSnapshot): boolean =>
      snapshot.matches('archived') || (snapshot.matches({ active: 'stopped' }) && snapshot.context.fault !== null);
    const { context } = await waitFor(actor, settled, FOREVER);
    if (context.archiveName === null) throw this.#archiveFailure;
    actor.stop();
    return { archiveName: context.archiveName, unconfirmed: this.#unconfirmed };
  }

  /** To the monitor, where one runs. */
  send(event: MonitorEvent): void {
    if (this.isRunning) this.#actor?.send(event);
  }

  async #ended(): Promise<void> {
    if (this.#actor !== undefined) await waitFor(this.#actor, (snapshot) => !isRunning(snapshot), FOREVER);
  }

  /** K1. */
  #begun(): ActorRefFrom<BlockMachine> {
    if (this.#actor !== undefined) return this.#actor;
    const { name, machine, onError } = this.#options;
    const archive = fromPromise<string, BlockContext>(() => this.#move());
    const actor = createActor(createBlockMachine(machine()).provide({ actors: { archive } }), { input: { name, archiveName: null } });
    actor.subscribe({ next: (snapshot) => this.#adopt(snapshot.children['monitor'] as ActorRefFrom<MonitorMachine> | undefined), error: onError });
    this.#actor = actor.start();
    return this.#actor;
  }

  async #move(): Promise<string> {
    try {
      const { archiveName, unconfirmed } = await this.#options.archive(this.#wasRunning);
      this.#unconfirmed = unconfirmed;
      return archiveName;
    } catch (error) {
      this.#archiveFailure = error;
      throw error;
    }
  }

  #adopt(monitor: ActorRefFrom<MonitorMachine> | undefined): void {
    if (monitor === this.#monitor) return;
    this.#monitor = monitor;
    const { onMonitor, onStep, onError } = this.#options;
    onMonitor(monitor !== undefined);
    if (monitor === undefined) return;
    onStep(monitor.getSnapshot());
    monitor.subscribe({ next: (snapshot) => onStep(snapshot), error: onError });
  }
}

const FOREVER = { timeout: Number.POSITIVE_INFINITY };

function isRunning(snapshot: BlockSnapshot): boolean {
  return snapshot.matches({ active: 'running' });
}
