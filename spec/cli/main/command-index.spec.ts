import { spawnSync } from 'node:child_process';
import t from 'tap';
import { COMMAND_INDEX } from '../../../cli/main/command-index.ts';
import { describeCommands } from '../../../cli/main/command-modules.ts';
import { argsForFile } from '../../support/node-args.ts';
import { ROOT } from '../run.ts';

t.test('the index is what the commands themselves say', async (t) => {
  t.same(COMMAND_INDEX, await describeCommands(), 'else run `npm run generate`');
});

t.test('its generator finds it fresh', async (t) => {
  const { status, stderr } = spawnSync(process.execPath, [...argsForFile('spec/generate-commands.ts'), '--check'], { cwd: ROOT, encoding: 'utf8' });
  t.same({ status, stderr }, { status: 0, stderr: '' });
});
