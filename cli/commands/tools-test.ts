// `blockhouse tools test`: what a server of tools lists, and one call of one tool.
import { Command, Option } from 'clipanion';
import { isObject, tryParseJson } from '../../core/base/json.ts';
import { faultPlace } from '../../core/base/json-place.ts';
import type { ToolCalled, ToolView } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { bytes, count as grouped } from '../terminal/format.ts';
import { oneLine } from '../terminal/output.ts';
import { visible } from '../terminal/unseen.ts';
import { approvalLines, heldMarks, toolCounts, toolTable } from '../views/tool-text.ts';

/** Prints the tools or the result, or `{success, server}` or `{success, result}`. */
export class ToolsTestCommand extends ServerCommand {
  static override readonly paths = [['tools', 'test']];
  static override readonly usage = Command.Usage({
    category: 'Tools',
    description: 'Start a server of tools once, and show what it lists, or call one of its tools',
    details: `
      It is started as mcp.json has it now, also if that is not approved: at a terminal, it is shown then, and you are asked. What differs from what was approved is not offered from then on. With a tool, it makes one call of that
      tool, which must be approved, and prints the result. A tool without the mark readOnly may change something: at a terminal, it asks first; elsewhere it needs \`--yes\`.
    `,
    examples: [
      ['Look at one', '$0 tools test files'],
      ['Call a tool', `$0 tools test files read_file --args '{"path": "/srv/shared/a.txt"}'`],
    ],
  });

  args = Option.String('--args', { description: 'The arguments of the call, as a JSON object; default {}' });
  yes = Option.Boolean('-y,--yes', false, { description: 'Do not ask' });
  server = Option.String({ name: 'server' });
  tool = Option.String({ name: 'tool', required: false });

  protected override async run(): Promise<ExitKind> {
    const { tool, args } = this;
    if (tool === undefined && (args !== undefined || this.yes))
      throw new CliError('usage', '--args and --yes are for the call of a tool. Name it after the server.');
    return this.withServer((api) => (tool === undefined ? this.#look(api) : this.#call(api, tool, argumentsIn(args))));
  }

  async #look(api: Api): Promise<ExitKind> {
    const { server } = await api.toolServer(this.server);
    const isApproved = server.state !== 'held' && server.state !== 'changed';
    if (!isApproved && !(await this.agreedToEntry(approvalLines({ ...server, tools: [] }), 'Start it once, to see its tools?'))) {
      await this.say('Nothing was started.');
      return 'unexpected';
    }
    const seen = await api.testToolServer(this.server, server.definition);
    await this.print(seen, toolTable(seen.server.tools, { width: this.width, style: this.style }));
    if (this.json) return 'ok';
    await this.say(toolCounts(seen.server.tools));
    const isOpen = ['held', 'changed'].includes(seen.server.state) || seen.server.tools.some(({ state }) => state === 'new' || state === 'changed');
    if (isOpen) await this.say(`To offer them: \`${this.hint('tools', 'approve', this.server)}\``);
    return 'ok';
  }

  async #call(api: Api, name: string, args: object): Promise<ExitKind> {
    const { server } = await api.toolServer(this.server);
    const tool = server.tools.find((one) => one.name === name);
    if (tool === undefined)
      throw new CliError('usage', `${oneLine(this.server)} has no tool ${oneLine(name)}. \`${this.hint('tools', 'ls', this.server)}\` lists them.`);
    if (!(tool.marks.readOnly || this.yes || (await this.#agrees(tool)))) {
      await this.say('Nothing was called.');
      return 'unexpected';
    }
    const called = await api.callTool(this.server, { tool: name, hash: tool.hash, arguments: { ...args } });
    await this.print(called, called.result.text.split('\n').map(visible));
    if (!this.json) await this.#sayHow(called);
    return called.result.isError ? 'unexpected' : 'ok';
  }

  #agrees({ name }: ToolView): Promise<boolean> {
    const what = `${oneLine(this.server)}/${oneLine(name)} has no mark readOnly, so the call may change something`;
    return this.agreed(`${what}. Call it?`, () => {
      throw new CliError('usage', `${what}. Add --yes to call it.`);
    });
  }

  async #sayHow({ result: { isError, ms, bytes: size, images, marks } }: ToolCalled): Promise<void> {
    const held = heldMarks(marks);
    const shown = images === 0 ? '' : `, ${images} images`;
    await this.say(`${isError ? 'It says that it failed: ' : ''}${grouped(ms)} ms, ${bytes(size)}${shown}, ${held === '' ? 'no marks' : `marks ${held}`}.`);
  }
}

function argumentsIn(text: string | undefined): object {
  const args = text === undefined ? {} : tryParseJson(text);
  const place = args === undefined ? ` It is not valid at ${faultPlace(text ?? '')}.` : '';
  if (!isObject(args)) throw new CliError('usage', `--args must be a JSON object, such as '{"path": "/srv/shared/a.txt"}'.${place}`);
  return args;
}
