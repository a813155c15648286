import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { FileBlock } from '../../../../../core/store/files/block/file-block.ts';
import { FolderWatches } from '../../../../../core/store/files/watch.ts';
import { AT, configOf } from '../../../../support/block-files.ts';
import { testFolder } from '../../../../support/test-folder.ts';
import { until } from '../../../../support/until.ts';

function open(t: Test) {
  const folder = testFolder(t, { 'config.json': JSON.stringify(configOf()) });
  const watches = new FolderWatches({ onFault: (_folder, error) => t.fail(error.message) });
  const told: string[] = [];
  const listener = {
    onChanged: (document: string, { own }: { readonly own: boolean }) => void told.push(`${own ? 'own' : 'other'} ${document}`),
    onDamaged: (document: string) => void told.push(`damaged ${document}`),
    onRebuilt: (document: string) => void told.push(`rebuilt ${document}`),
    onOther: () => void told.push('other'),
    onLogged: (_file: string, offset: number, text: string) => void told.push(`logged ${offset} ${text.split(' ')[2]?.trim()}`),
    onLogFault: (error: Error) => void told.push(`log: ${error.message}`),
    logLimits: () => ({ maxFileBytes: 1000, maxFiles: 2 }),
  };
  const block = new FileBlock({ name: 'a', folder, watches, listener, now: () => Date.parse(AT) });
  t.teardown(async () => {
    await block.close();
    await watches.close();
  });
  return { block, folder, watches, told };
}

t.test('edits by hand are told while the block is watched, and what the server makes itself is not', async (t) => {
  const { block, folder, watches, told } = open(t);
  await block.contents();
  const end = block.watch();
  mkdirSync(join(folder, 'logs'));
  writeFileSync(join(folder, '.config.json.1.tmp'), '');
  writeFileSync(join(folder, 'config.json'), JSON.stringify(configOf({ description: 'by hand' })));
  await until('the edit is told', () => told.includes('other config'));
  t.notOk(told.includes('other'), 'the folder of the logs and a temporary file are not');
  writeFileSync(join(folder, 'notes.txt'), 'a file of somebody');
  await until('another file is told', () => told.includes('other'));
  end();
  t.equal(watches.size, 0);
});

t.test('a block that is closed refuses writes, until it is opened again', async (t) => {
  const { block, told } = open(t);
  const describe = (description: string): Promise<void> =>
    block.documents.config.update((config) => ({ value: { ...config, description }, result: undefined }));
  t.equal(block.isQuiet, true);
  const writing = describe('one');
  t.equal(block.isQuiet, false);
  await block.close();
  await writing;
  await t.rejects(describe('two'));
  block.log.write('INFO', 'lost');
  block.reopen();
  await describe('three');
  block.log.write('INFO', 'kept');
  await block.log.flush();
  t.strictSame(told, ['own config', 'own config', 'logged 0 kept']);
  t.match(await block.log.newest(), [{ content: /kept/ }]);
});

t.test('it is packed with the configuration that was checked, also when the file has another one by now', async (t) => {
  const { block, folder } = open(t);
  t.match(gunzipSync(await block.pack()).toString(), /a\/config\.json/);
  t.same(await block.measure(), { sizeBytes: readFileSync(join(folder, 'config.json')).length, files: 1 });
  writeFileSync(join(folder, 'config.json'), '{"name":"a","apiKey":"sk-secret"}');
  await t.rejects(block.pack(), { code: 'BLOCK_DAMAGED' });
});
