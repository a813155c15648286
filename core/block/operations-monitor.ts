// Monitors, as people and the server steer them: started, stopped, and started again with the server.
//
// S1 `enabled` in config.json is what is wanted: it is written before a monitor starts or stops.
// S2 When the server ends, what is wanted stays as it is. From then on nothing starts, not even a block that was brought back since.
import { BlockhouseError, invalidRequest, toBlockhouseError } from '../errors.ts';
import type { BlockPulse, BlockState } from '../schemas/block.ts';
import type { BlockEntry } from '../schemas/block-api.ts';
import type { Block } from './block.ts';
import type { OpenBlocks } from './open-blocks.ts';
import type { World } from './workshop.ts';

/** Between the starts of two monitors at the start of a server: a thousand of them are no herd. */
const STAGGER_MS = 10;
/** How long the replies of all blocks may go on when the server ends. */
const CLOSING_GRACE_MS = 3000;

interface Steered {
  readonly message: string;
  readonly pulse: BlockPulse;
}

export interface MonitorOperationsOptions {
  readonly world: World;
  readonly blocks: OpenBlocks;
  onFault(what: string, error: unknown, block: string): void;
}

export class MonitorOperations {
  readonly #options: MonitorOperationsOptions;
  #isOver = false;

  constructor(options: MonitorOperationsOptions) {
    this.#options = options;
  }

  async start(name: string): Promise<Steered> {
    const block = await this.#options.blocks.find(name);
    this.#assertGoing(); // before it is noted as wanted
    const before = block.isRunning ? block.state : undefined;
    await this.#assertConfigured(block);
    await block.contents(); // a damaged file is told to whoever starts it
    await want(block, true);
    await this.#run(block, 'start', 'user');
    const message = this.#options.world.halted().halted
      ? `${name} is to run, and waits: all blocks are halted (\`blockhouse unhalt\`).`
      : startedMessage(name, before);
    return { message, pulse: await block.pulse() };
  }

  async stop(name: string): Promise<Steered> {
    const block = await this.#options.blocks.find(name);
    const wasRunning = block.isRunning;
    let failure: unknown;
    await want(block, false).catch((error: unknown) => {
      failure = error; // it is stopped all the same, and then told
    });
    await block.stop('stop', 'user');
    if (failure !== undefined) throw stoppedForNow(name, toBlockhouseError(failure));
    return { message: wasRunning ? `${name} is stopped.` : `${name} was not running.`, pulse: await block.pulse() };
  }

  async restart(name: string): Promise<Steered> {
    const block = await this.#options.blocks.find(name);
    await this.#assertConfigured(block);
    await block.stop('restart', 'user');
    const { message, pulse } = await this.start(name);
    return { message: this.#options.world.halted().halted ? message : `${name} was started again.`, pulse };
  }

  /** For a message that wants to be answered. Never rejects. */
  async autoStart({ name }: Block): Promise<void> {
    try {
      await this.start(name);
    } catch (error) {
      this.#options.onFault('autoStart', error, name);
    }
  }

  /** For a block whose monitor ended for something that then came to nothing. Never rejects. */
  async goOn(block: Block): Promise<void> {
    try {
      if (!this.#isOver && (await isWanted(block))) await this.#run(block, 'archive failed', 'server');
    } catch (error) {
      this.#options.onFault('goOn', error, block.name);
    }
  }

  /** Starts what is wanted running, one after the other. Never rejects. */
  async resume(entries: readonly BlockEntry[], signal: AbortSignal): Promise<void> {
    for (const entry of entries) {
      if (signal.aborted) return;
      if (entry.config.enabled !== true && entry.configError === undefined) continue;
      await this.#resumeOne(entry);
      await pause(STAGGER_MS, signal);
    }
  }

  /** S2. */
  async stopAll(): Promise<void> {
    this.#isOver = true;
    let cut: NodeJS.Timeout | undefined;
    const hurry = new Promise<void>((resolve) => {
      cut = setTimeout(resolve, CLOSING_GRACE_MS);
    });
    await Promise.all(this.#options.blocks.all().map((block) => block.stop('server stops', 'server', hurry)));
    clearTimeout(cut);
  }

  /** A damaged block starts as well where that is wanted: its monitor says what is wrong, and goes on when it was repaired. */
  async #resumeOne({ name, configError }: BlockEntry): Promise<void> {
    try {
      const block = await this.#options.blocks.find(name);
      if (configError === undefined || (await isWanted(block))) await this.#run(block, 'server start', 'server');
    } catch (error) {
      this.#options.onFault('resume', error, name);
    }
  }

  async #run(block: Block, cause: string, actor: 'user' | 'server'): Promise<void> {
    this.#assertGoing();
    this.#options.blocks.hold(block);
    await block.start(cause, actor);
  }

  /** S2. */
  #assertGoing(): void {
    if (this.#isOver) throw new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.');
  }

  async #assertConfigured(block: Block): Promise<void> {
    const { adapter } = await block.files.config.read();
    if (adapter === null) throw invalidRequest('config.adapter', `is not set: \`blockhouse config set ${block.name} 'adapter={"provider":"…","model":"…"}'\``);
    const { provider, baseURL, region } = adapter;
    const overrides = { ...(baseURL !== undefined && { baseURL }), ...(region !== undefined && { region }) };
    const { missing } = this.#options.world.gateway.readiness(provider, overrides, 'config.adapter.provider');
    if (missing !== undefined) throw invalidRequest('config.adapter', `can't be used: ${missing.message}`);
  }
}

/** A disk that refuses kept the monitor from nothing, but it takes no note of it. */
function stoppedForNow(name: string, failure: BlockhouseError): BlockhouseError {
  if (failure.code !== 'STORAGE_FULL' && failure.code !== 'STORAGE_FAILED') return failure;
  const why =
    failure.code === 'STORAGE_FULL'
      ? "config.json can't be written, so that it would start again with the server. Free some space, and stop it once more."
      : `that may not be noted: ${failure.message} Stop it once more, or it may start again with the server.`;
  const message = `${name} is stopped, but ${why}`;
  return new BlockhouseError(failure.code, message, { cause: failure });
}

/** A start ends the wait of a monitor that waits for something. */
function startedMessage(name: string, before: BlockState | undefined): string {
  if (before === undefined) return `${name} is running.`;
  return WAITS.has(before) ? `${name} was ${before}, and tries again.` : `${name} runs already.`;
}

const WAITS: ReadonlySet<BlockState> = new Set(['backoff', 'paused', 'failed']);

/** S1. */
async function want(block: Block, enabled: boolean): Promise<void> {
  await block.files.config.update((config) => ({
    value: config.enabled === enabled ? config : { ...config, enabled, updatedAt: block.at(), rev: config.rev + 1 },
    result: undefined,
  }));
}

/** False also where config.json can't tell. */
async function isWanted(block: Block): Promise<boolean> {
  try {
    return (await block.files.config.read()).enabled;
  } catch (error) {
    if (error instanceof BlockhouseError && error.code === 'BLOCK_DAMAGED') return false;
    throw error;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
