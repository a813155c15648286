import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createBus } from '../../../core/bus.ts';
import { ModelsFile, modelsCodec } from '../../../core/routing/models-file.ts';
import { openSettings } from '../../../core/store/open.ts';

const IDS = ['openai', 'ollama'];

function fileIn(t: Test, content?: string) {
  const workspace = t.testdir(content === undefined ? {} : { 'models.json': content });
  const bus = createBus();
  const told: string[] = [];
  bus.on('models.damaged', ({ reason }) => told.push(reason));
  const clock = { ms: 0 };
  const file = new ModelsFile(
    openSettings(workspace, () => clock.ms),
    modelsCodec((name) => IDS.find((id) => id === name), IDS),
    bus,
  );
  const path = join(workspace, 'models.json');
  return { file, path, told, write: (text: string) => writeFileSync(path, text), later: () => (clock.ms += 1000) };
}

t.test('a file that is not there is an empty table', async (t) => {
  const { file, told } = fileIn(t);
  t.equal(file.table().aliases.size, 0);
  t.equal(file.table().defaultProvider, undefined);
  t.same(file.document(), {});
  t.same(told, []);
});

t.test('an edit takes effect, and a bad one leaves the last good content in use', async (t) => {
  const { file, told, write, later } = fileIn(t, '{"aliases":{"a":"ollama/x"}}');
  t.same(file.table().aliases.get('a')?.targets, [{ adapter: 'ollama', model: 'x' }]);
  write('{"aliases":{"a":"openai/y"}}');
  later();
  t.same(file.table().aliases.get('a')?.targets, [{ adapter: 'openai', model: 'y' }]);
  for (const bad of ['{"aliases":{"a":"nowhere"}}', '{', '']) {
    write(bad);
    later();
    t.same(file.table().aliases.get('a')?.targets, [{ adapter: 'openai', model: 'y' }], bad);
    t.type(file.fault(), 'string');
  }
  t.equal(told.length, 3);
  write('{}');
  later();
  t.equal(file.table().aliases.size, 0);
  t.equal(file.fault(), undefined);
});

t.test('a file that never was good fails every use, and names itself without its path', async (t) => {
  const { file, path } = fileIn(t, '{"defaultProvider":"acme"}');
  t.equal(file.lastGood(), undefined);
  t.throws(() => file.table(), {
    code: 'WORKSPACE_DAMAGED',
    message: "models.json of the workspace can't be used: defaultProvider must be one of openai, ollama, or a connection of auth.json. Repair it or remove it.",
  });
  await t.rejects(file.setAlias('a', ['ollama/x']), { code: 'WORKSPACE_DAMAGED' });
  t.equal(readFileSync(path, 'utf8'), '{"defaultProvider":"acme"}', 'it is not overwritten');
});

t.test('aliases are set and removed one after the other, and the rest of the file stays', async (t) => {
  const { file } = fileIn(t, '{"defaultProvider":"ollama","native":{"openai":false}}');
  await Promise.all([file.setAlias('a', ['ollama/x']), file.setAlias('b', ['ollama/y', 'openai/z']), file.setAlias('c', ['openai/w'])]);
  t.equal(await file.setAlias('a', undefined), true);
  t.equal(await file.setAlias('a', undefined), false, 'there was none');
  await t.rejects(file.setAlias('d', ['x']), { code: 'INVALID_REQUEST', message: /provider\/model/ });
  t.same(file.document(), { defaultProvider: 'ollama', native: { openai: false }, aliases: { b: ['ollama/y', 'openai/z'], c: 'openai/w' } });
  await file.setDefault('openai');
  t.equal(file.table().defaultProvider, 'openai');
  await file.setDefault(undefined);
  t.equal(file.table().defaultProvider, undefined);
  await t.rejects(file.setDefault('acme'), { message: /defaultProvider must be one of/ });
});
