// Opens a file in the browser of the user.
import { spawn } from 'node:child_process';

/** The programs that open a file with what the user has chosen for it, by platform. */
const OPENERS: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  darwin: ['open'],
  // `start` would read the path as a part of a command line.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
/** A program that has not failed by then has taken the file. */
const OPENED_AFTER_MS = 1500;

/** Resolves with false when there is no such program, or when it fails at once. */
export function isOpenedBy(file: string): Promise<boolean> {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  return new Promise((resolve) => {
    const child = spawn(command, [...args, file], { stdio: 'ignore', detached: true });
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
