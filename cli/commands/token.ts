// `blockhouse token`: the bearer token of the workspace, alone on stdout.
import { Command, Option } from 'clipanion';
import type { ProcessConfig } from '../../core/index.ts';
import { BaseCommand } from '../command/command.ts';
import type { ExitKind } from '../terminal/exit-codes.ts';

/** Prints the token, or `{token}`. */
export class TokenCommand extends BaseCommand {
  static override readonly paths = [['token']];
  static override readonly usage = Command.Usage({
    category: 'Server',
    description: 'Print the token that requests must carry',
    details: `
      Makes one if there is none yet. \`--new-token\` replaces it: a running server accepts the new one
      within a second and refuses the old one. With BLOCKHOUSE_STORE, so do all servers of that database.
    `,
    examples: [['Keep it in a variable', 'TOKEN=$($0 token)']],
  });

  newToken = Option.Boolean('--new-token', false, { description: 'Write a new token and print it' });

  protected override async run(): Promise<ExitKind> {
    const config = await this.config();
    const { inWorkspace } = await import('../compose.ts');
    const token = await inWorkspace(config, () =>
      this.newToken && config.store !== undefined ? this.#renewed(config) : tokenOf(config.workspace, this.newToken),
    );
    await this.print({ token }, [token]);
    return 'ok';
  }

  /** A new token for all servers of a database, whose text stays on this machine. */
  async #renewed(config: ProcessConfig): Promise<string> {
    const [{ connectStore }, { createConfiguredCore }] = await Promise.all([import('../../core/index.ts'), import('../compose.ts')]);
    const store = config.store === undefined ? undefined : await connectStore(config.store.url, config.store);
    const core = await createConfiguredCore(config, this.context.env, store);
    try {
      return (await core.token?.renew()) ?? '';
    } finally {
      await core.close();
    }
  }
}

async function tokenOf(workspace: string, isNew: boolean): Promise<string> {
  const { ApiToken, createBus, openSettings } = await import('../../core/index.ts');
  const token = new ApiToken(openSettings(workspace), createBus());
  if (isNew) return token.renew();
  await token.ensure();
  return token.reveal();
}
