// `blockhouse start`, `stop`, `restart` and `reset`: the monitors of blocks. `stop` without a block ends the server.
import { Command, Option } from 'clipanion';
import type { BlockEntry, BlockState } from '../../core/index.ts';
import type { MonitorAction } from '../client/api.ts';
import { DestructiveCommand } from '../command/destructive-command.ts';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { oneLine } from '../terminal/output.ts';

const category = 'Blocks';

abstract class MonitorCommand extends ServerCommand {
  names = Option.Rest({ name: 'block' });

  protected abstract readonly action: MonitorAction;
  protected abstract readonly all: boolean;
  /** Whether `--all` means this block. */
  protected abstract concerns(block: BlockEntry): boolean;

  protected override async run(): Promise<ExitKind> {
    if (this.all === this.names.length > 0) throw new CliError('usage', this.all ? 'Give either names or --all, not both.' : 'Name a block or give --all.');
    return this.withServer(async (api) => {
      const names = this.all ? (await api.list()).blocks.filter((block) => this.concerns(block)).map(({ name }) => name) : this.names;
      if (names.length === 0) await this.say(`There is no block to ${this.action}.`);
      return this.forEach(names, async (name) => {
        const { message, pulse } = await api.monitor(name, this.action);
        return { success: true, message, state: pulse.state };
      });
    });
  }
}

const RESTING: readonly BlockState[] = ['stopped', 'unconfigured'];

function isRunning({ state }: BlockEntry): boolean {
  return !RESTING.includes(state);
}

/** Prints `{results: [{name, success, message, state}]}`, or a line for each block. */
export class StartCommand extends MonitorCommand {
  static override readonly paths = [['start']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Start the monitors of blocks, so that they answer',
    details: `
      A monitor answers the messages of its block, one after the other. It starts again with the server, until \`$0 stop\`. A monitor that
      runs already is left alone.
    `,
    examples: [
      ['One block', '$0 start my-block'],
      ['Several', '$0 start my-block another'],
      ['All of them', '$0 start --all'],
    ],
  });

  all = Option.Boolean('--all', false, { description: 'Every block' });

  protected override readonly action = 'start';

  protected override concerns(): boolean {
    return true;
  }
}

/** Prints as `start` does; without a name `{stopped, pid}`. */
export class StopCommand extends MonitorCommand {
  static override readonly paths = [['stop']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Stop the monitors of blocks, or the server',
    details: `
      A reply that is being written has 10 s to finish; after that it ends and its text so far is kept. Waiting messages stay.

      Without a block, it ends the server, as Ctrl-C in its terminal does. Blocks that run go on when the server starts again.
    `,
    examples: [
      ['One block', '$0 stop my-block'],
      ['All of them', '$0 stop --all'],
      ['The server', '$0 stop'],
    ],
  });

  all = Option.Boolean('--all', false, { description: 'Every block that runs' });

  protected override readonly action = 'stop';

  protected override run(): Promise<ExitKind> {
    return this.names.length === 0 && !this.all ? this.#stopServer() : super.run();
  }

  #stopServer(): Promise<ExitKind> {
    return this.interruptible(async (signal) => {
      const { stopServer } = await import('../client/stop-server.ts');
      const { workspace } = await this.config();
      const pid = await stopServer(workspace, signal);
      await this.print({ stopped: pid !== undefined, pid: pid ?? null }, []);
      await this.say(
        oneLine(pid === undefined ? `No server is running for the workspace ${workspace}.` : `Stopped the server of ${workspace} (process ${pid}).`),
      );
      return pid === undefined ? 'server' : 'ok';
    });
  }

  /** A block with `enabled` would start with the server. */
  protected override concerns(block: BlockEntry): boolean {
    return isRunning(block) || block.config.enabled === true;
  }
}

/** Prints as `start` does. */
export class RestartCommand extends MonitorCommand {
  static override readonly paths = [['restart']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Stop and start the monitors of blocks',
    details: 'With `--all`, stopped blocks stay stopped.',
    examples: [
      ['One block', '$0 restart my-block'],
      ['All that run', '$0 restart --all'],
    ],
  });

  all = Option.Boolean('--all', false, { description: 'Every block that runs' });

  protected override readonly action = 'restart';

  protected override concerns(block: BlockEntry): boolean {
    return isRunning(block);
  }
}

/** Prints `{results: [{name, success, message, cleared}]}`, or a line for each block. */
export class ResetCommand extends DestructiveCommand {
  static override readonly paths = [['reset']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Clear what blocks remember, and their costs',
    details: `
      Configuration and chat history stay, but the model does not see the old messages any more. A running monitor continues.
      Spending caps still count what was spent. At a terminal, it asks first; elsewhere it needs \`--yes\`.
    `,
    examples: [
      ['Start over', '$0 reset my-block'],
      ['Delete the logs, too', '$0 reset my-block --hard'],
    ],
  });

  hard = Option.Boolean('--hard', false, { description: 'Delete the logs, too' });
  names = Option.Rest({ name: 'block', required: 1 });

  protected override async run(): Promise<ExitKind> {
    const lost = `what ${this.names.map(oneLine).join(', ')} remembers, and its costs${this.hard ? ' and logs' : ''}`;
    return this.onceAgreed(`Clear ${lost}?`, `This clears ${lost}.`, () =>
      this.withServer((api) => this.forEach(this.names, (name) => api.reset(name, this.hard))),
    );
  }
}
