// `blockhouse status`: the server of the workspace.
import { existsSync } from 'node:fs';
import { Command } from 'clipanion';
import type { LockHolder } from '../../core/index.ts';
import { Api } from '../client/api.ts';
import { Client, runningServer } from '../client/client.ts';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { plural, relative } from '../terminal/format.ts';
import { columns, oneLine } from '../terminal/output.ts';

/** Prints `{running, workspace, url, pid, startedAt, version, blocks, monitorsRunning, halted, approvals}`, or a text. */
export class StatusCommand extends ServerCommand {
  static override readonly paths = [['status']];
  static override readonly usage = Command.Usage({
    category: 'Server',
    description: 'Say whether the server runs, and where',
    details: 'Ends with exit code 6 when no server runs on the workspace, or when it does not answer.',
    examples: [
      ['Does it run?', '$0 status'],
      ['In a script', '$0 status --json'],
    ],
  });

  protected override run(): Promise<ExitKind> {
    return this.interruptible(async (signal) => {
      const { workspace } = await this.config();
      const { readLock } = await import('../../core/client-parts.ts');
      const place = existsSync(workspace) ? await runningServer(workspace) : undefined;
      const holder = place === undefined ? undefined : await readLock(workspace);
      if (place === undefined || holder === undefined) {
        await this.print({ running: false, workspace }, []);
        await this.say(oneLine(`No server is running for the workspace ${workspace}; \`${this.hint('serve')}\` starts one.`));
        return 'server';
      }
      const api = new Api(new Client(place, signal));
      const { blocks, monitorsRunning, version, gatewayOnly } = await api.health();
      const { halted } = gatewayOnly === true ? { halted: false } : await api.halted();
      const approvals = gatewayOnly === true ? 0 : await waiting(api);
      const { url, pid, startedAt } = holder;
      const shown = { running: true, workspace, url, pid, startedAt, version, blocks, monitorsRunning, halted, approvals };
      await this.print(
        shown,
        this.json ? [] : this.#lines(workspace, holder, gatewayOnly === true ? undefined : { blocks, monitorsRunning, halted, approvals }),
      );
      return 'ok';
    });
  }

  #lines(
    workspace: string,
    { url, pid, startedAt, version }: LockHolder,
    blocks?: { readonly blocks: number; readonly monitorsRunning: number; readonly halted: boolean; readonly approvals: number },
  ): string[] {
    const rows = [
      ['server', `${url}, version ${version}`],
      ['process', `${pid}, started ${relative(startedAt, Date.now())}`],
      ['workspace', workspace],
      ['blocks', blocks === undefined ? 'none: it serves the gateway alone' : `${blocks.blocks}, ${plural(blocks.monitorsRunning, 'monitor')} running`],
      ...(blocks?.halted === true ? [['halted', `no monitor calls a model; \`${this.hint('unhalt')}\` lets them continue`]] : []),
      ...(blocks === undefined || blocks.approvals === 0
        ? []
        : [
            [
              'approvals',
              `${plural(blocks.approvals, 'call waits', 'calls wait')} for you; \`${this.hint('approvals')}\` lists ${blocks.approvals === 1 ? 'it' : 'them'}`,
            ],
          ]),
      ['page', this.hint('open')],
    ];
    return columns(rows.map(([name = '', text = '']) => [name, oneLine(text)]));
  }
}

/** A server of an earlier version, which still runs after an update, knows no approvals; its status is looked at for that very reason. */
async function waiting(api: Api): Promise<number> {
  try {
    return (await api.approvals()).length;
  } catch (error) {
    if (error instanceof CliError && error.body?.code === 'NOT_FOUND') return 0;
    throw error;
  }
}
