// A block with real servers, from its message to its answer.
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hostOf, ServerSessions } from '../../../adapters/tools/index.ts';
import { RUNNABLE, startCore } from '../../support/blocks.ts';
import { testFolder } from '../../support/test-folder.ts';
import { nodeServer, StandInBook } from '../../support/tools/stand-in-book.ts';
import { toolModel } from '../../support/tools/tool-model.ts';
import { answerOf } from '../../support/tools/answer-of.ts';

const FILES = join(import.meta.dirname, '../../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');

t.test('a block reads and writes files through a real server', async (t) => {
  const folder = realpathSync(testFolder(t, { shared: { 'a.txt': 'The rent is 900.' }, workspace: {} }));
  const workspace = `${folder}/workspace`;
  const book = new StandInBook();
  const sessions = new ServerSessions({ workspace, env: process.env });
  const host = hostOf({ sessions, book });
  t.teardown(() => host.close());
  const files = nodeServer('files', [FILES, `${folder}/shared`]);
  const seen = await sessions.look(files, new AbortController().signal);
  t.equal(seen.era, 'legacy');
  t.ok(seen.tools.length > 10);
  book.approve({ ...files, era: seen.era }, seen.tools);
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
  t.equal(sessions.stateOf('files').state, 'ready');
});
