import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import t, { type Test } from 'tap';
import { COMPLETION_SCRIPTS, isShell, type Shell } from '../../../cli/complete/completion-scripts.ts';
import { CLI } from '../run.ts';

interface Desk {
  readonly script: string;
  /** What the shell prints for this program of it. */
  run(args: readonly string[]): { readonly stdout: string; readonly stderr: string; readonly status: number | null };
}

/** A folder with the script, a `blockhouse` to call, and a workspace with blocks. */
function deskFor(t: Test, shell: Shell): Desk {
  const folder = t.testdir({ script: COMPLETION_SCRIPTS[shell], blockhouse: `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`, 'a file.json': '{}' });
  chmodSync(join(folder, 'blockhouse'), 0o755);
  for (const name of ['ada', 'adam', 'bob']) mkdirSync(join(folder, 'workspace', 'blocks', name), { recursive: true });
  const env = { HOME: folder, PATH: [folder, process.env['PATH']].join(delimiter), BLOCKHOUSE_WORKSPACE: join(folder, 'workspace'), XDG_CONFIG_HOME: folder };
  const run: Desk['run'] = (args) => spawnSync(shell, args, { cwd: folder, env, encoding: 'utf8' });
  return { script: join(folder, 'script'), run };
}

const isInstalled = (shell: Shell): boolean => spawnSync(shell, ['-c', 'true']).status === 0;
const skipped = (shell: Shell): false | string => (isInstalled(shell) ? false : `${shell} is not installed`);

t.test('bash completes with the script', { skip: skipped('bash') }, async (t) => {
  const { script, run } = deskFor(t, 'bash');
  const complete = (...words: string[]): string[] => {
    const list = ['blockhouse', ...words].map((word) => `'${word}'`).join(' ');
    const program = `source ${script}; COMP_WORDS=(${list}); COMP_CWORD=${words.length}; _blockhouse blockhouse; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = run(['--norc', '-c', program]);
    t.equal(stderr, '');
    return stdout.trim().split('\n');
  };
  t.same(complete('st'), ['status', 'start', 'stop']);
  t.same(complete('send', 'ad'), ['ada', 'adam']);
  t.same(complete('start', 'ada', 'adam', ''), ['bob']);
  t.same(complete('logs', '--level', '=', 'w'), ['warn'], 'bash splits at =');
  t.same(complete('import', 'a'), ['a file.json'], 'a file name with a space is one word');
  t.same(complete('send', '--workspace', '/nowhere', ''), [''], 'nothing at all where nothing is known');
});

t.test('zsh completes with the script', { skip: skipped('zsh') }, async (t) => {
  const { script, run } = deskFor(t, 'zsh');
  // The completion system works at a terminal only, so these take what the script gives it.
  const stubs = `compdef() { :; }; _files() { print FILES; }; _describe() { print -l -- "\${(@P)2}"; }`;
  const complete = (...words: string[]): string[] => {
    const list = ['blockhouse', ...words].map((word) => `'${word}'`).join(' ');
    const { stdout, stderr } = run(['-f', '-c', `${stubs}; source ${script}; words=(${list}); CURRENT=${words.length + 1}; _blockhouse`]);
    t.equal(stderr, '');
    return stdout.trim().split('\n');
  };
  t.match(run(['-f', '-n', script]), { status: 0, stderr: '' });
  t.same(complete('st'), ['start:Start the monitors of blocks, so that they answer', 'stop:Stop the monitors of blocks']);
  t.same(complete('send', 'ad'), ['ada:', 'adam:']);
  t.same(complete('import', ''), ['FILES']);
  t.same(complete('send', '--workspace', '/nowhere', ''), ['']);
});

t.test('fish completes with the script', { skip: skipped('fish') }, async (t) => {
  const { script, run } = deskFor(t, 'fish');
  const complete = (line: string): string[] => {
    const { stdout, stderr } = run(['--no-config', '-c', `source ${script}; complete -C '${line}'`]);
    t.equal(stderr, '');
    return stdout.trim().split('\n');
  };
  t.same(complete('blockhouse st'), ['start\tStart the monitors of blocks, so that they answer', 'stop\tStop the monitors of blocks']);
  t.same(complete('blockhouse send ad'), ['ada', 'adam']);
  t.same(complete('blockhouse logs --lev'), ['--level\tThe lowest level: debug, info, warn or error']);
  t.same(complete('blockhouse import a\\ f'), ['a file.json']);
  t.same(complete('blockhouse send --workspace /nowhere '), ['']);
});

t.test('a missing program costs no line', { skip: skipped('bash') }, async (t) => {
  const { script, run } = deskFor(t, 'bash');
  const program = `source ${script}; COMP_WORDS=(nobody ''); COMP_CWORD=1; _blockhouse /nowhere/nobody; echo "\${#COMPREPLY[@]}"`;
  t.match(run(['--norc', '-c', program]), { stdout: '0\n', stderr: '' });
});

t.test('there are three shells', async (t) => {
  t.same(['bash', 'zsh', 'fish', 'sh', 'toString'].map(isShell), [true, true, true, false, false]);
});
