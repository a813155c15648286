import t from 'tap';
import { Client, findServer } from '../../../cli/client/client.ts';
import { connectTo } from '../../../cli/client/connection.ts';
import { openFeed } from '../../../cli/client/socket.ts';
import { ownerOf } from '../../../core/index.ts';
import { WorkspaceLock } from '../../../core/store/files/lock.ts';
import { startFakeBlockServer } from '../../support/fake-block-server.ts';
import { writeNewToken } from '../../support/new-token.ts';
import { portOfOther, withOtherUser } from '../../support/other-user.ts';
import { testFolder } from '../../support/test-folder.ts';

t.test('a connection to a server of this user is open; one that nobody accepts has the error of the system', async (t) => {
  const { signal } = new AbortController();
  const server = await startFakeBlockServer(t, () => undefined);
  const socket = await connectTo(server.place, signal, 1000);
  t.teardown(() => socket.destroy());
  t.equal(socket.readyState, 'open');
  await t.rejects(connectTo({ ...server.place, url: new URL('http://127.0.0.1:1') }, signal, 1000), { code: 'ECONNREFUSED' });
  await t.rejects(connectTo(server.place, AbortSignal.abort(), 1000), { name: 'AbortError' });
});

t.test('a port that another user has taken gets no token, by a request or by a subscription', withOtherUser, async (t) => {
  const workspace = testFolder(t);
  await writeNewToken(workspace);
  const lock = await WorkspaceLock.acquire(workspace);
  t.teardown(() => lock.release());
  const { port, pid } = await portOfOther(t);
  await lock.announce(`http://127.0.0.1:${port}`);
  const client = new Client(await findServer(workspace, 'x'), new AbortController().signal);
  const refused = { kind: 'server', message: /a program of another user listens instead .* so the token was not sent\./ };
  await t.rejects(client.json('GET', '/'), refused);
  await t.rejects(openFeed(client, 'b', { refresh() {}, step() {}, gone() {}, lost() {} }), refused);
  const owner = await ownerOf(pid);
  const theirs = new Client({ ...client.place, owner }, new AbortController().signal);
  t.same(await theirs.json('GET', '/'), {}, 'a server that runs as that user is the one in the lock');
});
