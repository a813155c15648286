// `blockhouse tools`: the servers of tools, what they show, and what is approved of it.
//
// shown-first: an approval names the hashes of what was just shown, so that a change in between is refused by the server.
import { Command, Option } from 'clipanion';
import type { ToolServerView } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { DestructiveCommand } from '../command/destructive-command.ts';
import { ServerCommand } from '../command/server-command.ts';
import { CURATED_NAMES, curatedServer } from '../input/curated-servers.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { foldedInside, isTerminal, oneLine, widthOf, writeLines } from '../terminal/output.ts';
import { visible } from '../terminal/unseen.ts';
import { approvalLines, diffLines, toolCounts } from '../views/tool-text.ts';

const category = 'Tools';

/** What `add`, `test` and `approve` share. */
abstract class ToolsCommand extends ServerCommand {
  /** True at a terminal, where a person can be asked. */
  protected get isAsked(): boolean {
    return !this.json && isTerminal(this.context.stdin) && isTerminal(this.stderr);
  }

  /** Looks at a server as it is now. */
  protected async look(api: Api, name: string): Promise<ToolServerView> {
    const { server } = await api.toolServer(name);
    return (await api.testToolServer(name, server.definition)).server;
  }

  /** Approves what was shown, all usable tools or those that are named (shown-first). */
  protected async approve(api: Api, shown: ToolServerView, only: readonly string[] = []): Promise<ToolServerView> {
    const usable = shown.tools.filter(({ state }) => state !== 'unusable' && state !== 'gone');
    const unknown = only.find((name) => !usable.some((tool) => tool.name === name));
    if (unknown !== undefined) throw new CliError('usage', `${shown.name} has shown no tool ${oneLine(unknown)} that can be used.`);
    const chosen = only.length === 0 ? usable : usable.filter(({ name }) => only.includes(name));
    return (await api.approveToolServer(shown.name, shown.definition, Object.fromEntries(chosen.map(({ name, hash }) => [name, hash])))).server;
  }

  /** Shows all that is approved, on the stream of questions. */
  protected async show(server: ToolServerView): Promise<void> {
    for (const line of approvalLines(server)) await writeLines(this.stderr, foldedInside(line, widthOf(this.stderr)));
  }

  /** What was approved, and how a block gets it. */
  protected async sayApproved({ name, tools }: ToolServerView): Promise<void> {
    const command = this.hint('config', 'set', '<block>', `tools.servers=${JSON.stringify([name])}`);
    await this.say(`${oneLine(name)} is approved. ${toolCounts(tools)} To give them to a block: \`${command}\`, with the other servers that it has.`);
  }
}

/** Prints nothing, or `{success, server}`. */
export class ToolsAddCommand extends ToolsCommand {
  static override readonly paths = [['tools', 'add']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Add a server of tools: a short name, a command, or an address',
    details: `
      Short names are ${CURATED_NAMES.join(', ')}; each stands for one version of a known server. Everything else is a name of your own with a command after \`--\`, or with \`--url\`.
      A secret is a reference, such as \`GITHUB_TOKEN=\${auth:github.token}\`, and stored with \`tools secret set\`. At a terminal, it shows what is started, starts it once,
      shows its tools and asks before each step. Elsewhere the server is held, and nothing is started.

      For a server at an address that wants a sign-in, \`--client-id\` and \`--issuer\` name the client that you have registered there. With \`--grant client_credentials\` Blockhouse signs in for itself,
      with the secret \`<server>.client_secret\` or the key of \`--key-file\`; else you sign in with \`tools login\`.
    `,
    examples: [
      ['Files of a folder', '$0 tools add files ~/shared'],
      ['A command', '$0 tools add notes --env NOTES_DIR=/srv/notes -- notes-server --stdio'],
      ['An address', '$0 tools add crm --url https://crm.example/mcp --header "Authorization: Bearer \\${auth:crm.token}"'],
      ['With a client that signs', '$0 tools add crm --url https://crm.example/mcp --client-id my-blocks --issuer https://auth.example --key-file ~/crm.pem'],
    ],
  });

  env = Option.Array('--env', { description: 'A variable that it gets, as NAME=value' });
  header = Option.Array('--header', { description: 'A header of its requests, as "Name: value"' });
  url = Option.String('--url', { description: 'The address of a server that runs already' });
  clientId = Option.String('--client-id', { description: 'With --url: the id of a client that you have registered, or the https address of its document' });
  issuer = Option.String('--issuer', { description: 'With --url: the only authorization server that is taken, as it names itself' });
  scope = Option.String('--scope', { description: 'With --url: what a sign-in asks for, words with spaces between them' });
  grant = Option.String('--grant', { description: 'With --url: client_credentials, if Blockhouse signs in for itself, or authorization_code' });
  method = Option.String('--method', {
    description: 'How the client proves who it is: client_secret, or private_key_jwt for a signature of the key <server>.client_key',
  });
  keyFile = Option.String('--key-file', { description: 'The file of a private key to sign in with: private_key_jwt' });
  keyId = Option.String('--key-id', { description: 'The name of that key at the authorization server' });
  custom = Option.Boolean('--custom', false, { description: 'Take a short name for a command of your own' });
  replace = Option.Boolean('--replace', false, { description: 'Replace the server of this name' });
  name = Option.String({ name: 'server' });
  words = Option.Rest({ name: 'command' });

  protected override async run(): Promise<ExitKind> {
    const { server, settings, note } = this.#entry();
    return this.withServer(async (api) => {
      const isKnown = (await api.toolServers()).servers.some(({ name }) => name === this.name);
      if (isKnown && !this.replace) throw new CliError('usage', `There is a server ${oneLine(this.name)} already. Add --replace to change it.`);
      const put = await api.putToolServer(this.name, { server, ...(settings !== undefined && { settings }) });
      if (note !== undefined && !this.json) await this.say(note);
      if (!this.isAsked || put.server.state === 'failed') {
        await this.print(put, []);
        if (!this.json) await this.#next(put.server);
        return 'ok';
      }
      await this.show({ ...put.server, tools: [] });
      if (!(await this.agreed('Start it once, to see its tools?', () => false))) return this.#held(put.server);
      const seen = await this.look(api, this.name);
      await this.show(seen);
      await this.#trust(api, seen, server);
      if (!(await this.agreed('Approve it with these tools?', () => false))) return this.#held(seen);
      const approved = await this.approve(api, seen);
      await this.sayApproved(approved);
      return 'ok';
    });
  }

  #entry(): ReturnType<typeof curatedServer> & object {
    const oauth = this.#oauth();
    const given = this.env !== undefined || this.header !== undefined || this.url !== undefined || oauth !== undefined;
    const curated = this.custom || given ? undefined : curatedServer(this.name, this.words);
    if (curated !== undefined) return curated;
    const env = pairs('--env', this.env, '=');
    const headers = pairs('--header', this.header, ':');
    const [command, ...args] = this.words;
    if ((this.url === undefined) === (command === undefined)) throw new CliError('usage', 'Give either a command after --, or --url.');
    if (this.url !== undefined) {
      if (env !== undefined) throw new CliError('usage', '--env is for a command; a server at an address gets --header.');
      return { server: { type: 'http', url: this.url, ...(headers !== undefined && { headers }) }, ...(oauth !== undefined && { settings: { oauth } }) };
    }
    if (oauth !== undefined) throw new CliError('usage', 'A sign-in (--client-id, --issuer and the like) is for --url.');
    if (headers !== undefined) throw new CliError('usage', '--header is for --url; a command gets --env.');
    return { server: { command, args, ...(env !== undefined && { env }) } };
  }

  /** How it is signed in to; undefined where nothing is said. With a key, Blockhouse signs in for itself unless the grant says that a person does. */
  #oauth(): Record<string, string> | undefined {
    const { clientId, issuer, scope, keyFile, keyId } = this;
    const method = this.method ?? (keyFile === undefined ? undefined : 'private_key_jwt');
    const grant = this.grant ?? (method === undefined ? undefined : 'client_credentials');
    assertGrant(grant, method, { clientId, issuer });
    const given = Object.entries({ grant, clientId, issuer, scope, method, keyFile, keyId }).filter((one): one is [string, string] => one[1] !== undefined);
    return given.length === 0 ? undefined : Object.fromEntries(given);
  }

  /** Asks whether the server is trusted in what it says of its tools, and keeps the answer as marks. Where there are marks, they stay. */
  async #trust(api: Api, { tools, settings }: ToolServerView, server: object): Promise<void> {
    const says = (hint: string, value: boolean): string[] => tools.filter(({ annotations }) => annotations[hint] === value).map(({ name }) => name);
    const marks = { readOnly: says('readOnlyHint', true), idempotent: says('idempotentHint', true), closedWorld: says('openWorldHint', false) };
    if ('marks' in settings || Object.values(marks).every((names) => names.length === 0)) return;
    for (const [mark, names] of Object.entries(marks))
      if (names.length > 0) await this.say(`It says ${mark} of ${names.map(visible).map(oneLine).join(', ')}.`);
    if (await this.agreed('Do you trust it in that? Calls that only read can then be allowed', () => false)) {
      await api.putToolServer(this.name, { server, settings: { ...settings, marks } });
    }
  }

  async #held(server: ToolServerView): Promise<ExitKind> {
    await this.#next(server);
    return 'ok';
  }

  async #next({ name, problem, state }: ToolServerView): Promise<void> {
    const what = state === 'idle' || state === 'ready' ? 'It is the approved one.' : (problem ?? `It is ${state}.`);
    await this.say(`${oneLine(name)}: ${this.own(oneLine(what))}`);
  }
}

/** Prints the differences, or `{server}`. */
export class ToolsDiffCommand extends ServerCommand {
  static override readonly paths = [['tools', 'diff']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Show what a server of tools says now, and what was approved',
    details: 'Lines with - are the approved text, those with + the new one. Characters that are not seen are shown as escapes, such as \\u200b.',
    examples: [['What has changed', '$0 tools diff github']],
  });

  server = Option.String({ name: 'server' });
  tools = Option.Rest({ name: 'tool' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const shown = await api.toolServer(this.server);
      const { tools, problem } = shown.server;
      const unknown = this.tools.find((name) => !tools.some((tool) => tool.name === name));
      if (unknown !== undefined)
        throw new CliError('usage', `${oneLine(this.server)} has no tool ${oneLine(unknown)}. \`${this.hint('tools', 'ls', this.server)}\` lists them.`);
      const lines = diffLines(tools.filter(({ name }) => this.tools.length === 0 || this.tools.includes(name)));
      await this.print(shown, lines);
      if (this.json) return 'ok';
      if (problem !== undefined) await this.say(this.own(oneLine(problem)));
      const hasShownNone = tools.length === 0 && problem !== undefined;
      if (lines.length > 0) await this.say(`To offer them as they are now: \`${this.hint('tools', 'approve', this.server)}\``);
      else if (!hasShownNone) await this.say('Nothing has changed since it was approved.');
      return 'ok';
    });
  }
}

/** Prints nothing, or `{success, server}`. */
export class ToolsApproveCommand extends ToolsCommand {
  static override readonly paths = [['tools', 'approve']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Approve a server of tools, and the tools that it has shown',
    details:
      'At a terminal, it shows what is started and every description, and asks. Elsewhere it approves what `tools test` has shown last. With names, only these tools.',
    examples: [
      ['All that it has shown', '$0 tools approve files'],
      ['Two tools', '$0 tools approve files read_file list_directory'],
    ],
  });

  server = Option.String({ name: 'server' });
  tools = Option.Rest({ name: 'tool' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const { server } = await api.toolServer(this.server);
      if (server.tools.length === 0)
        throw new CliError('usage', `${oneLine(this.server)} has shown no tools yet. Look at it: \`${this.hint('tools', 'test', this.server)}\``);
      if (this.isAsked) {
        await this.show(server);
        if (!(await this.agreed('Approve this?', () => false))) {
          await this.say('Nothing was approved.');
          return 'unexpected';
        }
      }
      const approved = await this.approve(api, server, this.tools);
      await this.print({ success: true, server: approved }, []);
      if (!this.json) await this.sayApproved(approved);
      return 'ok';
    });
  }
}

/** Prints nothing, or `{success, message}`. */
export class ToolsRemoveCommand extends DestructiveCommand {
  static override readonly paths = [['tools', 'rm']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Remove a server of tools, with its approvals and secrets',
    details: 'Blocks that name it go on without its tools. At a terminal, it asks first; elsewhere it needs `--yes`.',
    examples: [['Remove one', '$0 tools rm files']],
  });

  server = Option.String({ name: 'server' });

  protected override async run(): Promise<ExitKind> {
    const name = oneLine(this.server);
    return this.onceAgreed(`Remove the server ${name}, with its approvals and secrets?`, `This removes the server ${name}.`, () =>
      this.withServer(async (api) => {
        const removed = await api.removeToolServer(this.server);
        await this.print(removed, []);
        await this.say(oneLine(removed.message));
        return 'ok';
      }),
    );
  }
}

const GRANTS: readonly string[] = ['client_credentials', 'authorization_code'];

/** Says it in the words of the options; the server would name the fields of mcp.json. Throws a CliError. */
function assertGrant(
  grant: string | undefined,
  method: string | undefined,
  client: { readonly clientId: string | undefined; readonly issuer: string | undefined },
): void {
  if (grant !== undefined && !GRANTS.includes(grant)) throw new CliError('usage', `--grant must be ${GRANTS.join(' or ')}.`);
  if (grant === 'client_credentials' || method === 'private_key_jwt') {
    if (client.clientId === undefined || client.issuer === undefined)
      throw new CliError(
        'usage',
        'With --grant client_credentials, --method or --key-file, give --client-id and --issuer, too, so that the secret goes to nobody else.',
      );
  } else if (method !== undefined) throw new CliError('usage', '--method client_secret is for --grant client_credentials.');
}

/** `NAME=value` and `Name: value` as an object; undefined without any. Throws a CliError. */
function pairs(option: string, given: readonly string[] | undefined, separator: string): Record<string, string> | undefined {
  if (given === undefined) return undefined;
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf(separator);
      if (at <= 0) throw new CliError('usage', `${option} must be NAME${separator}value, not ${oneLine(text.slice(0, 32))}.`);
      return [text.slice(0, at).trim(), separator === ':' ? text.slice(at + 1).trim() : text.slice(at + 1)];
    }),
  );
}
