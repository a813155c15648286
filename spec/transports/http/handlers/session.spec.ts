import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import t from 'tap';
import { WS_PATH } from '../../../../transports/ws-path.ts';
import { writeNewToken } from '../../../support/new-token.ts';
import { startAsOther, withOtherUser } from '../../../support/other-user.ts';
import { pageFolder } from '../../../support/page-folder.ts';
import { RawClient } from '../../../support/raw.ts';
import { CHAT, startServer, type TestServer } from '../../../support/server.ts';
import { until } from '../../../support/until.ts';
import { handshake, startWsServer, type WsServer } from '../../../support/ws.ts';

const bearer = (key: string) => ({ token: false as const, headers: { authorization: `Bearer ${key}` } });
const signIn = (server: TestServer, code: unknown) => server.call('POST', '/api/session', { token: false, body: { code } });
const secretOf = async (server: TestServer, path: string, field: string): Promise<string> => String((await server.call('POST', path)).json[field]);
const newCode = (server: TestServer) => secretOf(server, '/api/session/code', 'code');
const newKey = (server: TestServer) => secretOf(server, '/api/session', 'key');
const newTicket = (server: TestServer) => secretOf(server, '/api/session/ticket', 'ticket');

/** The status line of a handshake without any Authorization. */
async function knock(t: Test, server: WsServer, query: string): Promise<{ client: RawClient; status: number }> {
  const client = await RawClient.connect(t, server.port);
  client.send(handshake(server, { path: `${WS_PATH}?${query}` }));
  await until('an answer', () => client.received.includes('\r\n\r\n'));
  return { client, status: Number(client.received.split(' ')[1]) };
}
type Test = Parameters<typeof startServer>[0];

t.test('case 1: a code works once; the second use and a guess are 401, and 60 guesses are 429', async (t) => {
  const server = await startServer(t);
  const code = await newCode(server);
  t.match(code, /^[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{22}$/, '128 bits, and a mark');
  const signed = await signIn(server, code);
  t.match(signed, { status: 200, json: { key: /^bhs_/ }, headers: { 'cache-control': 'no-store' } });
  t.equal(signed.headers['set-cookie'], undefined);
  t.strictSame(Object.keys(signed.json).sort(), ['expiresAt', 'key']);
  t.match(await signIn(server, code), { status: 401, json: { code: 'UNAUTHORIZED', error: /blockhouse open/ } });
  const waiting = await newCode(server);
  const statuses: number[] = [];
  for (let count = 0; count < 60; count += 1) statuses.push((await signIn(server, `guess-${count}`)).status);
  t.strictSame([statuses[0], statuses.at(-1)], [401, 429]);
  t.match(await server.call('GET', '/api/blocks', bearer('bh_wrong')), { status: 429 }, 'codes and tokens are counted together');
  t.equal((await signIn(server, waiting)).status, 200, 'the right code is still accepted');
  t.notMatch(JSON.stringify(server.log), new RegExp(`${code}|${waiting}`), 'no code is in the log');
});

t.test('a body that is no code is refused by its field, and without the token there is no code', async (t) => {
  const server = await startServer(t);
  for (const code of [1, null, {}, undefined]) t.equal((await signIn(server, code)).status, 400, String(code));
  t.equal((await server.call('POST', '/api/session', { token: false })).status, 400);
  for (const path of ['/api/session/code', '/api/session/ticket']) t.equal((await server.call('POST', path, { token: false })).status, 401, path);
  t.match(await server.call('GET', '/api/session'), { status: 405, headers: { allow: 'POST' } });
});

t.test('a printed code lasts ten minutes, another one a minute', async (t) => {
  const server = await startServer(t);
  const lasts = async (path: string): Promise<number> => Date.parse(String((await server.call('POST', path)).json['expiresAt'])) - Date.now();
  const [short, long] = [await lasts('/api/session/code'), await lasts('/api/session/code?printed=true')];
  t.ok(short <= 60_000 && long > 60_000 && long <= 600_000, `${short} ${long}`);
});

t.test('case 3: a session key is accepted wherever the token is, but for a code', async (t) => {
  const server = await startWsServer(t);
  const { key, expiresAt } = (await server.call('POST', '/api/session')).json as { key: string; expiresAt: string };
  for (const path of ['/api/blocks', '/api/keys', '/v1/adapters']) t.equal((await server.call('GET', path, bearer(key))).status, 200, path);
  t.equal((await server.call('POST', '/v1/chat', { ...bearer(key), body: CHAT })).status, 200);
  t.equal((await server.call('POST', '/v1/chat', { token: false, headers: { 'x-api-key': key }, body: CHAT })).status, 200, 'x-api-key');
  t.match(await server.call('GET', '/api/auth/status', bearer(key)), { json: { authenticated: true } });
  t.equal((await knock(t, server, `token=${key}`)).status, 101);
  t.match(await server.call('POST', '/api/session/code', bearer(key)), { status: 403, json: { code: 'KEY_FORBIDDEN' } });
  const renewed = await server.call('POST', '/api/session', bearer(key));
  t.match(renewed, { status: 200, json: { key: /^bhs_/, expiresAt } }, 'it can be renewed, and ends when it would have ended');
  t.equal((await server.call('GET', '/api/blocks', bearer(`${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`))).status, 401, 'one letter changed');
});

t.test('a session key that ends while its renewal is answered is not followed by a key of another thirty days', async (t) => {
  let [clock, step] = [Date.now(), 0];
  const server = await startServer(t, {
    clock: () => {
      clock += step;
      return clock;
    },
  });
  const { key, expiresAt } = (await server.call('POST', '/api/session')).json as { key: string; expiresAt: string };
  const statuses = new Set<number>();
  for (let looks = 1; looks < 12; looks += 1) {
    [clock, step] = [Date.parse(expiresAt) - looks, 1]; // it ends at the n-th look at the clock
    const { status, json } = await server.call('POST', '/api/session', bearer(key));
    statuses.add(status);
    t.ok(status === 401 || json['expiresAt'] === expiresAt, `${looks}: ${status} ${json['expiresAt']}`);
  }
  t.strictSame([...statuses].sort(), [200, 401]);
});

t.test('case 3: a rotation ends session keys within a second, their sockets with 1008, and codes and tickets', async (t) => {
  const server = await startWsServer(t);
  const [key, code, ticket] = [await newKey(server), await newCode(server), await newTicket(server)];
  const sockets = [await knock(t, server, `token=${key}`), await knock(t, server, `ticket=${await newTicket(server)}`)];
  await writeNewToken(server.workspace);
  const answers = async () => (await server.call('GET', '/api/blocks', bearer(key))).status;
  let status = 200;
  void (async () => {
    while (status === 200) status = await answers();
  })();
  await until('the key has ended', () => status !== 200);
  t.equal(status, 401);
  for (const { client } of sockets) {
    await until('the socket is closed with 1008', () => client.received.includes('\u0003\u00f0'));
    t.match(client.received, 'The token was replaced.');
  }
  t.equal((await signIn(server, code)).status, 401, 'a code of the old token');
  t.equal((await knock(t, server, `ticket=${ticket}`)).status, 401, 'a ticket of the old token');
});

t.test('what is made with a token that is replaced at that very moment ends with it', async (t) => {
  const looks = { ms: 0, left: Number.POSITIVE_INFINITY };
  let rotate = (): void => undefined;
  const server = await startServer(t, {
    now: () => {
      looks.left -= 1;
      if (looks.left === 0) rotate();
      looks.ms += 250; // each look at the token reads its file
      return looks.ms;
    },
  });
  let token = server.token;
  rotate = () => {
    token = `bh_${randomBytes(32).toString('base64url')}`;
    writeFileSync(join(server.workspace, '.api-token'), `${token}\n`);
  };
  const doors = {
    'the token': ['/api/session', () => token],
    'a session': ['/api/session', async () => String((await server.call('POST', '/api/session', bearer(token))).json['key'])],
    'the token, for a code': ['/api/session/code', () => token],
    'the token, for a ticket': ['/api/session/ticket', () => token],
    'a session, for a ticket': ['/api/session/ticket', async () => String((await server.call('POST', '/api/session', bearer(token))).json['key'])],
    'a code': ['/api/session', async () => String((await server.call('POST', '/api/session/code', bearer(token))).json['code'])],
  } as const;
  for (const [what, [path, secretOf]] of Object.entries(doors)) {
    const statuses = new Set<number>();
    for (let look = 1; look <= 24; look += 1) {
      const secret = await secretOf();
      looks.left = look;
      const made = what === 'a code' ? await signIn(server, secret) : await server.call('POST', path, bearer(secret));
      const isReplaced = looks.left <= 0;
      looks.left = Number.POSITIVE_INFINITY;
      statuses.add(made.status);
      const { key, code, ticket } = made.json as { key?: string; code?: string; ticket?: string };
      if (!isReplaced) continue;
      if (key !== undefined) t.equal((await server.call('GET', '/api/blocks', bearer(key))).status, 401, `${what}: a key, look ${look}`);
      if (code !== undefined && made.status === 200) t.equal((await signIn(server, code)).status, 401, `${what}: a code, look ${look}`);
      if (ticket !== undefined) t.equal(await server.core.sessions?.redeem(ticket), false, `${what}: a ticket, look ${look}`);
    }
    t.ok(statuses.has(200) && statuses.has(401), `${what}: before and after (${[...statuses].join(', ')})`);
  }
});

t.test('a socket is closed when the session ends that has opened it, by its key or by a ticket', async (t) => {
  const server = await startWsServer(t);
  const text = `bhs_${(Date.now() + 1500).toString(36)}.${'a'.repeat(22)}`;
  const key = `${text}.${server.core.token?.sign(text)}`;
  const ticket = String((await server.call('POST', '/api/session/ticket', bearer(key))).json['ticket']);
  const [end, cut] = [ticket.split('.')[1], ticket.split('.')[0]];
  t.equal((await knock(t, server, `ticket=${ticket.replace(`.${end}.`, '..')}`)).status, 401, 'its end is signed');
  t.equal((await knock(t, server, `ticket=${cut}`)).status, 401);
  const lasting = await knock(t, server, `ticket=${await newTicket(server)}`);
  const sockets = [await knock(t, server, `token=${key}`), await knock(t, server, `ticket=${ticket}`)];
  for (const { client, status } of sockets) {
    t.equal(status, 101);
    await until('the socket is closed with 1008', () => client.received.includes('\u0003\u00f0'));
    t.match(client.received, 'The session has ended.');
  }
  t.notMatch(lasting.client.received, 'ended', 'that of the token stays');
});

t.test('case 6: a ticket opens one socket, no second one, and no HTTP route', async (t) => {
  const server = await startWsServer(t);
  const ticket = await newTicket(server);
  for (const path of ['/api/blocks', '/v1/adapters']) {
    t.equal((await server.call('GET', `${path}?ticket=${ticket}`, { token: false })).status, 401, path);
    t.equal((await server.call('GET', path, bearer(ticket))).status, 401, path);
  }
  t.equal((await signIn(server, ticket)).status, 401, 'it is no code');
  t.equal((await server.call('GET', `${WS_PATH}?ticket=${ticket}`, { token: false })).status, 401, 'without an upgrade');
  t.equal((await knock(t, server, `ticket=${ticket}`)).status, 101);
  t.equal((await knock(t, server, `ticket=${ticket}`)).status, 401);
  const twice = await newTicket(server);
  t.equal((await knock(t, server, `ticket=${twice}&ticket=${twice}`)).status, 401, 'given twice');
  t.equal((await knock(t, server, `ticket=${await newCode(server)}`)).status, 401, 'a code is no ticket');
  t.notMatch(JSON.stringify([server.log, server.wsLog]), ticket, 'no ticket is in a log');
});

t.test('a code comes with the address of the page: a path, the public origin, or nothing', async (t) => {
  const pageOf = async (http: object): Promise<unknown> => (await (await startServer(t, { http })).call('POST', '/api/session/code')).json['page'];
  const dashboard = pageFolder(t);
  t.equal(await pageOf({}), null);
  t.equal(await pageOf({ dashboard }), '/ui/');
  t.equal(await pageOf({ dashboard, publicOrigin: 'https://blocks.example' }), 'https://blocks.example/ui/');
});

/** The answer to an exchange that another user of this machine makes. */
async function exchangeByOther(t: Test, { url }: TestServer, code: string): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const script = `
    const [url, code] = process.argv.slice(1);
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ code }) })
      .then(async (response) => console.log(JSON.stringify({ status: response.status, body: await response.json() })));`;
  return JSON.parse(await readText(startAsOther(t, script, `${url}/api/session`, code).stdout)) as Awaited<ReturnType<typeof exchangeByOther>>;
}

t.test('the code of `open` is refused to another user of the machine, and stays valid; a printed one is for anybody', withOtherUser, async (t) => {
  const server = await startServer(t);
  const own = await newCode(server);
  const refused = { status: 401, body: { code: 'UNAUTHORIZED', error: /another one\. `blockhouse open --print` makes one for anybody/ } };
  t.match(await exchangeByOther(t, server, own), refused);
  t.match(await exchangeByOther(t, server, own), refused, 'also the second time');
  t.equal((await signIn(server, own)).status, 200, 'its own user is let in afterwards');
  t.equal((await signIn(server, own)).status, 401, 'once');
  t.match(await exchangeByOther(t, server, own), { status: 401, body: { error: /was used/ } });
  t.equal((await exchangeByOther(t, server, await secretOf(server, '/api/session/code?printed=true', 'code'))).status, 200, 'printed');
  const proxied = await startServer(t, { http: { publicOrigin: 'https://blocks.example' } });
  t.equal((await exchangeByOther(t, proxied, await newCode(proxied))).status, 200, 'by the user of a proxy');
});

t.test('refused tries of another user count as wrong tokens, so that they can not go on for ever', withOtherUser, async (t) => {
  const server = await startServer(t);
  const own = await newCode(server);
  for (let count = 0; count < 20; count += 1) await signIn(server, 'guess');
  t.match(await exchangeByOther(t, server, own), { status: 429, body: { code: 'TOO_MANY_ATTEMPTS' } });
  t.equal((await signIn(server, own)).status, 200);
});
