// Stand-ins for systemctl and launchctl: executables on a PATH of their own that write down how they are called, and really start and stop what the
// file of the service says.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { testFolder } from '../support/test-folder.ts';

export interface ManagerHome {
  readonly home: string;
  readonly env: Record<string, string>;
  /** Each call so far. */
  calls(): string[];
  /** The process of the service; undefined when none was started or it was stopped. */
  pid(): number | undefined;
}

const UNIT = '"$HOME/.config/systemd/user/blockhouse.service"';
const AGENT = '"$HOME/Library/LaunchAgents/blockhouse.plist"';
/** A process that has ended is no more, also while its last line in the table of processes waits for its parent to read it. The first process of a container may take seconds to do so. */
const LIVES = `lives() {
  kill -0 "$1" 2>/dev/null || return 1
  [ -r "/proc/$1/stat" ] || return 0
  read -r stat < "/proc/$1/stat" || return 1
  case "$stat" in *') Z '*) return 1;; esac
} 2>/dev/null`;
const STOP = 'if [ -s "$HOME/pid" ]; then p=$(cat "$HOME/pid"); : > "$HOME/pid"; kill "$p"; while lives "$p"; do sleep 0.02; done; fi';
/** systemd's quotes are those of a shell, for the paths of these tests. */
const START_UNIT = `eval "exec $(sed -n 's/^ExecStart=//p' ${UNIT})" </dev/null >/dev/null 2>&1 & echo $! > "$HOME/pid"`;
const START_AGENT = `eval "exec $(sed -n '/<array>/,/<.array>/s/.*<string>\\(.*\\)<.string>.*/"\\1"/p' ${AGENT} | tr '\\n' ' ')" </dev/null >/dev/null 2>&1 & echo $! > "$HOME/pid"`;
const RUNS = '[ -s "$HOME/pid" ] && lives "$(cat "$HOME/pid")"';

const SYSTEMCTL = `#!/bin/sh
${LIVES}
echo "systemctl $*" >> "$HOME/calls"
if [ -e "$HOME/no-session" ]; then echo 'Failed to connect to bus: No medium found' >&2; exit 1; fi
if [ "$2" = "$(cat "$HOME/fails" 2>/dev/null)" ]; then echo 'Access denied' >&2; exit 1; fi
case "$2" in
  stop) ${STOP};;
  start | restart) ${STOP}
    ${START_UNIT};;
  disable) ${STOP};;
  is-active) ${RUNS};;
  is-enabled) grep -q ' enable ' "$HOME/calls";;
esac
`;

const LAUNCHCTL = `#!/bin/sh
${LIVES}
echo "launchctl $*" >> "$HOME/calls"
case "$1 $2" in
  'print gui/'*/blockhouse) ${RUNS} || { echo 'Could not find service' >&2; exit 113; }
    printf 'blockhouse = {\\n\\tstate = running\\n}\\n';;
  bootstrap*) ${START_AGENT};;
  bootout*) ${STOP};;
esac
`;

/** A HOME with both stand-ins; what they started ends with the test. */
export function managerHome(t: Test): ManagerHome {
  const home = testFolder(t);
  const bin = join(home, 'bin');
  mkdirSync(bin);
  for (const [name, script] of Object.entries({ systemctl: SYSTEMCTL, launchctl: LAUNCHCTL })) {
    writeFileSync(join(bin, name), script);
    chmodSync(join(bin, name), 0o755);
  }
  const read = (name: string): string => {
    try {
      return readFileSync(join(home, name), 'utf8').trim();
    } catch {
      return '';
    }
  };
  const pid = (): number | undefined => Number(read('pid')) || undefined;
  t.teardown(() => {
    const left = pid();
    if (left !== undefined) spawnSync('sh', ['-c', `kill -9 ${left}`]); // it may have ended by itself
  });
  const env = { HOME: home, PATH: `${bin}:${process.env['PATH']}`, NO_COLOR: '1' };
  return { home, env, calls: () => read('calls').split('\n'), pid };
}

/** What `LIVES` says, of a process that was there. */
export function hasEnded(pid = 0): boolean {
  return spawnSync('sh', ['-c', `${LIVES}\nlives "$1"`, 'sh', String(pid)]).status === 1;
}
