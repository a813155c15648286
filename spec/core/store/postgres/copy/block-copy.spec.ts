import t from 'tap';
import { noCosts } from '../../../../../core/block/costs/costs.ts';
import type { ChatEntry } from '../../../../../core/schemas/chat-entry.ts';
import type { CopiedBlock } from '../../../../../core/store/parts/copied.ts';
import { digestOf } from '../../../../../core/store/parts/copy-digest.ts';
import { runLine } from '../../../../../core/store/parts/run-lines.ts';
import { putBlock, readBlock, removeBlock } from '../../../../../core/store/postgres/copy/block-copy.ts';
import { Partitions } from '../../../../../core/store/postgres/partitions.ts';
import type { RunRecord } from '../../../../../core/types.ts';
import { AT, configOf, memoryOf, pair, pulseOf, userEntry } from '../../../../support/block-files.ts';
import { migrated } from '../../../../support/migrated.ts';
import { noPostgres } from '../../../../support/postgres.ts';
import { answerRecord, approvalOf, modelRecord, runRecord } from '../../../../support/tools/records.ts';

const JOURNAL = [runRecord(), modelRecord(1), answerRecord(1, []), { t: 'ask', call: '1.1', approval: approvalOf('a1') } as RunRecord];
const RUNS: CopiedBlock['runs'] = [
  { file: 'm1.1.1.json', at: new Date(AT), bytes: async () => Buffer.from('{"a":"\0"}') },
  { file: 'm1.jsonl', at: undefined, bytes: async () => Buffer.from(JOURNAL.map(runLine).join('')) },
];

function block(place: string, entries: readonly ChatEntry[], fields: Partial<CopiedBlock> = {}, config: object = {}): CopiedBlock {
  const pieces = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.from('one\ntw');
    yield Buffer.from('o\n');
  };
  return {
    place,
    documents: {
      config: configOf({ tags: ['x'], ...config }),
      memory: memoryOf({ summary: 'half \ud83d' }),
      costs: noCosts(),
      pulse: pulseOf({ state: 'idle' }),
    },
    archived: undefined,
    left: [],
    logs: [{ file: 'a.log', at: new Date(AT), pieces }],
    runs: RUNS,
    async *entries() {
      yield entries;
    },
    ...fields,
  };
}

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('a block is the same in a database, due if it runs, and replaced as a whole', async (t) => {
    const { database, ask } = await migrated(t);
    await new Partitions(database, () => undefined).keep();
    const parts = new Set<string>();
    const waits = userEntry('z', { status: 'queued', processed: false, clientId: 'c' });
    const entries = [...Array.from({ length: 450 }, (_, n) => pair(`m${n}`, { content: 'x \0'.repeat(n) })).flat(), waits];
    const runs = block('blocks/a', entries, {}, { enabled: true });
    await putBlock(database, runs, parts);
    t.same(await digestOf(await readBlock(database.query, 'blocks/a')), await digestOf(runs));
    t.match(await ask('select name, wanted, state, due_at is not null as due, queued, next_seq::int, last_id from bh.block'), [
      { name: 'a', wanted: true, state: 'idle', due: true, queued: 1, next_seq: 901, last_id: '' },
    ]);
    t.match(await ask('select state, status, gone_at from bh.block_entry'), [{ state: 'idle', status: 'SLEEPING', gone_at: null }]);
    const stopped = block('blocks/a', pair('m'), { logs: [] });
    await putBlock(database, stopped, parts);
    t.same(await digestOf(await readBlock(database.query, 'blocks/a')), await digestOf(stopped));
    t.match(
      await ask('select wanted, due_at, (select count(*)::int from bh.message) as messages, (select count(*)::int from bh.log_line) as lines from bh.block'),
      [{ wanted: false, due_at: null, messages: 2, lines: 0 }],
    );
    const failing = {
      ...runs,
      entries: () => {
        throw new Error('the source is gone');
      },
    };
    await t.rejects(putBlock(database, failing, parts), { message: 'the source is gone' });
    t.same(await digestOf(await readBlock(database.query, 'blocks/a')), await digestOf(stopped));
    t.match(await ask('select id, decided_at from bh.approval'), [{ id: 'a1', decided_at: null }]);
    await database.transaction((run) => removeBlock(run, 'blocks/a'));
    t.same(
      await ask('select (select count(*)::int from bh.run_record) + (select count(*)::int from bh.run_result) + (select count(*)::int from bh.approval) as n'),
      [{ n: 0 }],
    );
    await t.rejects(readBlock(database.query, 'blocks/a'), { code: 'BLOCK_NOT_FOUND' });
    t.same(await ask('select count(*)::int as n from bh.message'), [{ n: 0 }]);
  });

  t.test('several archived blocks had the same name, and one has it now', async (t) => {
    const { database, ask } = await migrated(t);
    const parts = new Set<string>();
    const places = ['a_2026-11-20T14-03-22-123Z', 'a_2026-11-21T14-03-22-123Z'];
    const facts = { messages: 2, sizeBytes: 9 } as object;
    for (const archiveName of places) {
      const archived = { archiveName, originalName: 'a', archivedAt: AT, ...facts } as NonNullable<CopiedBlock['archived']>;
      const one = block(`archive/${archiveName}`, pair('m'), { archived }, { enabled: true });
      await putBlock(database, one, parts);
      t.same(await digestOf(await readBlock(database.query, `archive/${archiveName}`)), await digestOf(one));
    }
    await putBlock(database, block('blocks/a', []), parts);
    t.same(await ask('select count(*)::int as n from bh.block where wanted or due_at is not null'), [{ n: 0 }]);
    t.same(await ask('select count(*)::int as n from bh.log_line_rest'), [{ n: 0 }], 'each day of a log has its part');
  });

  t.test('a document that can not be read is named', async (t) => {
    const { database, ask } = await migrated(t);
    await putBlock(database, block('blocks/a', []), new Set());
    await ask("update bh.document set value = '[]' where kind = 'memory'");
    await t.rejects(readBlock(database.query, 'blocks/a'), { code: 'BLOCK_DAMAGED', message: /memory\.json can't be used/ });
  });
});
