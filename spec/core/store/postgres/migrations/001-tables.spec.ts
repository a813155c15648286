import t from 'tap';
import { TABLES } from '../../../../../core/store/postgres/migrations/001-tables.ts';

t.test('it is made of statements that name the schema', async (t) => {
  const statements = TABLES.replace(/--.*$/gm, '')
    .split(';')
    .map((text) => text.trim())
    .filter((text) => text !== '');
  for (const statement of statements) t.match(statement, /^create (?:table bh\.\w+|(?:unique )?index \w+ on bh\.\w+) /, statement.slice(0, 60));
  t.equal(statements.length, 43);
});
