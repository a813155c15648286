// Assembles `core.blocks`: each operation finds its block, sends a command to its actor or changes a file, and answers.
//
// nothing-after-close: `close` refuses new changes and starts of monitors, and waits for the changes that have begun. After it nothing is written.
import { join } from 'node:path';
import { fromPromise } from 'xstate';
import type { BlockFile } from '../bus.ts';
import { BlockhouseError } from '../errors.ts';
import { monitorActors } from '../monitor/actors.ts';
import { reportCosts } from '../monitor/costs-report.ts';
import { newestLogs } from '../workspace/block-log.ts';
import type { BlockDetails, Blocks } from './api.ts';
import { Block, blockOf, restingPulse } from './block.ts';
import type { WorkspaceContext } from './block-context.ts';
import { BlockFolders, type Stored, type Unconfirmed } from './block-folders.ts';
import { BlockIndex, sweep } from './block-index.ts';
import { ChangeGate } from './change-gate.ts';
import { countQueue } from './chat-file.ts';
import { examine } from './doctor.ts';
import { explained } from './explained.ts';
import { type BlockContents, openFiles, readContents } from './files.ts';
import type { HaltSwitch } from './halt.ts';
import { type BlockMachine, createBlockMachine } from './machine.ts';
import { OpenBlocks } from './open-blocks.ts';
import type { OperationsContext } from './operations.ts';
import { archiveOperations, Moves } from './operations-archive.ts';
import { chatOperations } from './operations-chat.ts';
import { configOperations } from './operations-config.ts';
import { memoryOperations } from './operations-memory.ts';
import { type MonitorOperations, monitorOperations } from './operations-monitor.ts';

/** How long the replies of all blocks may go on when the server ends. */
const CLOSING_GRACE_MS = 3000;
/** How often credentials and the kill switch are checked while a monitor waits for them. */
const LOOK_EVERY_MS = 1000;

/** The blocks for their owner, who calls `open` before the first use and `close` after the last. */
export interface WorkspaceBlocks extends Blocks {
  /** Makes the folders, and starts the monitors of blocks with `enabled` in the background. */
  open(): Promise<void>;
  /** Stops every monitor; `enabled` stays as it is. */
  close(): Promise<void>;
}

/** Makes the blocks of a workspace. */
export function createWorkspaceBlocks(world: WorkspaceContext, halt: HaltSwitch): WorkspaceBlocks {
  const onFault = (what: string, error: unknown, block?: string): void => tellFault(world, what, error, block);
  const folders = new BlockFolders(world.workspace);
  const index: BlockIndex = new BlockIndex({
    folder: folders.blocks,
    read: (name) => read(name),
    isOpen: (name) => blocks.has(name),
    now: () => world.now(),
    onFault,
  });
  const blocks: OpenBlocks = new OpenBlocks({
    index,
    make: (name, actor) => new Block({ name, folder: folders.folderOf(name), world, machine, onStale: (stale) => index.markStale(stale) }, actor),
    sweep: (name) => sweep(folders.folderOf(name), onFault),
  });
  const gate = new ChangeGate();
  const context: OperationsContext = {
    world,
    folders,
    blocks,
    gate,
    change: (name, work) => gate.pass(async () => work(await blocks.find(name))),
    onMoved: () => index.rescan(),
    onFault,
  };
  const machine = provideWork(
    createBlockMachine(() => world.now()),
    new Moves(context),
  );
  const monitors = monitorOperations(context);

  /** Reads a block for the list. A block that is not open is closed again, and reading it doesn't make its entry out of date. */
  const read = async (name: string): Promise<BlockContents> => {
    if (blocks.has(name)) return (await blocks.find(name)).contents();
    blocks.prepare(name);
    const onDamaged = (file: BlockFile, reason: string, copy: string | undefined): void => world.bus.emit('block.damaged', { block: name, file, reason, copy });
    const onRebuilt = (file: BlockFile, reason: string): void => world.bus.emit('block.rebuilt', { block: name, file, reason });
    const files = openFiles(folders.folderOf(name), name, { onChanged: () => undefined, onDamaged, onRebuilt }, () => new Date(world.now()).toISOString());
    const contents = await readContents(files);
    return { ...contents, pulse: restingPulse(contents.pulse, contents.config, contents.chat, world.gateway) };
  };

  const details = async (name: string): Promise<BlockDetails> => {
    const { config, memory, costs, pulse, chat } = await (await blocks.find(name)).contents();
    // A monitor that waits for anything but messages counts them only with its next heartbeat.
    return { name, config, memory, costs, pulse: { ...pulse, queue: countQueue(chat) } };
  };

  return {
    ...configOperations(context),
    ...chatOperations(context, monitors.autoStart),
    ...memoryOperations(context),
    start: monitors.start,
    stop: monitors.stop,
    restart: monitors.restart,
    ...archiveOperations(context, { machine, onStayed: monitors.goOn }),
    ...lifeOf(context, { index, halt, monitors }),
    counts: () => ({ blocks: index.size, monitorsRunning: blocks.running }),
    list: () => index.list(),
    details,
    explain: async (name) => explained(await blocks.find(name)),
    async logs(name) {
      const block = await blocks.find(name);
      await block.log.flush();
      return newestLogs(join(block.folder, 'logs'));
    },
    costs: ({ by, block }) => reportCosts(world.ledger.lines(), by, block),
    check: () =>
      examine({ workspace: world.workspace, folders, ledger: world.ledger, adapters: world.gateway.adapterIds().map((id) => world.gateway.adapter(id)), read }),
    halted: () => halt.state(),
    halt: (body = {}) => gate.pass(() => halt.set(body)),
    unhalt: () => gate.pass(() => halt.release()),
    follow: (name, options) => blocks.findNow(name).follow(options),
  };
}

interface Parts {
  readonly index: BlockIndex;
  readonly halt: HaltSwitch;
  readonly monitors: MonitorOperations;
}

/** `open` and `close`. */
function lifeOf({ world, folders, blocks, gate, onFault }: OperationsContext, { index, halt, monitors }: Parts): Pick<WorkspaceBlocks, 'open' | 'close'> {
  const closing = new AbortController();
  let resuming: Promise<void> = Promise.resolve();
  let watchdog: NodeJS.Timeout | undefined;
  const wake = (type: 'settings.changed' | 'halt.changed', cause: string): void => {
    for (const block of blocks.all()) block.send({ type, cause, actor: 'user' });
  };
  const onCredentials = (): void => {
    index.markAllStale();
    wake('settings.changed', 'credentials changed');
  };
  const onHalt = ({ halted }: { readonly halted: boolean }): void => wake('halt.changed', halted ? 'halt' : 'unhalt');
  /** Credentials are checked only while a monitor waits for them. */
  const look = (): void => {
    halt.state();
    if (blocks.all().some((block) => block.isRunning && (block.state === 'failed' || block.state === 'paused'))) world.refreshCredentials();
  };
  return {
    async open() {
      await folders.open(onFault);
      world.bus.on('credentials.changed', onCredentials);
      world.bus.on('workspace.halted', onHalt);
      // auth.json and the kill switch have no watcher, so this timer checks them for monitors that wait.
      watchdog = setInterval(look, LOOK_EVERY_MS).unref();
      resuming = index
        .list()
        .then((entries) => monitors.resume(entries, closing.signal))
        .catch((error: unknown) => onFault('resume', error));
    },
    /** nothing-after-close. */
    async close() {
      gate.shut();
      closing.abort();
      clearInterval(watchdog);
      world.bus.off('credentials.changed', onCredentials);
      world.bus.off('workspace.halted', onHalt);
      await resuming;
      await withGrace((hurry) => blocks.close(hurry));
      await gate.emptied();
      await Promise.all(blocks.all().map((block) => block.close()));
    },
  };
}

async function withGrace(end: (hurry: Promise<void>) => Promise<void>): Promise<void> {
  let cut: NodeJS.Timeout | undefined;
  const hurry = new Promise<void>((resolve) => {
    cut = setTimeout(resolve, CLOSING_GRACE_MS);
  });
  await end(hurry);
  clearTimeout(cut);
}

/** One machine for all blocks, because a definition for each would need more memory than the rest of a block. */
function provideWork(machine: BlockMachine, moves: Moves): BlockMachine {
  return machine.provide({
    actors: {
      ...monitorActors(blockOf),
      archive: fromPromise<Stored, { readonly wasRunning: boolean }>(({ system, input }) => moves.archive(blockOf(system), input.wasRunning)),
      restore: fromPromise<Unconfirmed, { readonly archiveName: string; readonly name: string }>(({ input }) => moves.restore(input)),
      remove: fromPromise<Unconfirmed, { readonly archiveName: string }>(({ input }) => moves.remove(input)),
    },
    actions: {
      openRun: ({ system }) => blockOf(system).openRun(),
      closeRun: ({ system }) => blockOf(system).closeRun(),
    },
  });
}

function tellFault({ bus }: WorkspaceContext, what: string, error: unknown, block?: string): void {
  const text = error instanceof BlockhouseError ? error.message : ((error as NodeJS.ErrnoException).code ?? String(error));
  bus.emit('workspace.fault', { what, error: text, ...(block !== undefined && { block }) });
}
