import t, { type Test } from 'tap';
import { PostgresLog, type PostgresLogOptions } from '../../../../core/store/postgres/log.ts';
import { LogTail } from '../../../../core/store/postgres/log-tail.ts';
import { LogWriter } from '../../../../core/store/postgres/log-writer.ts';
import { ADD } from '../../../../core/store/postgres/sql/logs.ts';
import { blockIn, migrated } from '../../../support/migrated.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { until } from '../../../support/until.ts';

interface LogRig extends Pick<PostgresLogOptions, 'database' | 'block'> {
  readonly node: string;
  readonly maxFileBytes: number;
  readonly now?: () => number;
  /** Gets what each line says. */
  readonly lines?: string[];
}

function logOf(t: Test, { database, block, node, maxFileBytes, now = Date.now, lines = [] }: LogRig): PostgresLog {
  const listener = {
    onLogged: (_file: string, _offset: number, text: string) =>
      void lines.push(
        ...text
          .trim()
          .split('\n')
          .map((line) => line.split(' ')[2] ?? ''),
      ),
    onLogFault: (error: Error) => t.fail(error.message),
    logLimits: () => ({ maxFileBytes, maxFiles: 50 }),
  };
  const writer = new LogWriter(database, () => node);
  return new PostgresLog({ database, writer, block, listener, onWritten: () => () => undefined, node: () => node, now });
}

t.test('lines of other servers are given once each and in order, also without a notice, and none from before', { skip: noPostgres }, async (t) => {
  const world = await migrated(t);
  const block = await blockIn(world, 'ada');
  const { database } = world;
  const lines: string[] = [];
  const [here, there] = [
    logOf(t, { database, block, node: 'here00', maxFileBytes: 300, lines }),
    logOf(t, { database, block, node: 'there0', maxFileBytes: 300 }),
  ];
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

t.test('lines of another server are given also where this one has begun a file of a later second meanwhile', { skip: noPostgres }, async (t) => {
  const world = await migrated(t);
  const block = await blockIn(world, 'ada');
  const given: string[] = [];
  const tail = new LogTail({ database: world.database, block, onLines: (_file, _place, text) => given.push(text), everyMs: 20 });
  t.teardown(() => tail.close());
  const add = (at: string, file: string, text: string): Promise<unknown> =>
    world.database.query(ADD, ['other', [at], [block], [file], [0], [Buffer.from(text)]]);
  for (let n = 0; !given.includes('begun'); n += 1) {
    await add('2026-11-20T14:03:20.000Z', `2026-11-20T14-03-20Z-x-${n}.log`, 'begun'); // until the place is known from which it looks
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  tail.given('2026-11-20T14-03-23Z-own.log', 10);
  await add('2026-11-20T14:03:22.999Z', '2026-11-20T14-03-22Z-other.log', 'late');
  await until('it is given', () => given.includes('late'));
  await add('2026-11-20T14:03:24.000Z', '2026-11-20T14-03-24Z-other.log', 'next');
  await until('the next one, too', () => given.includes('next'));
  t.equal(given.filter((text) => text === 'late').length, 1, 'once');
  const end = 'next'.length;
  t.same(
    [end, end + 1].map((place) => tail.given('2026-11-20T14-03-24Z-other.log', place)),
    [false, true],
    'what a look has given is not given again',
  );
});

t.test('lines of one millisecond are in order also where one of them begins the first file of a second', { skip: noPostgres }, async (t) => {
  const world = await migrated(t);
  const block = await blockIn(world, 'ada');
  const { database } = world;
  const clock = { now: Date.parse('2026-11-20T14:03:22.990Z') };
  const lines: string[] = [];
  const shared = { database, block, maxFileBytes: 200, now: () => clock.now };
  const [here, there] = [logOf(t, { ...shared, node: 'here00', lines }), logOf(t, { ...shared, node: 'there0' })];
  t.teardown(here.follow());
  while (lines.length === 0) {
    there.write('INFO', 'first');
    await there.flush();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  lines.length = 0;
  const names = Array.from({ length: 40 }, (_, n) => `line${n}`);
  for (const [index, name] of names.entries()) {
    if (index % 11 === 7) clock.now += 1000;
    there.write('INFO', name);
  }
  await there.flush();
  await until('all are there', () => lines.length >= names.length);
  t.strictSame(
    lines.filter((name) => name !== 'first'),
    names,
  );
});
