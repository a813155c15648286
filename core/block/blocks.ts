// Assembles `core.blocks`: each operation finds its block, sends a command to its actor or changes a file, and answers.

import { fromPromise } from 'xstate';
import type { ActorSystem } from '../base/abortable.ts';
import { type BlockFile, callApart } from '../bus.ts';
import { BlockhouseError, faultText, takenOver } from '../errors.ts';
import { MAX_PAGE } from '../store/parts/list-query.ts';
import type { BlockContents, Stored, Unconfirmed } from '../store/port.ts';
import { RUN_FACTS, type RunFact } from '../store/run-fact.ts';
import type { BlockList } from '../store/store.ts';
import { type BlockMachine, createBlockMachine } from './actor/machine.ts';
import type { Blocks, FollowOptions, StopFollowing } from './api.ts';
import { ApprovalIndex } from './approval-index.ts';
import { Block, blockOf } from './block.ts';
import { ChangeGate } from './change-gate.ts';
import { countQueue } from './conversation/counts.ts';
import { examine, examineStored } from './doctor.ts';
import { explained } from './explained.ts';
import { FleetFeed } from './fleet-feed.ts';
import type { HaltSwitch } from './halt.ts';
import { type Lifecycle, lifecycleOf } from './lifecycle.ts';
import { OpenBlocks } from './open-blocks.ts';
import type { OperationsContext } from './operations.ts';
import { answerOperation } from './operations-answer.ts';
import { archiveOperations, Moves, worldOf } from './operations-archive.ts';
import { chatOperations } from './operations-chat.ts';
import { configOperations } from './operations-config.ts';
import { hookOperations } from './operations-hooks.ts';
import { memoryOperations } from './operations-memory.ts';
import { notifyOperations, notifyWork } from './operations-notify.ts';
import { monitorOperations } from './operations-monitor.ts';
import { scheduleOperations, scheduleWork } from './operations-schedule.ts';
import { runOperations } from './operations-runs.ts';
import { searchOperation } from './operations-search.ts';
import { skillOperations } from './operations-skills.ts';
import { blockWork } from './operations-tools.ts';
import { Ownership } from './ownership.ts';
import { monitorActors } from './reply/actors.ts';
import type { WorkspaceContext } from './reply/block-context.ts';
import type { Candidate } from './status/candidates.ts';
import { asItStands, damagedEntry, entryOf, restingPulse } from './status/list-entry.ts';

/** Longer lists are given in pages only. */
const MAX_WHOLE_LIST = 10_000;

/** The blocks for their owner, who calls `open` before the first use and `close` after the last. */
export interface WorkspaceBlocks extends Blocks, Lifecycle {}

/** Makes the blocks of a workspace. */
export function createWorkspaceBlocks(world: WorkspaceContext, halt: HaltSwitch): WorkspaceBlocks {
  const onFault = (what: string, error: unknown, block?: string): void => {
    world.bus.emit('workspace.fault', { what, error: faultText(error), ...(block !== undefined && { block }) });
  };
  const index: BlockList = world.store.blocks.list({
    read: (name) => read(name),
    entryOf,
    asItStands: (facts, standing) => asItStands(facts, standing, world.gateway),
    damagedEntry,
    isOpen: (name) => blocks.has(name),
    running: () => blocks.running,
  });
  const blocks: OpenBlocks = new OpenBlocks({
    index,
    make: (ref, actor) =>
      new Block(
        {
          ref,
          world,
          machine: blockMachine(),
          giveBack: (claim, rest) => owners.giveBack(claim, rest),
          onStale: () => index.markStale(ref.name),
          onFault: (what, error) => onFault(what, error, ref.name),
        },
        actor,
      ),
  });
  const feed = new FleetFeed({
    list: () => index.list(),
    isStale: () => index.isStale,
    listed: () => index.listed,
    onFault: (error) => onFault('blocks', error),
    sharedNow: world.member().isShared ? () => world.now() : undefined,
  });
  const approvals = new ApprovalIndex({
    bus: world.bus,
    now: () => world.now(),
    list: () => index.list(),
    conversation: async (name) => (await blocks.find(name)).files.conversation,
    stored: world.store.approvals,
  });
  const gate = new ChangeGate();
  const owners: Ownership = new Ownership({ world, blocks, run: (block, cause) => monitors.resume(block, cause), onFault });
  const context: OperationsContext = {
    world,
    blocks,
    owners,
    gate,
    change: (name, work) => gate.pass(async () => work(await blocks.find(name)).catch(unlessLost)),
    onFault,
  };
  const moves = new Moves(context);
  movesOf.set(world, moves);
  const monitors = monitorOperations(context);
  world.schedules.provide(scheduleWork(context));
  world.notify.provide(notifyWork(context));
  const runs = runOperations(context, approvals);

  /** Reads a block for the list. A block that is not open is closed again, and reading it doesn't make its entry out of date. */
  const read = async (name: string): Promise<BlockContents> => {
    if (blocks.has(name)) return (await blocks.find(name)).contents();
    const onDamaged = (file: BlockFile, reason: string, copy: string | undefined): void => world.bus.emit('block.damaged', { block: name, file, reason, copy });
    const onRebuilt = (file: BlockFile, reason: string): void => world.bus.emit('block.rebuilt', { block: name, file, reason });
    const contents = await world.store.blocks.contents(name, { onDamaged, onRebuilt });
    return { ...contents, pulse: restingPulse(contents.pulse, contents.config, countQueue(contents.chat), world.gateway) };
  };

  /** The contents of a block with the present queue: a monitor that waits for anything but messages counts them only with its next heartbeat. */
  const contentsOf = async (name: string): Promise<BlockContents> => {
    const contents = await (await blocks.find(name)).contents();
    return { ...contents, pulse: { ...contents.pulse, queue: countQueue(contents.chat) } };
  };

  tellRuns(world, (fact) => blocks.ran(fact));
  const answering = answerOperation(context);
  world.tools?.provide(blockWork(context, { ...answering, autoStart: monitors.autoStart }));
  return {
    ...configOperations(context),
    ...chatOperations(context, monitors.autoStart),
    ...answering,
    ...searchOperation(context),
    ...runs,
    ...notifyOperations(context, runs.decide),
    ...memoryOperations(context),
    ...skillOperations(context, { names: async () => (await index.list()).map(({ name }) => name) }),
    ...scheduleOperations(context),
    ...hookOperations(context, monitors.autoStart),
    start: monitors.start,
    stop: monitors.stop,
    restart: monitors.restart,
    ...archiveOperations(context, { machine: blockMachine, moves, onStayed: monitors.goOn, start: monitors.start }),
    ...lifecycleOf(context, { index, feed, halt }),
    counts: () => index.counts(),
    list: () => index.list(),
    async page(query = {}) {
      if (Object.values(query).some((value) => value !== undefined)) return index.page(query);
      if ((await index.counts()).blocks > MAX_WHOLE_LIST) return index.page({ limit: MAX_PAGE });
      return { entries: await index.list(), next: null };
    },
    async details(name) {
      const { chat: _chat, ...files } = await contentsOf(name);
      return { name, ...files };
    },
    explain: async (name) => explained(await blocks.find(name)),
    logs: async (name) => (await blocks.find(name)).log.newest(),
    logPart: async (name, file, range = {}) => (await blocks.find(name)).log.part(file, range),
    costs: (query) => world.store.ledger.report(query),
    async check() {
      const examined = {
        workspace: world.workspace,
        ledger: world.store.ledger,
        adapters: world.gateway.adapterIds().map((id) => world.gateway.adapter(id)),
        isPriceKnown: (candidate: Candidate) => world.calls.billing.isPriceKnown(candidate),
        read,
        schedules: async (name: string) => (await blocks.find(name)).stored.schedules.read(),
        now: () => world.now(),
      };
      if (!world.member().isShared) return examine(examined);
      return examineStored(
        { ...examined, check: () => world.store.check() },
        (await index.list()).map(({ name }) => name),
      );
    },
    halted: () => halt.state(),
    halt: (body = {}) => gate.pass(() => halt.set(body)),
    unhalt: () => gate.pass(() => halt.release()),
    follow: (name, options) => follow(blocks.findNow(name), options),
    followFleet: (onChanges, since) => feed.follow(onChanges, since),
  };
}

/** LEASE_LOST never leaves the core: what another server has taken over meanwhile may be asked for again. */
function unlessLost(error: unknown): never {
  if (error instanceof BlockhouseError && error.code === 'LEASE_LOST') throw takenOver(error);
  throw error;
}

/** Where the store must be asked first, a block that does not exist is gone. */
function follow(found: Block | Promise<Block>, options: FollowOptions): StopFollowing {
  if (!(found instanceof Promise)) return found.follow(options);
  let stop: StopFollowing | undefined;
  let isOver = false;
  found.then(
    (block) => {
      if (!isOver) stop = block.follow(options);
    },
    () => {
      if (!isOver) callApart(() => options.onGone?.());
    },
  );
  return () => {
    isOver = true;
    stop?.();
  };
}

/** What happens in runs, of this server and of others, goes to those who follow their blocks. */
function tellRuns({ bus, store }: WorkspaceContext, ran: (fact: RunFact) => void): void {
  for (const name of RUN_FACTS) {
    bus.on(name, (fact) => {
      const named = { ...fact, name } as RunFact;
      ran(named);
      store.signals.tellRun(named);
    });
  }
  store.signals.onRun(ran);
}

/** All blocks share one machine, because a definition for each would need more memory than the rest of a block. Its work finds its block by the actor system. */
let machine: BlockMachine | undefined;
const movesOf = new WeakMap<WorkspaceContext, Moves>();

/** Made for the first block: it takes some milliseconds, and the start of a server would wait for them. */
function blockMachine(): BlockMachine {
  const moves = (system: ActorSystem): Moves => {
    const found = movesOf.get(worldOf(system));
    if (found === undefined) throw new Error('The block belongs to no workspace.');
    return found;
  };
  machine ??= createBlockMachine((system) => worldOf(system).now()).provide({
    actors: {
      ...monitorActors(blockOf),
      archive: fromPromise<Stored, { readonly wasRunning: boolean }>(({ system, input }) => moves(system).archive(blockOf(system), input.wasRunning)),
      restore: fromPromise<Unconfirmed, { readonly archiveName: string; readonly name: string }>(({ system, input }) => moves(system).restore(input)),
      remove: fromPromise<Unconfirmed, { readonly archiveName: string }>(({ system, input }) => moves(system).remove(input)),
    },
    actions: {
      openRun: ({ system }) => blockOf(system).openRun(),
      closeRun: ({ system }) => blockOf(system).closeRun(),
    },
  });
  return machine;
}
