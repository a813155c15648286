// A real terminal for a command of the build: a tmux server of the test's own, which also says what its screen shows.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { until } from '../support/until.ts';
import { CLI } from './run.ts';

/** False where tmux is not installed, and then the reason to skip. */
export const noTerminal: string | false = spawnSync('tmux', ['-V']).status === 0 ? false : 'tmux is not installed';

/** To look at a screen takes two processes. */
const LOOK_MS = 60;

export interface Terminal {
  /** Types text as it is. */
  type(text: string): void;
  /** Presses keys by tmux's names, such as `Enter` and `C-c`. */
  press(...keys: string[]): void;
  /** Pastes text as a person does, between the marks of a paste if the command has asked for them. */
  paste(text: string): void;
  /** What shows, without the spaces at the ends of lines. */
  screen(): string;
  /** Resolves with the screen once it shows a text. */
  shows(pattern: RegExp): Promise<string>;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Opens a terminal of 80 columns in which the command runs. When it ends, the screen shows `ended with 0`. */
export function openTerminal(t: Test, args: readonly string[], env: Record<string, string> = {}): Terminal {
  const folder = mkdtempSync(join(tmpdir(), 'tmux-')); // the path of a socket must be short
  const socket = join(folder, 'tmux');
  const tmux = (...words: string[]): string =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...words], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: folder, LANG: 'C.UTF-8', TERM: 'xterm-256color' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const settings = Object.entries(env).map(([name, value]) => quoted(`${name}=${value}`));
  const command = ['env', ...settings, process.execPath, CLI, ...args].map((word) => (word.startsWith("'") ? word : quoted(word))).join(' ');
  tmux('-u', 'new-session', '-d', '-x', '80', '-y', '40', `${command}; echo "ended with $?"; exec sleep 600`);
  t.teardown(() => {
    tmux('kill-server');
    rmSync(folder, { recursive: true });
  });
  const screen = (): string => tmux('capture-pane', '-p').replace(/ +$/gm, '').trimEnd();
  return {
    type: (text) => void tmux('send-keys', '-l', text),
    press: (...keys) => void tmux('send-keys', ...keys),
    paste: (text) => {
      tmux('set-buffer', text);
      tmux('paste-buffer', '-p');
    },
    screen,
    shows: async (pattern) => {
      try {
        await until(`the screen shows ${pattern}`, () => pattern.test(screen()), 20_000, LOOK_MS);
      } catch (error) {
        throw new Error(`${(error as Error).message}:\n${screen()}`);
      }
      return screen();
    },
  };
}
