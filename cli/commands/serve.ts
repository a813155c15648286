// `blockhouse serve`: runs the server until Ctrl-C.
import { Command, Option } from 'clipanion';
import type { ProcessConfig } from '../../core/index.ts';
import { BaseCommand } from '../command/command.ts';
import type { RunningServer } from '../compose.ts';
import { banner } from '../serve/banner.ts';
import { pageLink } from '../serve/page-link.ts';
import type { ExitKind } from '../terminal/exit-codes.ts';
import { isColored, styleFor, toJson, writeLines } from '../terminal/output.ts';
import { shellWord } from '../terminal/shell-word.ts';

/** With `--json`, prints `{url, workspace, version, pid}` once the server listens. */
export class ServeCommand extends BaseCommand {
  static override readonly paths = [['serve']];
  static override readonly usage = Command.Usage({
    category: 'Server',
    description: 'Start the server',
    details: `
      Serves the gateway (\`/v1\`) and the blocks (\`/api\`) until Ctrl-C or SIGTERM. At a terminal it shows how to call it. The log goes
      to stderr, as JSON lines unless stderr is a terminal. With \`--json\`, one document with the URL goes to stdout once it listens.

      When it ends, it takes no new requests, and lets open answers go on for 3.5 s (\`BLOCKHOUSE_DRAIN_MS\`) and the replies of blocks for
      3 s. Then it ends the rest with an error, but keeps what blocks have written so far. The exit code is 0. A second signal ends it at
      once, with exit code 1.
    `,
    examples: [
      ['On the default port', '$0 serve'],
      ['On a free port', '$0 serve --port 0'],
      ['The gateway alone, in two processes', '$0 serve --gateway-only --workers 2'],
      ['Four whole servers on one port, with BLOCKHOUSE_STORE set', '$0 serve --workers 4'],
      ["With Ollama's API on a port of its own", '$0 serve --ollama-port 11435'],
    ],
  });

  host = Option.String('--host', { description: 'Address to listen on; default: BLOCKHOUSE_HOST, or 127.0.0.1' });
  port = Option.String('--port', { description: '0 picks a free one; default: BLOCKHOUSE_PORT, or 8420' });
  ollamaPort = Option.String('--ollama-port', {
    description: "Port of a second server on 127.0.0.1 with Ollama's API alone; default: BLOCKHOUSE_OLLAMA_PORT, or none",
  });
  publicOrigin = Option.String('--public-origin', {
    description: 'The https origin under which a proxy serves it; default: BLOCKHOUSE_PUBLIC_ORIGIN, or none',
  });
  store = Option.String('--store', { description: 'The database that keeps the workspace; default: BLOCKHOUSE_STORE, or the folder' });
  allowRemote = Option.Boolean('--allow-remote', { description: 'Allow an address that other machines can reach' });
  gatewayOnly = Option.Boolean('--gateway-only', { description: 'Serve the gateway alone, without blocks' });

  workers = Option.String('--workers', {
    description: 'With --gateway-only or a database: how many processes serve the port together; default: one',
  });

  protected override async run(): Promise<ExitKind> {
    const { serveUntilSignal } = await import('../compose.ts');
    const { host, port, ollamaPort, publicOrigin, workspace, store, allowRemote, gatewayOnly, workers } = this;
    const flags = { host, port, ollamaPort, publicOrigin, workspace, store, allowRemote, gatewayOnly, workers };
    await serveUntilSignal(flags, (server) => this.#announce(server));
    return 'ok';
  }

  async #announce({ url, ollamaUrl, hasPage, config, core }: RunningServer): Promise<void> {
    const { env } = this.context;
    if (this.json) await writeLines(this.stdout, [toJson({ url, ollamaUrl, workspace: config.workspace, version: core.version, pid: process.pid })]);
    const style = styleFor(isColored(process.stderr, env));
    // A program that reads stderr gets only the log.
    if (!process.stderr.isTTY) return;
    const { command } = this;
    const flag = await workspaceFlag(config);
    const { PRINTED_CODE_MS } = await import('../../core/index.ts');
    const adapters = await core.status({ searches: false });
    // A program that asks for JSON may log its input, and the link signs in.
    const code = hasPage && !this.json ? await core.sessions?.newCode(PRINTED_CODE_MS) : undefined;
    const page = code && pageLink(new URL(config.publicOrigin ?? url), code.text);
    await writeLines(this.stderr, banner({ version: core.version, url, page, ollamaUrl, workspace: config.workspace, command, flag, adapters }, style));
  }
}

/** The flag that another terminal needs, where BLOCKHOUSE_WORKSPACE may not be set. */
async function workspaceFlag({ workspace }: ProcessConfig): Promise<string> {
  const { resolveProcessConfig } = await import('../../core/client-parts.ts');
  return workspace === resolveProcessConfig({}, {}).workspace ? '' : ` --workspace ${shellWord(workspace)}`;
}
