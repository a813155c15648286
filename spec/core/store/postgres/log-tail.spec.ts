import t from 'tap';
import { PostgresLog } from '../../../../core/store/postgres/log.ts';
import { LogWriter } from '../../../../core/store/postgres/log-writer.ts';
import { blockIn, migrated } from '../../../support/migrated.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { until } from '../../../support/until.ts';

t.test('lines of other servers are given once each and in order, also without a notice, and none from before', { skip: noPostgres }, async (t) => {
  const world = await migrated(t);
  const block = await blockIn(world, 'ada');
  const { database } = world;
  const logOf = (node: string, lines: string[] = []): PostgresLog => {
    const listener = {
      onLogged: (_file: string, _offset: number, text: string) => void lines.push(text.trim().split(' ')[2] ?? ''),
      onLogFault: (error: Error) => t.fail(error.message),
    };
    const limits = { logLimits: () => ({ maxFileBytes: 300, maxFiles: 50 }) };
    const writer = new LogWriter(database, () => node);
    return new PostgresLog({
      database,
      writer,
      block,
      listener: { ...listener, ...limits },
      onWritten: () => () => undefined,
      node: () => node,
      now: Date.now,
    });
  };
  const lines: string[] = [];
  const [here, there] = [logOf('here00', lines), logOf('there0')];
  there.write('INFO', 'before');
  await there.flush();
  const unfollow = here.follow();
  t.teardown(unfollow);
  const from = (node: string): string[] => lines.filter((name) => name.startsWith(node));
  while (from('first').length === 0) {
    there.write('INFO', 'first'); // until the place is known from which it looks
    await there.flush();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  for (let n = 10; n < 40; n += 1) {
    there.write('INFO', `there${n}`);
    here.write('INFO', `here${n}`);
    if (n % 5 === 0) await Promise.all([here.flush(), there.flush()]);
  }
  await Promise.all([here.flush(), there.flush()]);
  await until('all are there', () => from('there').length >= 30);
  const wanted = (node: string): string[] => Array.from({ length: 30 }, (_, n) => `${node}${n + 10}`);
  t.strictSame([from('there'), from('here'), from('before')], [wanted('there'), wanted('here'), []]);
});
