import t from 'tap';
import { BLOCKS } from '../../../../../core/store/postgres/migrations/002-blocks.ts';

t.test('it is made of statements that name the schema', async (t) => {
  const statements = BLOCKS.replace(/--.*$/gm, '')
    .split(';')
    .map((text) => text.trim())
    .filter((text) => text !== '');
  for (const statement of statements)
    t.match(statement, /^(?:create table bh\.\w+|(?:create (?:unique )?index \w+ on|alter table) bh\.\w+) /, statement.slice(0, 60));
});
