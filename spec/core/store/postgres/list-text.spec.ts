// A text that is looked for in a list.
import t from 'tap';
import { ListTexts, pageRows } from '../../../../core/store/postgres/list-text.ts';
import type { Database } from '../../../../core/store/postgres/pool.ts';
import type { ListQuery } from '../../../../core/store/store.ts';
import { migrated } from '../../../support/migrated.ts';
import { noPostgres } from '../../../support/postgres.ts';

/** Of these blocks, `b1` and so on, by their descriptions. */
async function list(t: Parameters<typeof migrated>[0], descriptions: readonly string[]) {
  const { database, ask } = await migrated(t);
  for (const [index, description] of descriptions.entries())
    await ask(
      `with b as (insert into bh.block (name, wanted) values ($1, true) returning id)
       insert into bh.block_entry (block_id, name, description) select id, $1, $2 from b`,
      [`b${index + 1}`, description],
    );
  const ran: string[] = [];
  const query: Database['query'] = (statement, values) => {
    ran.push(statement.name);
    return database.query(statement, values);
  };
  const texts = new ListTexts({ query }, (error) => t.fail((error as Error).message));
  const found = async (asked: ListQuery, limits: object = { looksAt: 2, mostRare: 3 }): Promise<string> => {
    ran.length = 0;
    return (await pageRows({ query }, asked, limits)).rows.map(({ name }) => name).join(' ');
  };
  return { ask, ran, texts, found };
}

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('a text of many blocks is found among the next ones, and a rare one by its letters', async (t) => {
    const { ran, texts, found } = await list(t, ['Orders', 'orders', 'ORDERS', 'an Élan', 'a 50% rebate', 'a_b', 'x\u0001orders']);
    await texts.keep();
    t.equal(await found({ text: 'orders', limit: 1 }), 'b1 b2');
    t.strictSame(ran, ['list-page-name-text-near2']);
    t.equal(await found({ text: 'rebate' }), 'b5');
    t.strictSame(ran, ['list-page-name-text-near2', 'list-is-long', 'list-with-threes', 'list-page-name-blocks-text']);
    t.equal(await found({ text: 'nowhere' }), '');
    t.equal(await found({ text: '50%' }), 'b5', 'with its characters as they are');
    t.equal(await found({ text: 'a_b' }), 'b6');
    t.equal(await found({ text: 'B4' }), 'b4', 'a part of the name, in any case');
    t.equal(await found({ text: '4' }), 'b4', 'one that is too short is looked for in all');
    t.strictSame(ran, ['list-page-name-text-near2', 'list-is-long', 'list-page-name-text']);
    t.equal(await found({ text: '\u0001orders' }), 'b7');
    t.equal(await found({ text: 'x\0\u0001ord' }), 'b7');
    t.equal(await found({ text: 'orders', sort: 'costUsd' }), 'b7 b3 b2 b1', 'too many for the letters');
    t.strictSame(ran.at(-1), 'list-page-costUsd-text');
    t.equal(await found({ text: 'orders', state: ['failed'] }), '');
    t.equal(await found({ text: 'nowhere' }, {}), '');
    t.strictSame(ran, ['list-page-name-text-near', 'list-is-long'], 'a list that was read as a whole is not read again');
  });

  t.test('letters are small and large in the language of the database, as where all entries are read', async (t) => {
    const { ask, texts, found } = await list(t, ['one', 'two', 'an ÉLAN vital']);
    await texts.keep();
    const [all] = await ask("select count(*)::int as n from bh.block_entry where description ilike '%élan%'");
    t.equal(await found({ text: 'élan' }), all?.['n'] === 1 ? 'b3' : '');
  });

  t.test('what a server of a version before has written is mended at the start, and as long as such a server is there', async (t) => {
    const { ask, ran, texts, found } = await list(t, ['one', 'two', 'three']);
    t.equal(await found({ text: 'three' }), '');
    await texts.keep();
    t.equal(await found({ text: 'three' }), 'b3');
    const kept = async (): Promise<readonly string[]> => {
      ran.length = 0;
      await texts.keep();
      return [...ran];
    };
    t.strictSame(await kept(), ['list-has-older']);
    await ask("insert into bh.node (id, expires_at, version, protocol) values ('old', now() + interval '1 h', '0.0.9', 1)");
    await ask("update bh.block_entry set description = 'thirty' where name = 'b3'");
    t.match(await kept(), ['list-has-older', 'list-mend-texts']);
    t.equal(await found({ text: 'thirty' }), 'b3');
    await ask('delete from bh.node');
    t.match(await kept(), ['list-has-older', 'list-mend-texts'], 'once more when it has gone');
    t.strictSame(await kept(), ['list-has-older']);
    texts.start();
    texts.close();
  });
});
