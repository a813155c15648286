import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readBlock } from '../../../../../core/store/files/copy/block-reading.ts';
import type { ChatEntry } from '../../../../../core/schemas/chat-entry.ts';
import { configOf, pair, userEntry } from '../../../../support/block-files.ts';

const config = JSON.stringify(configOf());
const read = (folder: string) => readBlock('blocks/a', folder, 'a', undefined);

async function entriesOf(folder: string): Promise<ChatEntry[]> {
  const entries: ChatEntry[] = [];
  for await (const some of (await read(folder)).entries()) entries.push(...some);
  return entries;
}

t.test('the whole conversation, the archive first; what a crash has left in two places once', async (t) => {
  const [one, answer] = pair('m1');
  const lines = [one, answer, one].map((entry) => JSON.stringify(entry)).join('\n');
  const folder = t.testdir({
    'config.json': config,
    'chat-archive': { '2026-10.jsonl': `${lines}\n{"torn`, '2026-11.jsonl': `${JSON.stringify(userEntry('m2'))}\n`, 'client-ids.jsonl': '' },
    'chat.json': JSON.stringify([userEntry('m2', { content: 'newest' }), userEntry('m3')]),
  });
  t.strictSame(
    (await entriesOf(folder)).map(({ id }) => id),
    ['m1a', 'm1', 'm2', 'm3'],
  );
  t.match(await entriesOf(folder), [{}, {}, { content: 'newest' }]);
});

t.test('what a person wrote is completed in the same way each time', async (t) => {
  const folder = t.testdir({ 'config.json': '{"name":"a"}', 'chat.json': '[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]' });
  const first = await entriesOf(folder);
  t.match(first, [
    { content: 'x', status: 'queued', id: /./ },
    { content: 'y', status: 'done' },
  ]);
  t.strictSame(await entriesOf(folder), first);
  t.strictSame((await read(folder)).documents, (await read(folder)).documents);
});

t.test('files that are no files of a block are named, and what can be made again is made again', async (t) => {
  const folder = t.testdir({
    'config.json': config,
    'costs.json': '{',
    'notes.txt': '',
    '.chat.json.0123456789abcdef.tmp': '',
    logs: { 'a.log': 'x', '.b.0123456789abcdef.tmp': '' },
  });
  const { left, documents, logs } = await read(folder);
  t.match(left, [/^blocks\/a\/costs\.json, which is damaged/, 'blocks/a/notes.txt']);
  t.match(documents, { costs: { calls: 0 }, memory: { summary: '' } });
  t.match(logs, [{ file: 'a.log' }]);
});

t.test('a block that can not be read is refused, with the file', async (t) => {
  const cases: [files: object, message: RegExp][] = [
    [{}, /config\.json can't be used: it is missing/],
    [{ 'config.json': '{"name":"b"}' }, /config\.json can't be used: name must be "a"/],
    [{ 'config.json': config, 'memory.json': '[' }, /memory\.json can't be used/],
  ];
  for (const [files, message] of cases) await t.rejects(read(t.testdir(files as Record<string, string>)), { code: 'BLOCK_DAMAGED', message });
  const folder = t.testdir({ 'config.json': config, 'chat.json': '{}' });
  await t.rejects(entriesOf(folder), { code: 'BLOCK_DAMAGED', message: /chat\.json/ });
  const other = t.testdir({ 'config.json': config, elsewhere: {} });
  symlinkSync(join(other, 'elsewhere'), join(other, 'chat-archive'));
  await t.rejects(entriesOf(other), { code: 'BLOCK_DAMAGED', message: /chat-archive/ });
});

t.test('an archived block has the name that it had, whatever its configuration says', async (t) => {
  const folder = t.testdir({ 'config.json': JSON.stringify(configOf({}, 'other')) });
  const archived = { archiveName: 'a_2026-11-20T14-03-22-123Z', originalName: 'a', archivedAt: '2026-11-20T14:03:22.123Z' } as const;
  t.match(await readBlock('archive/x', folder, 'a', archived as Parameters<typeof readBlock>[3]), { documents: { config: { name: 'a' } }, archived });
});
