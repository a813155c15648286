// What a server and the CLI leave in a workspace and beside it, with the widest umask there is.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openDeskOfProcess } from '../cli/run.ts';
import { testFolder } from '../support/test-folder.ts';
import { until } from '../support/until.ts';

/** What is below a folder, with its mode. */
function modesBelow(folder: string): [path: string, mode: string][] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => [path, (statSync(join(folder, path)).mode & 0o777).toString(8)]);
}

t.test(
  'with a umask of 0, other users can neither read nor write what is made',
  { skip: process.platform === 'win32' && 'Windows has no umask' },
  async (t) => {
    const before = process.umask(0);
    t.teardown(() => process.umask(before));
    const home = testFolder(t);
    const desk = await openDeskOfProcess(t, undefined, { HOME: home, BLOCKHOUSE_REQUEST_LOG: 'info' });
    const run = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await desk.on(args, { input: 'sk-a-key-of-a-test\n', env: { HOME: home } }); // this process has the umask, too
      t.equal(code, 0, `${args.join(' ')}: ${stderr}`);
      return stdout;
    };
    await run('auth', 'set', 'anthropic');
    await run('key', 'new', 'app');
    await run('alias', 'set', 'fast', 'ollama/llama3');
    await run('new', 'ada', '--provider', 'ollama', '--model', 'llama3');
    await run('start', 'ada');
    await run('send', 'ada', 'Hello');
    await run('config', 'set', 'ada', 'description=mine');
    await run('export', 'ada', '--output', join(home, 'ada.tar.gz'));
    await run('import', join(home, 'ada.tar.gz'), '--as', 'bob');
    await run('rm', 'bob', '--yes');
    await run('memory', 'ada', '--fact', 'A fact.');
    await run('halt');
    await run('unhalt');
    await run('token', '--new-token');
    const names = (): string[] => modesBelow(desk.workspace).map(([path]) => path);
    await until('all have been written', () =>
      ['.api-token', '.lock', 'auth.json', 'keys.json', 'models.json', 'ledger.jsonl', 'blocks/ada/chat.json', 'archive'].every((name) =>
        names().includes(name),
      ),
    );
    t.ok(
      names().some((name) => /^logs\/.+\.log$/.test(name)),
      'the log of the server',
    );
    t.ok(
      names().some((name) => /^blocks\/ada\/logs\/.+\.log$/.test(name)),
      'the log of the block',
    );
    for (const [path, mode] of [...modesBelow(desk.workspace), ...modesBelow(home)]) t.match(mode, /^[67]00$/, path);
  },
);
