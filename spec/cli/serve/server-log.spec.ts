import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createLogger } from '../../../cli/serve/logging.ts';
import { ServerLog, serverLogs } from '../../../cli/serve/server-log.ts';
import { testFolder } from '../../support/test-folder.ts';
import { until } from '../../support/until.ts';

const STDERR = { on: () => undefined, write: () => true, writableLength: 0 } as unknown as NodeJS.WriteStream;

/** The lines of all files. */
function linesIn(workspace: string): string[] {
  const folder = serverLogs(workspace);
  return readdirSync(folder)
    .sort()
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'));
}

t.test('lines of the log are in a file of the workspace, each with its own time and level', async (t) => {
  const workspace = testFolder(t);
  const file = new ServerLog(workspace, (error) => t.fail(error.message));
  const log = createLogger('debug', STDERR, file);
  log.debug({ ms: 12.3456 }, 'request served');
  t.same(readdirSync(workspace), [], 'nothing is written before the workspace is held');
  file.open();
  log.error({ err: new Error('the cause'), usage: { inputTokens: 3 } }, 'failed');
  await file.close();
  const [first, second] = linesIn(workspace);
  t.match(first, /^\d{4}-\d\d-\d\dT[\d:.]+Z DEBUG "request served" ms=12\.3$/);
  t.match(second, /Z ERROR failed err="Error: the cause\\n .*" usage="\{\\"inputTokens\\":3\}"$/);
  t.match(readdirSync(serverLogs(workspace)), [/Z-server\.log$/]);
});

t.test('a log that was never opened writes nothing', async (t) => {
  const workspace = testFolder(t);
  const file = new ServerLog(workspace, (error) => t.fail(error.message));
  createLogger('info', STDERR, file).info({}, 'early');
  await file.close();
  t.same(readdirSync(workspace), []);
});

t.test('ten files of 5 MiB are kept', async (t) => {
  const workspace = testFolder(t);
  mkdirSync(serverLogs(workspace));
  for (let number = 0; number < 12; number += 1) {
    writeFileSync(join(serverLogs(workspace), `2026-01-01T00-00-${String(number).padStart(2, '0')}Z-server.log`), 'old\n');
  }
  const file = new ServerLog(workspace, (error) => t.fail(error.message));
  file.open();
  const text = 'x'.repeat(1900);
  const written = (): number => readdirSync(serverLogs(workspace)).reduce((sum, name) => sum + statSync(join(serverLogs(workspace), name)).size, 0);
  for (let batch = 1; batch <= 6; batch += 1) {
    for (let number = 0; number < 500; number += 1) file.write(JSON.stringify({ level: 30, time: Date.parse('2026-11-20'), msg: 'line', text }));
    await until('the batch is written', () => written() > batch * 900_000);
  }
  await file.close();
  const names = readdirSync(serverLogs(workspace));
  t.equal(names.length, 10);
  t.equal(names.filter((name) => name.startsWith('2026-11')).length, 2);
});

t.test('a folder that can not be written is told once, and the server goes on', async (t) => {
  const workspace = testFolder(t);
  writeFileSync(serverLogs(workspace), 'a file');
  const faults: string[] = [];
  const file = new ServerLog(workspace, ({ message }) => void faults.push(message));
  file.open();
  for (const msg of ['one', 'two']) file.write(JSON.stringify({ level: 30, time: 1, msg }));
  await file.close();
  t.match(faults, [/logs is not a folder/]);
  t.equal(faults.length, 1);
});
