// `blockhouse open`: shows the page of the running server in the browser, signed in.
import { Command, Option } from 'clipanion';
import type { Api } from '../client/api.ts';
import { ServerCommand } from '../command/server-command.ts';
import { isOpenedBy } from '../serve/browser.ts';
import { writePageFile } from '../serve/page-file.ts';
import { pageLink } from '../serve/page-link.ts';
import { CliError, type ExitKind, errorCodeOf } from '../terminal/exit-codes.ts';

interface Link {
  readonly url: string;
  readonly expiresAt: string;
}

/** Prints `{url, expiresAt}`, or opens the browser. */
export class OpenCommand extends ServerCommand {
  static override readonly paths = [['open']];
  static override readonly usage = Command.Usage({
    category: 'Server',
    description: 'Open the dashboard in the browser',
    details: `
      Opens the dashboard and signs this browser in, by a file that only you can read and that is removed after a minute. The link in it works once,
      within a minute, and on Linux only for a browser of the user who runs the server.

      With \`--print\` or \`--json\`, a link is only printed, for a browser on another screen or of another user. It works once, within ten minutes,
      for anybody who has it.
    `,
    examples: [
      ['In the browser', '$0 open'],
      ['Only the link', '$0 open --print'],
    ],
  });

  isPrinted = Option.Boolean('--print', false, { description: 'Print the link and open nothing' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const page = this.isPrinted || this.json ? undefined : await this.#opened(api);
      if (page !== undefined) {
        await this.say(`The dashboard is open in the browser: ${page}`);
        await this.say(`If no window has come, \`${this.hint('open', '--print')}\` prints a link.`);
        return 'ok';
      }
      const link = await newLink(api, true);
      await this.print(link, [link.url]);
      if (!this.isPrinted && !this.json) await this.say('No browser could be opened. The link works once, within ten minutes.');
      return 'ok';
    });
  }

  /** The address of the page that the browser shows; undefined when no browser could be opened. */
  async #opened(api: Api): Promise<string | undefined> {
    const { url } = await newLink(api, false);
    const file = await writePageFile(url, this.context.env).catch(async (error: Error) => {
      if (errorCodeOf(error) === undefined) throw error;
      await this.say(`note: the file for the browser can't be written: ${error.message}.`);
    });
    return file !== undefined && (await isOpenedBy(file)) ? new URL('/ui/', url).href : undefined;
  }
}

async function newLink(api: Api, isPrinted: boolean): Promise<Link> {
  const { code, expiresAt, page } = await api.sessionCode(isPrinted);
  if (page === null) throw new CliError('usage', 'This server has no dashboard: the program that runs it has not given it one (see docs/dashboard.md).');
  return { url: pageLink(new URL(page, api.client.place.url), code), expiresAt };
}
