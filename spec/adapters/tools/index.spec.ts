// A block with real servers, from its message to its answer.
import { readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createToolHost } from '../../../adapters/tools/index.ts';
import { RUNNABLE, startCore } from '../../support/blocks.ts';
import { testFolder } from '../../support/test-folder.ts';
import { answerOf } from '../../support/tools/answer-of.ts';
import { HOSTILE, runs } from '../../support/tools/sessions-rig.ts';
import { toolModel } from '../../support/tools/tool-model.ts';
import { until } from '../../support/until.ts';

const FILES = join(import.meta.dirname, '../../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
const MARKS = { readOnly: ['*'], idempotent: ['*'], closedWorld: ['*'] };

/** Approves all that a server shows. */
async function approve(host: ReturnType<typeof createToolHost>, name: string) {
  const servers = host.servers;
  if (servers === undefined) throw new Error('there are no servers');
  const { definition } = await servers.get(name);
  const { tools, era } = await servers.test(name, { definition }, new AbortController().signal);
  await servers.approve(name, { definition, tools: Object.fromEntries(tools.map((tool) => [tool.name, tool.hash])) }, 'cli');
  return { tools, era };
}

t.test('a block reads and writes files through a real server that was approved', async (t) => {
  const folder = realpathSync(testFolder(t, { shared: { 'a.txt': 'The rent is 900.' }, workspace: {} }));
  const workspace = `${folder}/workspace`;
  const host = createToolHost({ workspace, env: process.env });
  t.teardown(() => host.close());
  const server = { command: process.execPath, args: [FILES, `${folder}/shared`] };
  await host.servers?.put('files', { server, settings: { marks: MARKS } });
  t.strictSame((await host.catalogue(['files'])).tools, [], 'nothing is offered before it is approved');
  const { era, tools } = await approve(host, 'files');
  t.equal(era, 'legacy');
  t.ok(tools.length > 10);
  const one = await startCore(t, {
    workspace,
    tools: host,
    answer: toolModel(({ results }) => {
      if (results.length === 0) return [{ name: 'files__read_text_file', arguments: { path: `${folder}/shared/a.txt` } }];
      if (results.length === 1) return [{ name: 'files__write_file', arguments: { path: `${folder}/shared/b.txt`, content: 'Noted.' } }];
      return `Read: ${results[0]}`;
    }),
  });
  await one.create('ada', { ...RUNNABLE, tools: { servers: ['files'], allow: ['files/*'] } });
  const { id } = await one.blocks.post('ada', { message: 'What is the rent?' }, 'api');
  await one.blocks.start('ada');
  const answer = await answerOf(one.blocks, 'ada', id);
  t.match(answer.content, /The rent is 900/);
  t.equal(readFileSync(`${folder}/shared/b.txt`, 'utf8'), 'Noted.');
  t.match(answer.steps, [
    { tool: 'files/read_text_file', outcome: 'done' },
    { tool: 'files/write_file', outcome: 'done' },
  ]);
  t.strictSame(one.factsOf('server.started'), [{ server: 'files' }]);
  t.match(await host.servers?.list(), [{ name: 'files', state: 'ready' }]);
  const call = { block: 'ada', server: 'files', tool: 'write_file', arguments: {}, timeoutMs: 1000, maxBytes: 1000, callId: 'ada/m/9.1' };
  await t.rejects(host.call({ ...call, pin: 'another' }, new AbortController().signal), { code: 'TOOL_NOT_BEGUN' });
});

t.test('an entry that is changed or taken away ends the process that was started for it', async (t) => {
  const workspace = realpathSync(testFolder(t));
  const note = `${realpathSync(t.testdirName)}-note`;
  t.teardown(() => rmSync(note, { force: true }));
  const host = createToolHost({ workspace, env: process.env });
  t.teardown(() => host.close());
  const pids = () =>
    readFileSync(note, 'utf8')
      .split('\n')
      .flatMap((line) => (line.startsWith('started ') ? [Number(line.slice(8))] : []));
  await host.servers?.put('hostile', { server: { command: process.execPath, args: [HOSTILE, JSON.stringify({ note })] } });
  await approve(host, 'hostile');
  const { tools } = await host.catalogue(['hostile']);
  const { pin = '' } = tools.find(({ tool }) => tool === 'echo') ?? {};
  const call = { block: 'ada', server: 'hostile', tool: 'echo', arguments: {}, pin, timeoutMs: 60_000, maxBytes: 1_000_000, callId: 'ada/m/1.1' };
  await host.call(call, new AbortController().signal);
  const running = pids().at(-1) ?? 0;
  t.ok(runs(running));
  writeFileSync(join(workspace, 'mcp.json'), '{"mcpServers":{}}');
  const asked: Promise<unknown>[] = [];
  await until('it is gone', () => {
    asked.push(host.catalogue(['hostile']));
    return !runs(running);
  });
  await Promise.all(asked);
  await t.rejects(host.call(call, new AbortController().signal), { code: 'TOOL_NOT_BEGUN' });
  await host.close();
});

t.test('a server that has failed is told of in the catalogue', async (t) => {
  const workspace = realpathSync(testFolder(t));
  const clock = { ms: 0 };
  const host = createToolHost({ workspace, env: process.env, backOffMs: 1, now: () => (clock.ms += 1000) });
  t.teardown(() => host.close());
  await host.servers?.put('hostile', { server: { command: process.execPath, args: [HOSTILE, '{}'] } });
  await approve(host, 'hostile');
  const { tools } = await host.catalogue(['hostile']);
  const { pin = '' } = tools.find(({ tool }) => tool === 'exit') ?? {};
  const call = { block: 'ada', server: 'hostile', tool: 'exit', arguments: {}, pin, timeoutMs: 60_000, maxBytes: 1_000_000 };
  for (let at = 1; at <= 5; at += 1)
    await t.rejects(host.call({ ...call, callId: `ada/m/${at}.1` }, new AbortController().signal), { code: 'TOOL_OUTCOME_UNKNOWN' });
  await t.rejects(host.call({ ...call, callId: 'ada/m/6.1' }, new AbortController().signal), { code: 'TOOL_NOT_BEGUN' });
  const { problems } = await host.catalogue(['hostile']);
  t.match(problems, [{ server: 'hostile', problem: /ended with code 1/ }]);
});
