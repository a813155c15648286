// Starts and stops monitors for people and for the server.
// Where several servers share a workspace, a monitor runs with the server that has the block; this one takes it, or asks the other one.
//
// wish-first: `enabled` in config.json is the wanted state. It is written before a monitor starts or stops; the end of the server doesn't change it.
import { BlockhouseError, invalidRequest, toBlockhouseError } from '../errors.ts';
import type { BlockPulse, BlockState } from '../schemas/block-pulse.ts';
import type { Blocks } from './api.ts';
import type { Block } from './block.ts';
import type { OperationsContext } from './operations.ts';
import { candidatesOf, missingFor } from './status/candidates.ts';
import { isConfigured, unlessDamaged } from './status/readiness.ts';
import { messageForBlock } from './status/reasons.ts';

interface Steered {
  readonly message: string;
  readonly pulse: BlockPulse;
}

/** How monitors are started and stopped, by people and by the server. */
export interface MonitorOperations extends Pick<Blocks, 'start' | 'stop' | 'restart'> {
  /** Starts the monitor for a new message, if the configuration has `autoStart`. Never rejects. */
  autoStart(block: Block): Promise<void>;
  /** Starts a monitor again that was stopped for an operation that failed. Never rejects. */
  goOn(block: Block): Promise<void>;
  /** Starts the monitor of a block that this server has, if `enabled` is set. */
  resume(block: Block, cause: string): Promise<void>;
}

/** The operations on monitors. */
export function monitorOperations(context: OperationsContext): MonitorOperations {
  const { blocks, owners, change, gate, onFault } = context;

  const start = async (block: Block): Promise<Steered> => {
    gate.assertOpen(); // wish-first, but not at the end
    const standing = await block.standing();
    const before = standing.isRunning ? standing.state : undefined;
    await assertConfigured(block);
    await block.contents(); // rejects with BLOCK_DAMAGED for a damaged file
    await want(block, true);
    // What works elsewhere works on; what waits there is tried again here.
    if (before === undefined || WAITS.has(before) || (await owners.tryTake(block))) await run(block, 'start', 'user');
    const message = block.world.halted().halted
      ? `${block.name} is started, but waits because all blocks are halted. \`blockhouse unhalt\` lets them continue.`
      : startedMessage(block.name, before);
    return { message, pulse: await block.pulse() };
  };

  const run = async (block: Block, cause: string, actor: 'user' | 'server'): Promise<void> => {
    gate.assertOpen();
    blocks.hold(block);
    await owners.take(block);
    await block.start(cause, actor);
  };

  const restart = async (block: Block): Promise<Steered> => {
    await assertConfigured(block);
    await end(block, 'restart');
    const { message, pulse } = await start(block);
    return { message: block.world.halted().halted ? message : `${block.name} was restarted.`, pulse };
  };

  /** Resolves when no monitor runs, here or elsewhere. */
  const end = async (block: Block, cause: string): Promise<void> => {
    await block.stop(cause, 'user');
    await owners.waitFor(block.ref, async () => (await block.stored.standing())?.heldBy == null);
  };

  const stop = async (block: Block): Promise<Steered> => {
    const { name } = block;
    const { isRunning: wasRunning } = await block.standing();
    let failure: unknown;
    await want(block, false).catch((error: unknown) => {
      failure = error; // the monitor is stopped anyway; the error comes after that
    });
    await end(block, 'stop');
    if (failure !== undefined) throw stoppedForNow(name, toBlockhouseError(failure));
    return { message: wasRunning ? `${name} is stopped.` : `${name} was not running.`, pulse: await block.pulse() };
  };

  return {
    start: (name) => change(name, start),
    stop: (name) => change(name, stop),
    restart: (name) => change(name, restart),
    async autoStart(block) {
      try {
        await start(block);
      } catch (error) {
        onFault('autoStart', error, block.name);
      }
    },
    async goOn(block) {
      try {
        if (!gate.isShut && (await isWanted(block))) await run(block, 'archive failed', 'server');
      } catch (error) {
        onFault('goOn', error, block.name);
      }
    },
    /** Even a damaged block is started: its monitor reports the damage and continues after a repair. */
    async resume(block, cause) {
      if (!(await isWanted(block))) return;
      gate.assertOpen();
      blocks.hold(block);
      // What another server has taken meanwhile is not asked back: it works on it.
      if (await owners.tryTake(block)) await block.start(cause, 'server');
    },
  };
}

/** Names what the first model lacks, unless a fallback can answer. */
async function assertConfigured(block: Block): Promise<void> {
  const config = await block.files.config.read();
  const [first] = candidatesOf(config);
  if (first === undefined)
    throw invalidRequest('config.adapter', `is not set; set it with \`blockhouse config set ${block.name} adapter.provider=<id> adapter.model=<model>\``);
  const { gateway } = block.world;
  if (isConfigured(gateway, config)) return;
  const missing = missingFor(gateway, first, 'config.adapter.provider');
  if (missing !== undefined) throw invalidRequest('config.adapter', `can't be used: ${messageForBlock(missing)}`);
}

/** The monitor has ended, but config.json still wants it running, because the disk refused or the file is damaged. */
function stoppedForNow(name: string, failure: BlockhouseError): BlockhouseError {
  if (failure.code === 'BLOCK_DAMAGED') {
    const text = `${name} is stopped, but this can't be saved, so it would start again with the server. ${failure.message} Then stop it again.`;
    return new BlockhouseError(failure.code, text, { cause: failure });
  }
  if (failure.code !== 'STORAGE_FULL' && failure.code !== 'STORAGE_FAILED') return failure;
  const why =
    failure.code === 'STORAGE_FULL'
      ? "config.json can't be written, so it would start again with the server. Free some space and stop it again."
      : `this may not have been saved to config.json. ${failure.message} Stop it again, or it may start with the server.`;
  return new BlockhouseError(failure.code, `${name} is stopped, but ${why}`, { cause: failure });
}

/** The message of a start, which also ends the wait of a monitor that waits. */
function startedMessage(name: string, before: BlockState | undefined): string {
  if (before === undefined) return `${name} is running.`;
  return WAITS.has(before) ? `${name} was in state ${before} and is trying again.` : `${name} is already running.`;
}

const WAITS: ReadonlySet<BlockState> = new Set(['backoff', 'paused', 'waiting-approval', 'failed']);

/** wish-first. */
async function want(block: Block, enabled: boolean): Promise<void> {
  await block.files.config.update((config) => ({
    value: config.enabled === enabled ? config : { ...config, enabled, updatedAt: block.at(), rev: config.rev + 1 },
    result: undefined,
  }));
}

/** False if config.json is damaged. */
async function isWanted(block: Block): Promise<boolean> {
  const config = await block.files.config.read().catch(unlessDamaged);
  return config?.enabled === true;
}
