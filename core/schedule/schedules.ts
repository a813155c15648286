// The schedules of all blocks of a server. The code that runs them, and its timer, are loaded with the first block that has a schedule.
import { faultText } from '../errors.ts';
import type { BlockConfig } from '../schemas/block-config.ts';
import type { Scheduler } from './scheduler.ts';
import type { ScheduledBlock, SchedulesOptions, ScheduleWork } from './work.ts';

/** The schedules of the blocks that run on this server. */
export class Schedules {
  readonly #options: SchedulesOptions;
  #work: ScheduleWork | undefined;
  #loading: Promise<Scheduler> | undefined;
  #loaded: Scheduler | undefined;
  #isClosed = false;

  constructor(options: SchedulesOptions) {
    this.#options = options;
  }

  /** Called once, before the first block runs. */
  provide(work: ScheduleWork): void {
    this.#work = work;
  }

  /** The monitor of a block has begun, or its configuration has changed. */
  see(block: ScheduledBlock, { schedule }: Pick<BlockConfig, 'schedule'>): void {
    if (this.#isClosed || (schedule.length === 0 && this.#loading === undefined)) return;
    if (this.#loaded !== undefined) this.#loaded.see(block);
    else this.#load().then((scheduler) => scheduler.see(block), this.#onFault);
  }

  /** When a block that waits for messages is to be looked at again: ISO 8601; null where no run of it comes. */
  dueAt(name: string): string | null {
    const at = this.#loaded?.dueAt(name);
    return at === undefined ? null : new Date(at).toISOString();
  }

  /** Sends nothing any more. Resolves when nothing is being sent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const scheduler = await this.#loading?.catch(() => undefined); // it was reported
    await scheduler?.close();
  }

  #load(): Promise<Scheduler> {
    this.#loading ??= import('./parts.ts').then(({ Scheduler }) => {
      const work = this.#work;
      if (work === undefined) throw new Error('The schedules have nobody to send their messages.');
      this.#loaded = new Scheduler({ ...this.#options, work, onFault: (error, block) => this.#onFault(error, block) });
      if (this.#isClosed) void this.#loaded.close();
      return this.#loaded;
    });
    return this.#loading;
  }

  readonly #onFault = (error: unknown, block?: string): void => {
    this.#options.bus.emit('workspace.fault', { what: 'schedule', error: faultText(error), ...(block !== undefined && { block }) });
  };
}
