// kill -9 while a server of tools works on a task: the next start asks for the task, and there is one effect.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { ChatEntry, RunRecord } from '../../core/types.ts';
import { testFolder } from '../support/test-folder.ts';
import { bundledNode } from '../support/tools/bundled-nodes.ts';
import { httpDesk } from '../support/tools/http-desk.ts';
import type { TaskNodeOptions } from '../support/tools/task-node.ts';
import { toolModel } from '../support/tools/tool-model.ts';
import { until } from '../support/until.ts';
import { startUpstream } from '../support/upstream.ts';

const SERVER = join(import.meta.dirname, '../support/tools/task-server.mjs');

t.setTimeout(300_000);

async function start(t: Test, options: TaskNodeOptions): Promise<ChildProcess> {
  const child = spawn(process.execPath, [await bundledNode('task-node'), JSON.stringify(options)], { stdio: ['ignore', 'inherit', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

/** Kills a server in a task, and starts it again. */
async function killed(t: Test, bankOf: (files: { file: string; note: string; book: string }) => Promise<object>) {
  const folder = testFolder(t, { workspace: {} });
  const files = { file: join(folder, 'tasks.json'), note: join(folder, 'told'), book: join(folder, 'effects') };
  const lines = (file: string): string[] => (existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []);
  const model = await startUpstream(
    t,
    toolModel(({ results }) => (results.length === 0 ? [{ name: 'bank__pay', arguments: { to: 'bob', workMs: 3000 } }] : `It said: ${results[0]}`)),
  );
  const workspace = join(folder, 'workspace');
  const options = { workspace, daemon: model.url, bank: await bankOf(files) };
  const first = await start(t, options);
  await until('the task is asked for', () => lines(files.note).includes('tasks/get task-1'), 60_000);
  first.kill('SIGKILL');
  await once(first, 'close');
  const before = lines(files.note).length;
  const [code] = await once(await start(t, options), 'close');
  t.equal(code, 0);
  const block = join(workspace, 'blocks/ada');
  const entries = JSON.parse(readFileSync(join(block, 'chat.json'), 'utf8')) as ChatEntry[];
  const records = lines(join(block, 'runs', `${entries[0]?.id}.jsonl`)).map((line) => JSON.parse(line) as RunRecord);
  t.match(entries.at(-1), { role: 'assistant', status: 'done', steps: [{ outcome: 'done', isError: false }] });
  t.match(JSON.stringify(entries.at(-1)), 'Paid bob.');
  t.equal(lines(files.book).length, 1, 'one effect');
  t.ok(lines(files.note).slice(before).includes('tasks/get task-1'), 'it was asked for');
  t.equal(lines(files.note).filter((line) => line.startsWith('tools/call')).length, 1, 'one call');
  t.strictSame(
    records.flatMap((record) => ('call' in record ? [`${record.t} ${record.call}`] : [])),
    ['call 1.1', 'task 1.1', 'result 1.1'],
  );
}

t.test('14: killed in a task of a server at an address, the next start asks for it by the id in the journal, and there is one effect', async (t) => {
  let desk: Awaited<ReturnType<typeof httpDesk>> | undefined;
  await killed(t, async (files) => {
    desk = await httpDesk(t, files);
    return { type: 'http', url: desk.url };
  });
  const named = desk?.asked.filter(({ method }) => method === 'tasks/get') ?? [];
  t.ok(named.length > 1 && named.every(({ name }) => name === 'task-1'), 'each question names its task in the header, for what routes by it');
});

t.test('14: so for a program that keeps its tasks over a restart', async (t) => {
  await killed(t, async (files) => ({ command: process.execPath, args: [SERVER, JSON.stringify(files)] }));
});
