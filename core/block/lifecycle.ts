// Opens the blocks of a workspace when the server starts, wakes those that wait, and closes all of them when the server ends.
//
// nothing-after-close: `close` refuses new changes and starts of monitors, and waits for the changes that have begun. After it nothing is written.
import type { BlockList } from '../store/store.ts';
import type { FleetFeed } from './fleet-feed.ts';
import type { HaltSwitch } from './halt.ts';
import type { OperationsContext } from './operations.ts';
import { resumeRename } from './operations-rename.ts';

/** How long the replies of all blocks may go on when the server ends. */
const CLOSING_GRACE_MS = 3000;
/** How often credentials and the kill switch are checked while a monitor waits for them. */
const LOOK_EVERY_MS = 1000;

/** What the owner of the blocks calls. */
export interface Lifecycle {
  /** Makes the folders, and starts the monitors of blocks with `enabled` in the background. */
  open(): Promise<void>;
  /** Stops every monitor; `enabled` stays as it is. */
  close(): Promise<void>;
}

interface Parts {
  readonly index: BlockList;
  readonly feed: Pick<FleetFeed, 'close'>;
  readonly halt: HaltSwitch;
}

/** The start and the end of all blocks of a workspace. */
export function lifecycleOf({ world, blocks, owners, gate, onFault }: OperationsContext, { index, feed, halt }: Parts): Lifecycle {
  let watchdog: NodeJS.Timeout | undefined;
  const wake = (type: 'settings.changed' | 'halt.changed', cause: string): void => {
    for (const block of blocks.all()) block.send({ type, cause, actor: 'user' });
  };
  const onCredentials = (): void => {
    index.markAllStale();
    wake('settings.changed', 'credentials changed');
  };
  const onHalt = ({ halted }: { readonly halted: boolean }): void => {
    wake('halt.changed', halted ? 'halt' : 'unhalt');
    if (halted) world.tools?.host.halt().catch((error: unknown) => onFault('tools', error));
  };
  /** Credentials are checked only while a monitor waits for them. */
  const look = (): void => {
    halt.state();
    if (blocks.all().some((block) => block.isRunning && (block.state === 'failed' || block.state === 'paused'))) world.refreshCredentials();
  };
  return {
    async open() {
      const renamed = await world.store.blocks.open();
      if (renamed !== undefined) await resumeRename(world, renamed).catch((error: unknown) => onFault(`rename ${renamed.from} to ${renamed.to}`, error));
      world.bus.on('credentials.changed', onCredentials);
      world.bus.on('workspace.halted', onHalt);
      // auth.json and the kill switch have no watcher, so this timer checks them for monitors that wait.
      watchdog = setInterval(look, LOOK_EVERY_MS).unref();
      await world.notify.open();
      owners.open();
    },
    /** nothing-after-close. */
    async close() {
      gate.shut();
      feed.close();
      clearInterval(watchdog);
      world.bus.off('credentials.changed', onCredentials);
      world.bus.off('workspace.halted', onHalt);
      await world.schedules.close();
      await owners.close();
      await withGrace((hurry) => blocks.close(hurry));
      await gate.emptied();
      await Promise.all(blocks.all().map((block) => block.close()));
      await world.notify.close();
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
