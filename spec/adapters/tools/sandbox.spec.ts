// A program in a sandbox, or not at all.
import { spawnSync } from 'node:child_process';
import { chmodSync, realpathSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import t from 'tap';
import { loadSdk } from '../../../adapters/tools/sdk.ts';
import { sandboxArguments, sandboxed } from '../../../adapters/tools/sandbox.ts';
import { testFolder } from '../../support/test-folder.ts';
import { runs, sessionsRig } from '../../support/tools/sessions-rig.ts';

await loadSdk();

/** The folders that an argument of bubblewrap names. */
const after = (args: readonly string[], name: string): readonly string[] => args.flatMap((each, at) => (each === name ? [args[at + 1] ?? ''] : []));

const hasBwrap = spawnSync('bwrap', ['--unshare-user', '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--', 'true']).status === 0;

t.test('the home is empty, the command is read-only, and only its folder and the paths in its arguments may be written', async (t) => {
  const program = { command: '/opt/tools/server', args: ['--verbose', '/data/shared', 'relative'], env: { HOME: '/home/ada' }, cwd: '/work/tools/files' };
  const args = sandboxArguments(program, 'bwrap');
  t.strictSame(after(args, '--tmpfs'), ['/tmp', '/home/ada']);
  t.strictSame(after(args, '--bind'), ['/work/tools/files', '/data/shared']);
  t.strictSame(after(args, '--ro-bind'), ['/opt/tools']);
  t.strictSame(after(args, '--chdir'), ['/work/tools/files']);
  t.ok(args.includes('--unshare-net') && args.includes('--die-with-parent'));
  t.notOk(sandboxArguments(program, 'bwrap+net').includes('--unshare-net'));
  t.equal(args.at(-1), '--');
});

t.test('a script sees the packages beside it, and a command its virtual environment, and neither may be written', async (t) => {
  const folder = realpathSync(testFolder(t, { venv: { 'pyvenv.cfg': '', bin: { serve: '' } } }));
  const script = '/srv/app/node_modules/@a/server/node_modules/b/index.js';
  const program = { command: join(folder, 'venv/bin/serve'), args: [script, '/data/shared'], env: {}, cwd: '/work/tools/files' };
  const args = sandboxArguments(program, 'bwrap');
  t.strictSame(after(args, '--ro-bind'), [join(folder, 'venv'), '/srv/app/node_modules']);
  t.strictSame(after(args, '--bind'), ['/work/tools/files', '/data/shared']);
});

t.test('of a command beside the home or the workspace, or above them, only the command itself is there', async (t) => {
  const folder = realpathSync(testFolder(t, { real: { '.blockhouse': {}, 'pyvenv.cfg': '', bin: { serve: '' } }, ada: t.fixture('symlink', 'real') }));
  const real = join(folder, 'real');
  for (const [home, command] of [
    [real, join(real, 'server')],
    [join(folder, 'ada'), join(real, 'server')],
    [real, join(folder, 'server')],
    [real, '/server'],
    [`${real}/`, join(real, '.blockhouse/server')],
    ['/home/ada', join(real, '.blockhouse/tools/server')],
  ] as const) {
    const args = sandboxArguments({ command, args: [], env: { HOME: home }, cwd: join(real, '.blockhouse/tools/files') }, 'bwrap');
    t.strictSame(after(args, '--ro-bind'), [command], `${home} ${command}`);
  }
  const ofPerson = { command: join(homedir(), 'server'), args: [], env: { HOME: '/data/other' }, cwd: '/work/tools/files' };
  t.strictSame(after(sandboxArguments(ofPerson, 'bwrap'), '--ro-bind'), [ofPerson.command], 'a server that has another HOME');
  const inHome = { command: join(real, 'bin/serve'), args: [], env: { HOME: real }, cwd: '/work/tools/files' };
  t.strictSame(after(sandboxArguments(inHome, 'bwrap'), '--ro-bind'), [join(real, 'bin')], 'a home that is a virtual environment itself');
});

t.test('a home or a workspace that lies in a folder of the system is hidden there', async (t) => {
  const ofUser = { command: '/bin/sh', args: [], env: { HOME: '/usr/share' }, cwd: '/usr/local/tools/files' };
  const args = sandboxArguments(ofUser, 'bwrap');
  t.strictSame(after(args, '--tmpfs'), ['/tmp', '/usr/share', '/usr/share', '/usr/local']);
  const places = ['/usr', '/usr/share', '/usr/local', ofUser.cwd].map((each) => args.lastIndexOf(each, args.indexOf('--chdir')));
  t.strictSame(
    places,
    places.toSorted((a, b) => a - b),
    'after what is shown of the system, and before its own folder',
  );
  t.strictSame(after(sandboxArguments({ ...ofUser, env: { HOME: '/usr/sbin' }, cwd: '/work/tools/files' }, 'bwrap'), '--tmpfs'), ['/tmp', '/usr/sbin']);
});

t.test('a program in a sandbox reads no file of the home beside it', { skip: !hasBwrap && 'bubblewrap can not be used here' }, async (t) => {
  const home = realpathSync(
    testFolder(t, { server: '#!/bin/sh\ncat "$HOME/auth.json" || echo hidden\n', 'auth.json': 'a secret', '.blockhouse': { tools: { x: {} } } }),
  );
  chmodSync(join(home, 'server'), 0o755);
  const program = { command: join(home, 'server'), args: [], env: { HOME: home, PATH: process.env['PATH'] ?? '' }, cwd: join(home, '.blockhouse/tools/x') };
  const { command, args, env } = await sandboxed(program, 'bwrap');
  t.match(spawnSync(command, args, { env, encoding: 'utf8' }), { status: 0, stdout: 'hidden\n' });
});

t.test('a path within another one that may be written comes with that one, and not by a way that the program can change', async (t) => {
  const folder = realpathSync(testFolder(t, { files: { a: { data: {} } }, other: t.fixture('symlink', 'files') }));
  const cwd = join(folder, 'files');
  const args = sandboxArguments(
    { command: '/opt/tools/server', args: [join(cwd, 'a/data'), `${cwd}/`, join(folder, 'other/a/data'), '/data'], env: {}, cwd },
    'bwrap',
  );
  t.strictSame(after(args, '--bind'), [cwd, '/data']);
  t.strictSame(after(args, '--symlink'), [join(cwd, 'a/data')]);
  t.equal(args[args.indexOf('--symlink') + 2], join(folder, 'other/a/data'));
});

t.test(
  'a program that puts a link in place of a folder in its arguments sees nothing of the home at its next start',
  { skip: !hasBwrap && 'bubblewrap can not be used here' },
  async (t) => {
    const folder = realpathSync(testFolder(t, { home: { key: 'a secret' }, work: { a: { data: {} } } }));
    const cwd = join(folder, 'work');
    const run = async (script: string): Promise<string> => {
      const program = {
        command: '/bin/sh',
        args: ['-c', script, 'sh', join(cwd, 'a/data')],
        env: { HOME: join(folder, 'home'), PATH: process.env['PATH'] ?? '' },
        cwd,
      };
      const { command, args, env } = await sandboxed(program, 'bwrap');
      return spawnSync(command, args, { env, cwd, encoding: 'utf8' }).stdout;
    };
    t.equal(await run('mv a b && mkdir a && ln -s ../../home a/data && ls a'), 'data\n');
    t.equal(await run('cat a/data/key "$HOME/key" || echo hidden'), 'hidden\n');
  },
);

t.test('without bubblewrap nothing is started, and the reason is told', async (t) => {
  const folder = realpathSync(testFolder(t));
  const program = { command: process.execPath, args: ['server.js'], env: { PATH: folder }, cwd: folder };
  await t.rejects(sandboxed(program, 'bwrap'), { message: /^bwrap is not installed/ });
  const bwrap = join(folder, 'bwrap');
  writeFileSync(bwrap, '#!/bin/sh\n');
  chmodSync(bwrap, 0o755);
  const { command, args } = await sandboxed({ ...program, command: 'node', env: { PATH: [folder, join(process.execPath, '..')].join(delimiter) } }, 'bwrap');
  t.equal(command, bwrap);
  t.strictSame(args.slice(-3), ['--', join(process.execPath, '..', 'node'), 'server.js']);
  await t.rejects(sandboxed({ ...program, command: 'nothing' }, 'bwrap'), { message: 'there is no command nothing' });

  const { hostile, call, pids, sessions } = sessionsRig(t, { env: { PATH: join(folder, 'nowhere') } });
  const server = hostile({}, { sandbox: 'bwrap' });
  await t.rejects(call(server, 'echo'), {
    code: 'TOOL_NOT_BEGUN',
    message: 'hostile did not start: bwrap is not installed, and it never runs without the sandbox that was asked for.',
  });
  await t.rejects(sessions.look(server, new AbortController().signal), { code: 'TOOL_SERVER_FAILED', message: /bwrap is not installed/ });
  t.strictSame(pids().filter(runs), []);
});
