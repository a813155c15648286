// `blockhouse open`: shows the page of the running server in the browser, signed in.
import { spawn } from 'node:child_process';
import { Command, Option } from 'clipanion';
import { CliError, type ExitKind } from '../exit-codes.ts';
import { pageLink } from '../page-link.ts';
import { ServerCommand } from '../server-command.ts';

/** The programs that open an address, by platform. */
const OPENERS: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};
/** A program that has not failed by then has taken the address. */
const OPENED_AFTER_MS = 1500;

/** Prints `{url, expiresAt}`, or opens the browser. */
export class OpenCommand extends ServerCommand {
  static override readonly paths = [['open']];
  static override readonly usage = Command.Usage({
    category: 'Server',
    description: 'Open the dashboard in the browser',
    details: `
      Opens a link that signs this browser in. The link works once, within a minute. With \`--print\` or \`--json\` it is only printed, for a
      browser on another screen.
    `,
    examples: [
      ['In the browser', '$0 open'],
      ['Only the link', '$0 open --print'],
    ],
  });

  isPrinted = Option.Boolean('--print', false, { description: 'Print the link and open nothing' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const { code, expiresAt, page } = await api.sessionCode();
      if (page === null) throw new CliError('usage', 'This server has no dashboard: the program that runs it has not given it one (see docs/dashboard.md).');
      const url = pageLink(new URL(page, api.client.place.url), code);
      const isOpened = !this.isPrinted && !this.json && (await isOpenedBy(url));
      await this.print({ url, expiresAt }, isOpened ? [] : [url]);
      if (isOpened) await this.say(`The dashboard is open in the browser: ${new URL('/ui/', url).href}`);
      else if (!this.isPrinted && !this.json) await this.say('No browser could be opened. The link works once, within a minute.');
      return 'ok';
    });
  }
}

/** Resolves with false when there is no such program, or when it fails at once. */
function isOpenedBy(url: string): Promise<boolean> {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  return new Promise((resolve) => {
    const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
    const timer = setTimeout(() => resolve(true), OPENED_AFTER_MS);
    child.once('error', () => {
      clearTimeout(timer);
      resolve(false);
    });
    child.once('exit', (status) => {
      clearTimeout(timer);
      resolve(status === 0);
    });
    child.unref();
  });
}
