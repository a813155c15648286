import t from 'tap';
import { ask, noPostgres, postgresStore } from '../../support/postgres.ts';
import { runHere } from '../run.ts';

t.test('a database must be named', async (t) => {
  t.match(await runHere(t, ['migrate']), { code: 2, stdout: '', stderr: /BLOCKHOUSE_STORE.*--store/ });
  const wrong = await runHere(t, ['migrate', '--store', 'mysql://me:secret@host/db']);
  t.match(wrong, { code: 2, stderr: /postgres:\/\// });
  t.notMatch(wrong.stderr, 'secret');
  t.match(await runHere(t, ['migrate', '--store', 'postgres://me:secret@127.0.0.1:1/db']), { code: 5, stderr: /does not answer \(ECONNREFUSED\)/ });
});

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('a database is brought to this version, and that is said before and after', async (t) => {
    const store = await postgresStore(t);
    const env = { BLOCKHOUSE_STORE: store };
    t.strictSame(await runHere(t, ['migrate', '--check'], { env }), {
      code: 1,
      stdout:
        'to do: 001-tables\nto do: 002-blocks\nto do: 003-credentials\nto do: 004-runs\nto do: 005-list-texts\nto do: 006-cost-days\nto do: 007-sums-of-costs\n',
      stderr: '',
    });
    t.match(await runHere(t, ['migrate', '--check', '--json'], { env }), {
      code: 1,
      stdout: '{"pending":["001-tables","002-blocks","003-credentials","004-runs","005-list-texts","006-cost-days","007-sums-of-costs"]}\n',
    });
    t.strictSame(await runHere(t, ['migrate'], { env }), {
      code: 0,
      stdout: 'done: 001-tables\ndone: 002-blocks\ndone: 003-credentials\ndone: 004-runs\ndone: 005-list-texts\ndone: 006-cost-days\ndone: 007-sums-of-costs\n',
      stderr: '',
    });
    t.strictSame(await runHere(t, ['migrate'], { env: { BLOCKHOUSE_STORE: 'postgres://127.0.0.1:1/db', BLOCKHOUSE_STORE_DIRECT: store } }), {
      code: 0,
      stdout: 'Nothing to do.\n',
      stderr: '',
    });
    t.strictSame(await runHere(t, ['migrate', '--check', '--store', store]), { code: 0, stdout: 'Nothing to do.\n', stderr: '' });
    t.strictSame(await runHere(t, ['migrate', '--sql'], { env }), { code: 0, stdout: '', stderr: '' });
  });

  t.test('the statements that it prints do the same', async (t) => {
    const store = await postgresStore(t);
    const { stdout } = await runHere(t, ['migrate', '--sql', '--store', store]);
    t.match(JSON.parse((await runHere(t, ['migrate', '--sql', '--json', '--store', store])).stdout), { sql: stdout });
    await ask(store, stdout);
    t.match(await runHere(t, ['migrate', '--check', '--store', store]), { code: 0 });
  });
});
