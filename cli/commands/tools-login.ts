// `blockhouse tools login` and `logout`: signs a person in to a server of tools, and out again.
//
// unseen-link: the link has what ties the answer to this sign-in, so the browser gets it in a file, not as an argument, which every user of the machine sees.
import { Command, Option } from 'clipanion';
import { timeLimit } from '../../core/base/abort.ts';
import type { Api } from '../client/api.ts';
import { beginToolSignIn, finishToolSignIn, signOutOfTools } from '../client/tool-sign-in.ts';
import { ServerCommand } from '../command/server-command.ts';
import { isOpenedBy } from '../serve/browser.ts';
import { type BrowserAnswer, browserAnswer } from '../serve/browser-answer.ts';
import { writePageFile } from '../serve/page-file.ts';
import { CliError, type ExitKind, errorCodeOf } from '../terminal/exit-codes.ts';
import { isTerminal, oneLine } from '../terminal/output.ts';
import { approvalLines } from '../views/tool-text.ts';

const category = 'Tools';
const WAIT_MS = 600_000;

/** Prints nothing, or `{success, server}`. */
export class ToolsLoginCommand extends ServerCommand {
  static override readonly paths = [['tools', 'login']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Sign in to a server of tools at an address',
    details: `
      Opens the browser, which comes back to a port of this machine. Where there is none, the link is printed. At the end, a browser on another machine shows a page that it can't reach:
      copy its address, and give it to \`tools login <server> --answer\` on standard input.

      A client that you have registered at the authorization server is named with \`--client-id\`, and its secret read with \`--client-secret\`; then the issuer must be named, too, so that the secret
      goes to nobody else. A server for which mcp.json has the grant client_credentials is signed in to without a browser.
    `,
    examples: [
      ['In the browser', '$0 tools login crm'],
      ['With a client of your own', 'pass crm | $0 tools login crm --client-id my-blocks --client-secret --issuer https://auth.example'],
      ['The answer of a browser elsewhere', '$0 tools login crm --answer'],
    ],
  });

  clientId = Option.String('--client-id', { description: 'The id of a client that you have registered, or the https address of its document' });
  hasSecret = Option.Boolean('--client-secret', false, { description: 'Read the secret of the client from standard input' });
  issuer = Option.String('--issuer', { description: 'The only authorization server that is taken, as it names itself' });
  scope = Option.String('--scope', { description: 'What is asked for, words with spaces between them' });
  port = Option.String('--port', { description: 'The port to which the browser comes back; any that is free, if not given' });
  isPrinted = Option.Boolean('--print', false, { description: 'Print the link and open nothing' });
  isAnswer = Option.Boolean('--answer', false, { description: 'Read the address at which a browser has ended from standard input' });
  server = Option.String({ name: 'server' });

  protected override async run(): Promise<ExitKind> {
    if (this.isAnswer && this.hasSecret) throw new CliError('usage', 'Standard input has either the answer or the secret.');
    return this.withServer(async (api, signal) => {
      const { server } = await api.toolServer(this.server);
      if (
        server.state === 'changed' &&
        !(await this.agreedToEntry(approvalLines({ ...server, tools: [] }), 'This is not the entry that was approved. Sign in to it?'))
      ) {
        await this.say('Nobody was signed in.');
        return 'unexpected';
      }
      if (this.isAnswer) return this.#finish(api, queryIn(await this.#given('The address at which the browser has ended', false, signal)));
      if (this.hasSecret) await api.setToolSecret(this.server, 'client_secret', await this.#given('The secret of the client (hidden)', true, signal));
      const listening = await listenedAt(this.port);
      try {
        return await this.#signIn(api, listening, signal);
      } finally {
        listening.close();
      }
    });
  }

  async #signIn(api: Api, listening: BrowserAnswer, signal: AbortSignal): Promise<ExitKind> {
    const { clientId, issuer, scope } = this;
    const { redirectURI } = listening;
    const begun = await beginToolSignIn(api, this.server, { redirectURI, ...(clientId && { clientId }), ...(issuer && { issuer }), ...(scope && { scope }) });
    if (begun.url === null) return this.#done(await api.toolServer(this.server));
    const state = new URL(begun.url).searchParams.get('state') ?? '';
    const answer = listening.wait(state, AbortSignal.any([signal, timeLimit(WAIT_MS)]));
    answer.catch(() => undefined); // it is awaited below
    await this.say(`${oneLine(this.server)} signs in at ${oneLine(begun.issuer)}. The page in the browser must be of ${new URL(begun.url).origin}.`);
    await this.#show(begun.url);
    return this.#finish(api, await answer.catch((error: Error) => this.#late(error, signal)));
  }

  /** unseen-link. */
  async #show(url: string): Promise<void> {
    const isShown = !this.isPrinted && (await this.#isOpened(url));
    if (isShown) {
      await this.say(`It is open in the browser. If no window has come, \`${this.hint('tools', 'login', this.server, '--print')}\` prints a link.`);
      return;
    }
    await this.say(`Open this link in a browser of this machine; for one elsewhere, see \`${this.hint('tools', 'login', '--help')}\`:`);
    await this.say(oneLine(url));
  }

  async #isOpened(url: string): Promise<boolean> {
    const file = await writePageFile(url, this.context.env).catch(async (error: Error) => {
      if (errorCodeOf(error) === undefined) throw error;
      await this.say(`note: the file for the browser can't be written: ${error.message}.`);
    });
    return file !== undefined && (await isOpenedBy(file));
  }

  #late(error: Error, signal: AbortSignal): never {
    if (signal.aborted) throw error;
    throw new CliError('unexpected', 'No browser has come back within ten minutes, so nobody is signed in. Begin again.');
  }

  async #finish(api: Api, query: string): Promise<ExitKind> {
    return this.#done(await finishToolSignIn(api, this.server, query));
  }

  async #done(shown: { readonly server: Awaited<ReturnType<Api['toolServer']>>['server'] }): Promise<ExitKind> {
    const { server } = shown;
    await this.print({ success: true, server }, []);
    if (this.json) return 'ok';
    await this.say(`${oneLine(server.name)} is signed in at ${oneLine(server.signIn?.issuer ?? '')}.`);
    if (server.state === 'held' || server.state === 'changed') await this.say(`To see its tools: \`${this.hint('tools', 'test', server.name)}\``);
    return 'ok';
  }

  async #given(what: string, isHidden: boolean, signal: AbortSignal): Promise<string> {
    const { stdin } = this.context;
    const text = isTerminal(stdin) ? await this.#ask(what, isHidden) : await (await import('../input/input.ts')).readAll(stdin, signal);
    const plain = text.replace(/\r?\n$/, '');
    if (plain === '') throw new CliError('usage', `${what} is empty. Give it on standard input.`);
    return plain;
  }

  async #ask(what: string, isHidden: boolean): Promise<string> {
    const { createPrompter } = await import('../terminal/prompt.ts');
    const prompter = createPrompter({ input: this.context.stdin, output: this.stderr });
    try {
      return await prompter.ask(`${what}: `, { hidden: isHidden });
    } finally {
      prompter.close();
    }
  }
}

/** Throws a CliError for a port that can't be had. */
async function listenedAt(port: string | undefined): Promise<BrowserAnswer> {
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) > 0 && Number(port) < 65_536))
    throw new CliError('usage', `--port must be from 1 to 65535, not ${oneLine(port.slice(0, 16))}.`);
  try {
    return await browserAnswer(port === undefined ? 0 : Number(port));
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    throw new CliError('unexpected', `The browser can't come back to port ${port ?? 'of this machine'}: ${(error as Error).message}.`);
  }
}

/** What stands after the `?` of an address. */
function queryIn(address: string): string {
  const at = address.indexOf('?');
  if (at < 0) throw new CliError('usage', 'Give the whole address at which the browser has ended, such as http://127.0.0.1:4567/callback?code=….');
  return address
    .slice(at + 1)
    .replace(/#.*$/s, '')
    .trim();
}

/** Prints nothing, or `{success, message}`. */
export class ToolsLogoutCommand extends ServerCommand {
  static override readonly paths = [['tools', 'logout']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Sign out of a server of tools',
    details: 'Gives the tokens back, where the authorization server takes them, and deletes them in any case.',
    examples: [['Sign out', '$0 tools logout crm']],
  });

  server = Option.String({ name: 'server' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const done = await signOutOfTools(api, this.server);
      await this.print(done, []);
      await this.say(oneLine(done.message));
      return 'ok';
    });
  }
}
