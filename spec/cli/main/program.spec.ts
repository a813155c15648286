import { spawnSync } from 'node:child_process';
import t from 'tap';
import { COMMAND_MODULES } from '../../../cli/main/command-modules.ts';
import { testFolder } from '../../support/test-folder.ts';
import { CLI, runHere, start } from '../run.ts';

t.test('--help goes to stdout with 0', async (t) => {
  const [help, own] = await Promise.all([runHere(t, ['--help']), runHere(t, ['chat', '--help'])]);
  t.match(help, { code: 0, stderr: '', stdout: /Usage: blockhouse <command>/ });
  t.match(own, { code: 0, stderr: '', stdout: /--max-tokens <count>/ });
});

t.test('without a command, the server starts', async (t) => {
  const { child, ended } = start(t, [], { env: { BLOCKHOUSE_PORT: '0', BLOCKHOUSE_WORKSPACE: testFolder(t) } });
  for await (const chunk of child.stderr) if (String(chunk).includes('blockhouse is listening')) break;
  child.kill('SIGTERM');
  t.equal((await ended).code, 0);
});

t.test('a command loads its own module and no other', async (t) => {
  const loaded = (args: readonly string[]): string[] => {
    const { stderr } = spawnSync(process.execPath, [CLI, ...args], { encoding: 'utf8', env: { ...process.env, NODE_DEBUG: 'esm' } });
    const parts = [...stderr.matchAll(/dist\/cli\/parts\/([a-z]+)-\w+\.js/g)].map(([, name = '']) => name);
    return [...new Set(parts)].filter((name) => name in COMMAND_MODULES);
  };
  t.same(loaded(['--help']), []);
  t.same(loaded(['token', '--help']), ['token']);
});

t.test('help is --help', async (t) => {
  const [word, option] = await Promise.all([runHere(t, ['help']), runHere(t, ['--help'])]);
  t.same(word, option);
});

t.test('words that people try lead to the right place', async (t) => {
  const version = await runHere(t, ['--version']);
  for (const args of [['-V'], ['-v'], ['version']]) t.same(await runHere(t, args), version, args.join(' '));
  const workspace = testFolder(t);
  for (const word of ['remove', 'delete'])
    t.match(await runHere(t, [word, 'ada', '--workspace', workspace]), { code: 2, stderr: /moves ada to the archive\. Add --yes/ });
});

t.test('--help behind the arguments of a command is about that command', async (t) => {
  for (const args of [
    ['send', 'ada', '--help'],
    ['config', 'set', 'ada', '-h'],
    ['help', 'config', 'set'],
    ['--help', 'config', 'set'],
  ]) {
    const { code, stdout } = await runHere(t, args);
    t.equal(code, 0);
    t.match(stdout, args[0] === 'send' ? /Send a message to a block/ : /Change values of the configuration/);
  }
});

t.test('--help of a group lists its commands', async (t) => {
  for (const args of [
    ['key', '--help'],
    ['help', 'key'],
    ['key', 'group', '-h'],
    ['config', '--help'],
  ]) {
    const { code, stdout } = await runHere(t, args);
    t.equal(code, 0);
    t.match(
      stdout,
      args[0] === 'config' ? /^Usage: blockhouse config <command>[\s\S]* config edit / : /^Usage: blockhouse key [\s\S]* key group set +Make a group/,
    );
  }
  t.match((await runHere(t, ['key', 'ls', '--help'])).stdout, /^List the keys/);
});

t.test('an unknown command or option is 2, on stderr', async (t) => {
  for (const args of [['srve'], ['token', '--nope'], ['verify']]) {
    const { code, stdout, stderr } = await runHere(t, args);
    t.equal(code, 2);
    t.equal(stdout, '');
    t.match(stderr, /^blockhouse: .*\n(See|Usage: ).*\n$/);
  }
});

t.test('a wrong call is told as JSON, too, where JSON is asked for', async (t) => {
  const { code, stdout } = await runHere(t, ['verify', '--json']);
  t.equal(code, 2);
  t.match(JSON.parse(stdout), { error: 'verify needs <id>.' });
});
