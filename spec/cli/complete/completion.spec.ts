import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { candidatesFor, joinBroken } from '../../../cli/complete/completion.ts';
import { testFolder } from '../../support/test-folder.ts';
import { openDesk, openDeskOfProcess, run, runHere } from '../run.ts';

function workspaceWith(t: Test, ...folders: string[]): string {
  const workspace = testFolder(t);
  for (const folder of folders) mkdirSync(join(workspace, folder), { recursive: true });
  return workspace;
}

async function wordsFor(workspace: string, ...words: string[]): Promise<string[]> {
  return (await candidatesFor(words, { BLOCKHOUSE_WORKSPACE: workspace })).map(({ word }) => word);
}

t.test('commands and their subcommands are completed', async (t) => {
  const workspace = workspaceWith(t);
  t.same(await wordsFor(workspace, 'st'), ['status', 'start', 'stop']);
  t.same(await wordsFor(workspace, 'config', ''), ['get', 'set', 'edit']);
  t.same(await wordsFor(workspace, 'config', 's'), ['set']);
  t.same(await wordsFor(workspace, 'help', 'se'), ['serve', 'service', 'send', 'search']);
  t.same(await wordsFor(workspace, 'service', 'u'), ['uninstall']);
  t.same(await wordsFor(workspace, 'no-command', ''), []);
  t.match(await wordsFor(workspace, ''), ['serve', 'demo', 'status', 'service', 'open']);
  t.notOk(
    (await wordsFor(workspace, '')).some((word) => word.startsWith('__')),
    'the hidden command is not offered',
  );
});

t.test('options are completed, and follow an argument that takes no names', async (t) => {
  const workspace = workspaceWith(t);
  t.same(await wordsFor(workspace, 'chat', '--m'), ['--model', '--max-tokens']);
  t.match(await wordsFor(workspace, 'ls', ''), ['--quiet', '--watch']);
  t.same(await wordsFor(workspace, 'send', 'ada', '--', '--w'), [], 'behind -- nothing is an option');
});

t.test('names of blocks and archives come from the folders', async (t) => {
  const workspace = workspaceWith(t, 'blocks/ada', 'blocks/bob', 'blocks/.tmp', 'archive/old_2026');
  t.same(await wordsFor(workspace, 'send', ''), ['ada', 'bob']);
  t.same(await wordsFor(workspace, 'send', '--wait', 'a'), ['ada']);
  t.same(await wordsFor(workspace, 'send', '--timeout', 'ada', 'b'), ['bob'], 'the value of an option is no argument');
  t.same(await wordsFor(workspace, 'send', 'ada', ''), [], 'a message is not completed');
  t.same(await wordsFor(workspace, 'start', 'ada', ''), ['bob'], 'a name is offered once');
  t.same(await wordsFor(workspace, 'new', ''), [], 'a new block needs another name');
  t.same(await wordsFor(workspace, 'restore', ''), ['old_2026']);
  t.same(await wordsFor('/nowhere', 'send', '--workspace', workspace, 'b'), ['bob']);
  t.same(await wordsFor('/nowhere', 'send', `--workspace=${workspace}`, 'b'), ['bob']);
});

t.test('paths are left to the shell, and fixed choices are listed', async (t) => {
  const workspace = workspaceWith(t);
  t.same(await wordsFor(workspace, 'import', 'x'), [':path']);
  t.same(await wordsFor(workspace, 'new', 'x', '--from', ''), [':path']);
  t.same(await wordsFor(workspace, 'logs', '--level', 'w'), ['warn']);
  t.same(await wordsFor(workspace, 'logs', '--level=w'), ['--level=warn']);
  t.same(await wordsFor(workspace, 'costs', '--by', ''), ['block', 'connection', 'credential', 'model', 'day']);
  t.same(await wordsFor(workspace, 'costs', '--gateway', '--by', 'k'), ['key']);
});

t.test('providers and models come from the running server, or from here', async (t) => {
  const { on, workspace } = await openDesk(t);
  t.same(await wordsFor(workspace, 'verify', 'ol'), ['ollama']);
  const { stdout } = await on(['models', 'ollama']);
  t.same(await wordsFor(workspace, 'chat', '-a', 'ollama', '-m', ''), stdout.trim().split('\n'), 'the daemon has them, which the server knows');
  for (const option of ['--provider', '--adapter']) t.same(await wordsFor(workspace, 'chat', option, 'ollama', '-m', ''), stdout.trim().split('\n'), option);
  const none = workspaceWith(t);
  t.same(await wordsFor(none, 'verify', 'ol'), ['ollama']);
  t.ok((await wordsFor(none, 'chat', '-a', 'openai', '-m', 'gpt-')).length > 1);
  t.same(await wordsFor(none, 'chat', '--adapter', 'ol'), ['ollama']);
  t.same(await wordsFor(none, 'chat', '--pro'), ['--provider']);
  writeFileSync(
    join(none, 'auth.json'),
    JSON.stringify({ gpu: { adapter: 'openai', baseURL: 'http://10.0.0.7:8000/v1', auth: 'none', models: { prod: {} }, quirks: { list: false } } }),
  );
  for (const command of ['verify', 'models', 'costs --connection', 'alias default', 'chat -a'])
    t.same(await wordsFor(none, ...command.split(' '), 'g'), ['google', 'gpu'], command);
  for (const command of ['prices set', 'prices show', 'alias set coder']) t.same(await wordsFor(none, ...command.split(' '), 'gpu/'), ['gpu/prod'], command);
  t.same(await wordsFor(none, 'chat', '-a', 'gpu', '-m', ''), ['prod']);
  t.same(await wordsFor(none, 'chat', '-m', 'gpu'), ['gpu/prod'], 'no bare name leads to a connection');
  t.notOk((await wordsFor(none, 'chat', '-m', 'p')).includes('prod'));
  t.same(await wordsFor(none, 'prov'), ['providers']);
  t.ok((await wordsFor(none, 'new', 'x', '--provider', 'openai', '-m', '')).every((word) => !word.startsWith('claude')));
});

t.test('keys, groups and aliases come from the running server, each where it belongs', async (t) => {
  const { on, workspace } = await openDesk(t);
  await on(['new', 'a-block', '--provider', 'ollama', '--model', 'm']);
  await on(['key', 'group', 'set', 'batch', '--rpm', '5']);
  await on(['key', 'new', 'app', '--group', 'batch']);
  await on(['alias', 'set', 'small', 'ollama/m']);
  const offered = await Promise.all(
    [['key', 'rm'], ['key', 'set'], ['key', 'debug'], ['key', 'set', 'app', '--group'], ['key', 'group', 'rm'], ['alias', 'rm'], ['key', 'new'], ['show']].map(
      (words) => wordsFor(workspace, ...words, ''),
    ),
  );
  t.same(offered, [['app'], ['app'], ['app'], ['batch'], ['batch'], ['small'], [], ['a-block']]);
  t.same(await wordsFor(workspaceWith(t), 'key', 'rm', ''), [], 'without a server nothing is known');
});

t.test('bash splits at : and =, and only the last piece is replaced', async (t) => {
  t.same(joinBroken(['chat', '-m', 'llama3', ':', '8']), { joined: ['chat', '-m', 'llama3:8'], cut: 'llama3:' });
  t.same(joinBroken(['chat', '--model', '=', 'll']), { joined: ['chat', '--model=ll'], cut: '--model=' });
  t.same(joinBroken(['chat', '--model', '=']), { joined: ['chat', '--model='], cut: '--model=' });
  t.same(joinBroken(['config', 'set', 'a', 'x', '=', '1', '']), { joined: ['config', 'set', 'a', 'x=1', ''], cut: '' });
  t.same(joinBroken(['send', 'a']), { joined: ['send', 'a'], cut: '' });
  const { stdout } = await runHere(t, ['__complete', 'bash', 'logs', '--level', '=', 'w']);
  t.equal(stdout, 'warn\t\n');
});

t.test('one-word: a name that bash would read as more than a word is quoted', async (t) => {
  const workspace = workspaceWith(t, 'blocks/ada; $(id)', "blocks/bob's");
  const env = { BLOCKHOUSE_WORKSPACE: workspace };
  t.match(await runHere(t, ['__complete', 'bash', 'send', ''], { env }), { stdout: `'ada; $(id)'\t\n'bob'\\''s'\t\n` });
  t.match(await runHere(t, ['__complete', 'zsh', 'send', 'ada'], { env }), { stdout: 'ada; $(id)\t\n' }, 'zsh quotes it itself');
});

t.test('whatever goes wrong, it is silent and ends with 0', async (t) => {
  const env = { BLOCKHOUSE_WORKSPACE: '/nowhere' };
  for (const words of [
    ['send', ''],
    ['restore', ''],
    ['chat', '-a', 'nobody', '-m', ''],
    ['models', 'x', 'y', 'z'],
    ['--nope', 'x'],
  ])
    t.same(await runHere(t, ['__complete', 'bash', ...words], { env }), { code: 0, stdout: '', stderr: '' }, words.join(' '));
});

t.test('a server that does not answer holds no line up', async (t) => {
  const { server, workspace } = await openDeskOfProcess(t);
  server.child.kill('SIGSTOP');
  t.same(await run(t, ['__complete', 'bash', 'verify', ''], { env: { BLOCKHOUSE_WORKSPACE: workspace } }), { code: 0, stdout: '', stderr: '' });
});
