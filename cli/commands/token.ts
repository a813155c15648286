// `blockhouse token`: the bearer token of the workspace, alone on stdout.
import { existsSync } from 'node:fs';
import { Command, Option } from 'clipanion';
import type { ProcessConfig } from '../../core/index.ts';
import { BaseCommand } from '../command/command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';

/** How long the server is waited for. */
const PATIENCE_MS = 2000;

/** Prints the token, or `{token}`. */
export class TokenCommand extends BaseCommand {
  static override readonly paths = [['token']];
  static override readonly usage = Command.Usage({
    category: 'Server',
    description: 'Print the token that requests must carry',
    details: `
      Makes one if there is none yet, or takes that of the file in BLOCKHOUSE_TOKEN_FILE. \`--new-token\` replaces it: a running server accepts the new one
      within a second and refuses the old one. With BLOCKHOUSE_STORE, so do all servers of that database.
    `,
    examples: [['Keep it in a variable', 'TOKEN=$($0 token)']],
  });

  newToken = Option.Boolean('--new-token', false, { description: 'Write a new token and print it' });

  protected override async run(): Promise<ExitKind> {
    const config = await this.config();
    const [{ inWorkspace, writeInWorkspace }, { givenToken }] = await Promise.all([import('../serve/place.ts'), import('../serve/secret-files.ts')]);
    const given = givenToken(this.context.env);
    if (this.newToken && given !== undefined)
      throw new CliError('usage', 'The token comes from the file that BLOCKHOUSE_TOKEN_FILE names. Write a new one there, and start the server again.');
    if (this.newToken && config.store === undefined) await assertInFolder(config.workspace);
    const token = await (this.newToken ? writeInWorkspace : inWorkspace)(config, () =>
      this.newToken && config.store !== undefined ? this.#renewed(config) : tokenOf(config.workspace, this.newToken, given),
    );
    await this.print({ token }, [token]);
    return 'ok';
  }

  /** A new token for all servers of a database, whose text stays on this machine. */
  async #renewed(config: ProcessConfig): Promise<string> {
    const { createStoredCore } = await import('../compose.ts');
    const core = await createStoredCore(config, this.context.env);
    try {
      return (await core.token?.renew()) ?? '';
    } finally {
      await core.close();
    }
  }
}

/** A new token in the folder would end nothing where the server has its token in a database. Throws a CliError then. */
async function assertInFolder(workspace: string): Promise<void> {
  const { readLock } = await import('../../core/client-parts.ts');
  const holder = existsSync(workspace) ? await readLock(workspace) : undefined;
  if (holder === undefined || holder.url === null || (await storeOf(holder.url)) !== 'postgres') return;
  throw new CliError(
    'place',
    `The server of ${workspace} keeps its token in a database, so a token of this folder would not replace it. Set BLOCKHOUSE_STORE as the server has it, and try again.`,
  );
}

/** What keeps the workspace of a server, as its health says; undefined for one that does not answer. */
async function storeOf(url: string): Promise<unknown> {
  const { json } = await import('node:stream/consumers');
  const { get } = await import('node:http');
  return new Promise((resolve) => {
    const request = get(new URL('/v1/health', url), { timeout: PATIENCE_MS }, (response) => {
      json(response).then(
        (health) => resolve((health as { store?: { kind?: unknown } }).store?.kind),
        () => resolve(undefined),
      );
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(undefined));
  });
}

async function tokenOf(workspace: string, isNew: boolean, given: string | undefined): Promise<string> {
  const { ApiToken, createBus, openSettings } = await import('../../core/client-parts.ts');
  const token = new ApiToken(openSettings(workspace), createBus());
  if (isNew) return token.renew();
  await token.ensure(given);
  return token.reveal();
}
