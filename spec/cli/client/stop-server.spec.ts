import t from 'tap';
import { stopServer } from '../../../cli/client/stop-server.ts';
import { DAEMON_END, daemonLine } from '../../support/server.ts';
import { openDeskOfProcess } from '../run.ts';

const { signal } = new AbortController();

t.test('where no server runs, none is stopped', async (t) => {
  t.equal(await stopServer(t.testdir(), signal), undefined);
});

t.test('a server that lets an answer go on is named, with the command that ends it at once', async (t) => {
  let finish = (): void => undefined;
  const { workspace, begin, server } = await openDeskOfProcess(t, (_request, res) => {
    res.writeHead(200, { 'content-type': 'application/x-ndjson' }).write(daemonLine('half '));
    finish = () => void res.end(daemonLine('whole') + DAEMON_END);
  });
  const asked = await fetch(`${server.url}/v1/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${(await begin(['token']).ended).stdout.trim()}`, 'content-type': 'application/json' },
    body: JSON.stringify({ adapter: 'ollama', model: 'm', messages: [{ role: 'user', content: 'hi' }], stream: true }),
  });
  const { pid } = server.child;
  await t.rejects(stopServer(workspace, signal, 0), {
    kind: 'server',
    message: new RegExp(`^The server \\(process ${pid}\\) has not ended yet; \`kill -9 ${pid}\``),
  });
  finish();
  t.match(await asked.text(), 'whole');
  t.equal((await server.ended).code, 0);
});
