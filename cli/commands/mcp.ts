// `blockhouse mcp`: the server's tools for programs that start their servers of tools themselves.
import { Command } from 'clipanion';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';

/** Speaks MCP on standard input and output until the input ends. Nothing else goes to standard output. */
export class McpCommand extends ServerCommand {
  static override readonly paths = [['mcp']];
  static override readonly usage = Command.Usage({
    category: 'Clients',
    description: 'Give other agents the blocks as tools (MCP)',
    details: `
      Speaks the Model Context Protocol on standard input and output, for programs that start their servers of tools themselves: set \`blockhouse\` as the command and \`mcp\` as its
      argument. The tools list blocks, send messages and read answers. It passes everything to the running server, and starts none. Programs that speak HTTP can use
      /mcp of the server directly.

      Without more, it uses the token of the workspace. With a key in BLOCKHOUSE_MCP_KEY, it can do what that key may.
    `,
    examples: [
      ['What a program starts', '$0 mcp'],
      ['A key for a program that may reach the block ada', '$0 key new my-agent --right mcp --block ada'],
    ],
  });

  protected override async run(): Promise<ExitKind> {
    const { env, stdin } = this.context;
    await assertOutside((await this.config()).workspace, env['BLOCKHOUSE_SERVER']);
    return this.withServer(async ({ client }) => {
      const { bridgeMcp } = await import('../client/mcp-bridge.ts');
      await bridgeMcp(client, { input: stdin, output: this.stdout, key: env['BLOCKHOUSE_MCP_KEY'] });
      return 'ok';
    });
  }
}

/**
 * Servers of tools of a block, and what they start, have the mark of their workspace in the environment: tools of this workspace there would be blocks that call themselves.
 * Throws a CliError.
 */
async function assertOutside(workspace: string, mark: string | undefined): Promise<void> {
  if (mark === undefined) return;
  const { markOf } = await import('../input/tool-mark.ts');
  if ((await markOf(workspace)) !== mark) return;
  throw new CliError(
    'usage',
    'This was started by a server of tools of a block of the same workspace, so blocks would call themselves. Remove it from mcp.json.',
  );
}
