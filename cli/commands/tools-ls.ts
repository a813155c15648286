// `blockhouse tools ls`: all servers of tools, the tools of one, or those of a block with the rule that holds for each.
import { Command, Option } from 'clipanion';
import type { ToolServerView } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { oneLine } from '../terminal/output.ts';
import { blockToolTable, isListed, serverTable, toolTable } from '../views/tool-text.ts';

/** Prints `{servers}`, `{server}` or `{servers, tools}`, or a table. */
export class ToolsListCommand extends ServerCommand {
  static override readonly paths = [['tools', 'ls'], ['tools', 'list'], ['tools']];
  static override readonly usage = Command.Usage({
    category: 'Tools',
    description: 'List the servers of tools, the tools of one, or those of a block with their rules',
    details: `
      MARKS are those that hold: the server says so of its tool, and your settings in mcp.json say the same. A name is that of a server or, where there is none, of a block.
      RULE says what becomes of a call of the block, and which pattern says so; *even tainted* marks a rule that holds also after the block has read something of somebody outside.
    `,
    examples: [
      ['All servers', '$0 tools ls'],
      ['The tools of one', '$0 tools ls files'],
      ['The tools of a block, with their rules', '$0 tools ls --block my-block'],
    ],
  });

  block = Option.String('--block', { description: 'Show the tools of this block' });
  server = Option.String({ name: 'server', required: false });

  protected override async run(): Promise<ExitKind> {
    const { server, block } = this;
    if (server !== undefined && block !== undefined) throw new CliError('usage', 'Give either a name or --block.');
    return this.withServer(async (api) => {
      if (block !== undefined) return this.#showBlock(api, block);
      return server === undefined ? this.#list(api) : this.#show(api, server);
    });
  }

  async #list(api: Api): Promise<ExitKind> {
    const list = await api.toolServers();
    await this.print(list, list.servers.length === 0 ? [] : serverTable(list.servers, { width: this.width, style: this.style }));
    for (const one of list.servers) await this.#problem(one);
    if (list.servers.length === 0 && !this.json)
      await this.say(`There are no servers of tools. For example: \`${this.hint('tools', 'add', 'files', '~/shared')}\``);
    return 'ok';
  }

  /** A server, or a block where no server has the name. */
  async #show(api: Api, name: string): Promise<ExitKind> {
    try {
      const shown = await api.toolServer(name);
      const { tools } = shown.server;
      await this.print(shown, tools.length === 0 ? [] : toolTable(tools, { width: this.width, style: this.style }));
      await this.#problem(shown.server);
      if (tools.length === 0 && !this.json) await this.say(this.#noTools(shown.server));
      return 'ok';
    } catch (error) {
      if (!has(error, 'TOOL_SERVER_NOT_FOUND')) throw error;
      return this.#showBlock(api, name).catch((other: unknown) => {
        throw has(other, 'BLOCK_NOT_FOUND') ? error : other;
      });
    }
  }

  async #showBlock(api: Api, name: string): Promise<ExitKind> {
    const shown = await api.blockTools(name);
    await this.print(shown, shown.tools.length === 0 ? [] : blockToolTable(shown.tools, { width: this.width, style: this.style }));
    for (const one of shown.servers) await this.#problem(one);
    if (shown.servers.length === 0 && !this.json)
      await this.say(`The block ${oneLine(name)} has no tools. For example: \`${this.hint('config', 'set', name, 'tools.servers=["files"]')}\``);
    return 'ok';
  }

  #noTools(server: ToolServerView): string {
    if (isListed(server)) return `${oneLine(server.name)} has no tools.`;
    const unknown = `The tools of ${oneLine(server.name)} are not known yet.`;
    return server.problem !== undefined ? unknown : `${unknown} \`${this.hint('tools', 'test', server.name)}\` starts it once and lists them.`;
  }

  async #problem({ name, problem }: Pick<ToolServerView, 'name' | 'problem'>): Promise<void> {
    if (problem !== undefined && !this.json) await this.say(`${oneLine(name)}: ${this.own(oneLine(problem))}`);
  }
}

function has(error: unknown, code: string): boolean {
  return error instanceof CliError && error.body?.code === code;
}
