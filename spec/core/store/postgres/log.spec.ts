import t from 'tap';
import { PostgresLog } from '../../../../core/store/postgres/log.ts';
import { LogWriter } from '../../../../core/store/postgres/log-writer.ts';
import { blockIn, migrated } from '../../../support/migrated.ts';
import { noPostgres } from '../../../support/postgres.ts';

const NOW = Date.parse('2026-11-20T14:03:22.123Z');

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('files have a limit and a number, lines are told with their places, and what can not be kept is counted', async (t) => {
    const world = await migrated(t);
    const block = await blockIn(world, 'ada');
    const { database, proxy } = await world.openByProxy();
    const [lines, faults] = [[] as [string, number, string][], [] as Error[]];
    let [maxFileBytes, maxFiles] = [200, 50];
    const listener = {
      onLogged: (file: string, offset: number, text: string) => void lines.push([file, offset, text]),
      onLogFault: (error: Error) => void faults.push(error),
      logLimits: () => ({ maxFileBytes, maxFiles }),
    };
    const writer = new LogWriter(database, () => 'node-1');
    const log = new PostgresLog({ database, writer, block, listener, onWritten: () => () => undefined, node: () => 'node-1', now: () => NOW });
    for (let n = 0; n < 12; n += 1) log.write('INFO', 'event', { n });
    await log.flush();
    t.equal(lines.length, 12);
    for (const [file, offset, text] of lines) t.equal((await log.part(file, { before: offset + text.length, maxBytes: text.length })).content, text);
    maxFiles = 2;
    log.open('next');
    log.write('INFO', 'last');
    await log.flush();
    let files = await log.newest();
    // The oldest are deleted beside the writing.
    while (files.length > 2) files = await log.newest();
    t.ok(
      files.some(({ file }) => file.includes('next-node')),
      'the newest stays',
    );
    proxy.refuse();
    log.write('INFO', 'lost');
    await log.flush();
    t.equal(faults.length, 1, 'a line that is lost is told');
    log.write('INFO', 'lost');
    await log.flush();
    t.equal(faults.length, 1, 'once');
    proxy.heal();
    maxFileBytes = 10_000_000; // else each line is a file, of which all but two are deleted again
    const long = 'x'.repeat(1900);
    for (let n = 0; n < 3000; n += 1) log.write('INFO', 'long', { long });
    await log.flush();
    log.write('INFO', 'more');
    await log.flush();
    t.match(await world.ask("select convert_from(bytes, 'UTF8') as text from bh.log_line where bytes::text like '%' || encode('dropped', 'hex') || '%'"), [
      { text: /log.dropped lines=\d+/ },
    ]);
    await log.close();
    log.write('INFO', 'after');
    log.reopen();
    t.ok((await log.clear()) > 0);
    t.same(await world.ask('select from bh.log_line'), []);
  });
});
