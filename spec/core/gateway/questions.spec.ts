import t from 'tap';
import { Questions } from '../../../core/gateway/questions.ts';
import { startServer } from '../../support/server.ts';
import { sendJson } from '../../support/upstream.ts';
import { createOpenAI } from '../../../adapters/openai/index.ts';

t.test('a list that is longer than a person reads is cut, and told once', async (t) => {
  t.type(Questions, 'function');
  const data = [...Array.from({ length: 6000 }, (_, index) => ({ id: `m${index}` })), { id: 'x'.repeat(300) }];
  const server = await startServer(t, { adapters: [createOpenAI()], env: {}, answer: (_request, res) => sendJson(res, { data }) });
  const faults: string[] = [];
  server.core.events.on('workspace.fault', ({ what }) => faults.push(what));
  await server.core.credentials?.update('gpu', { adapter: 'openai', baseURL: `${server.upstream.url}/v1` });
  t.equal((await server.core.models('gpu')).count, 5000);
  t.equal((await server.core.models('gpu')).count, 5000);
  t.same(faults, ['the list of models of gpu']);
});
