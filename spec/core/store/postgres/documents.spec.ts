import t from 'tap';
import { DerivedDocument, type DocumentOptions, listColumns, PostgresDocument } from '../../../../core/store/postgres/documents.ts';
import type { Revised } from '../../../../core/store/postgres/projection.ts';
import { configOf } from '../../../support/block-files.ts';
import { blockIn, type Migrated, migrated } from '../../../support/migrated.ts';
import { noPostgres } from '../../../support/postgres.ts';

interface Content {
  readonly n: number;
}

async function optionsIn(world: Migrated, told: string[] = []): Promise<DocumentOptions<Content>> {
  const block = await blockIn(world, 'ada');
  await world.ask("insert into bh.document (block_id, kind, value) values ($1, 'memory', '{\"n\":0}')", [block]);
  const parse = (value: unknown): Content => {
    if (typeof (value as Content).n !== 'number') throw new Error('n must be a number');
    return value as Content;
  };
  const shared = { database: world.database, block, name: 'ada', kind: 'memory', parse, clock: () => performance.now() };
  return { ...shared, onChanged: ({ n }) => void told.push(`changed ${n}`), onDamaged: (reason) => void told.push(reason) };
}

const plusOne = ({ n }: Content) => ({ value: { n: n + 1 }, result: n });

t.test('the list gets no text that a database can not keep', async (t) => {
  t.same(listColumns(configOf({ description: 'a\0b', tags: ['\ud800'] })), ['a\ufffdb', null, null, ['\ufffd']]);
});

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('D1: changes of several servers at once are all applied, each to the newest content', async (t) => {
    const world = await migrated(t);
    const options = await optionsIn(world);
    const documents = [1, 2, 3].map(() => new PostgresDocument(options));
    await Promise.all(documents.flatMap((document) => [1, 2, 3, 4].map(() => document.update(plusOne))));
    t.same(await world.ask('select value, rev::int from bh.document'), [{ value: { n: 12 }, rev: 13 }]);
    for (const document of documents) {
      document.hint();
      t.same(await document.read(), { n: 12 });
    }
  });

  t.test('X10: of a database that has lost its last commits, what is older now is read again and may be changed', async (t) => {
    const world = await migrated(t);
    let past = 0;
    let ms = 0;
    const options = { ...(await optionsIn(world)), past: () => past, clock: () => ms };
    const [durable, derived] = [new PostgresDocument(options), new DerivedDocument(options, { store: () => undefined, isWaiting: () => false })];
    for (const n of [0, 1, 2]) t.equal(await durable.update(plusOne), n);
    t.same([await durable.read(), await derived.read()], [{ n: 3 }, { n: 3 }]);
    await world.ask('update bh.document set value = \'{"n":7}\', rev = 2');
    ms += 5000;
    t.same([await durable.read(), await derived.read()], [{ n: 3 }, { n: 3 }], 'two reads may come in another order');
    past += 1;
    ms += 5000;
    t.same([await durable.read(), await derived.read()], [{ n: 7 }, { n: 7 }]);
    t.equal(await durable.update(plusOne), 7);
    t.same(await world.ask('select value, rev::int from bh.document'), [{ value: { n: 8 }, rev: 3 }]);
  });

  t.test('a change with a claim is refused when another server has the block, and one without a block has none', async (t) => {
    const world = await migrated(t);
    const options = await optionsIn(world);
    const document = new PostgresDocument(options);
    const claim = { name: 'ada', block: options.block, owner: 'me', fence: 1 };
    await t.rejects(document.update(plusOne, { claim }), { code: 'LEASE_LOST' });
    await t.rejects(new PostgresDocument({ ...options, also: async () => undefined }).update(plusOne, { claim }), { code: 'LEASE_LOST' });
    await document.close();
    await t.rejects(document.update(plusOne), { code: 'WRONG_STATE' });
    document.reopen();
    await world.ask("update bh.block set name = 'bob'");
    document.hint();
    await t.rejects(document.read(), { code: 'BLOCK_NOT_FOUND' });
    await world.ask('delete from bh.block');
    await t.rejects(document.update(plusOne), { code: 'BLOCK_NOT_FOUND' });
  });

  t.test('content that can not be used is told once, stays as it is, and may be replaced', async (t) => {
    const world = await migrated(t);
    const told: string[] = [];
    const document = new PostgresDocument(await optionsIn(world, told));
    await world.ask("update bh.document set value = '{}', rev = 2");
    for (let n = 0; n < 2; n += 1) await t.rejects(document.read(), { code: 'BLOCK_DAMAGED', message: /^memory.json can't be used: n must be a number\. / });
    await t.rejects(document.update(plusOne), { code: 'BLOCK_DAMAGED' });
    await document.replace((old) => ({ n: old === undefined ? 7 : 8 }));
    t.same([told, await document.read()], [['n must be a number', 'changed 7'], { n: 7 }]);
  });

  t.test('what can be made again is stored later, as it is then, and never over a change of somebody else', async (t) => {
    const world = await migrated(t);
    let clock = 0;
    const parts: (() => Revised | undefined)[] = [];
    const options = { ...(await optionsIn(world)), clock: () => clock };
    const document = new PostgresDocument({ ...options, storeLater: (part) => void parts.push(part) });
    const other = new PostgresDocument(options);
    const stored = async () => (await world.ask('select value, rev::int from bh.document'))[0];
    const late = { isDerived: true };
    t.equal(await document.update(plusOne, late), 0);
    await document.update(plusOne, late);
    t.same([await document.read(), (await stored())?.['value']], [{ n: 2 }, { n: 0 }], 'it is known here at once');
    clock += 1000;
    t.same(await document.read(), { n: 2 }, 'also after a look');

    const first = parts[1]?.();
    t.match(first, { text: '{"n":2}', rev: 1 });
    await document.update(plusOne, late);
    await world.ask('update bh.document set value = \'{"n":2}\', rev = 2');
    first?.onStored(2);
    t.match(parts[2]?.(), { text: '{"n":3}', rev: 2 }, 'what came while it was stored follows it');

    await document.update(plusOne);
    t.same(await stored(), { value: { n: 4 }, rev: 3 }, 'a change that is stored at once takes it along');
    t.equal(parts[2]?.(), undefined);

    await document.update(plusOne, late);
    const refused = parts[3]?.();
    await other.update(() => ({ value: { n: 70 }, result: undefined }));
    refused?.onStored(undefined);
    t.same(await document.read(), { n: 70 }, 'a change of another server is not lost');
    t.equal(parts[3]?.(), undefined);
    await document.update(plusOne, late);
    t.match(parts[4]?.(), { text: '{"n":71}', rev: 4 });
  });

  t.test('a derived document changes at once, and is read again when it is stored', async (t) => {
    const world = await migrated(t);
    const waiting: Content[] = [];
    const document = new DerivedDocument(await optionsIn(world), { store: (value) => void waiting.push(value), isWaiting: () => waiting.length > 0 });
    t.equal(await document.update(plusOne), 0);
    await world.ask('update bh.document set value = \'{"n":5}\', rev = 9');
    document.hint();
    t.same([await document.read(), waiting], [{ n: 1 }, [{ n: 1 }]]);
    waiting.length = 0;
    document.hint();
    t.same(await document.read(), { n: 5 });
    await document.replace((old) => ({ n: (old?.n ?? 0) * 2 }));
    t.same(await document.read(), { n: 10 });
  });
});
