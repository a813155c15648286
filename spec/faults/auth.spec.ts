// Group E of the catalogue of faults: tokens, the files that hold secrets, and browsers.
//
// What can't be a test here, and why:
//   E72  A trend in 20,000 timed requests says more of the machine than of the comparison. That the comparison takes the same time wherever the
//        first difference lies is the duty of `timingSafeEqual`, and that a token of another length reaches it never is held by spec/core/auth.
//   E84  There is no page that could execute anything. What remains is that no answer may be taken for one: type, nosniff and policy of all.
//   E85  There is no dashboard that reads its own address. What remains: parameters like these change no answer, and make no call.
//   E89  There is no page to frame or to open. What remains: the headers that refuse it, on every answer.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { CLI, runHere } from '../cli/run.ts';
import { CANARIES, type FaultWorld, sharedFaultWorld } from '../support/fault-world.ts';
import { exchange } from '../support/raw.ts';
import { type Answer, CHAT, DAEMON_END, daemonLine, framesOf, friendlyDaemon, readAnswer, responseOf, until } from '../support/server.ts';
import { handshake, WsClient } from '../support/ws.ts';

interface Asked {
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | object;
  /** Another token than the right one; null sends no Authorization. */
  readonly token?: string | null;
}

/** A request on a connection of its own; what comes back is heard. */
async function ask(world: FaultWorld, method: string, path: string, { headers, body, token = world.token }: Asked = {}): Promise<Answer> {
  const text = typeof body === 'object' ? JSON.stringify(body) : body;
  const request = httpRequest({
    host: '127.0.0.1',
    port: world.port,
    method,
    path,
    agent: false,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(text !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
      ...headers,
    },
  });
  request.end(text);
  const answer = await readAnswer(await responseOf(request));
  // The contract names every error code, the one that is searched for included.
  world.heard(JSON.stringify(answer.headers) + (path === '/openapi.json' ? '' : answer.text));
  return answer;
}

const statusOf = async (world: FaultWorld, token: string | null): Promise<number> => (await ask(world, 'GET', '/v1/adapters', { token })).status;

/** 429 is the answer to whoever has tried too often. */
const isRefused = (status: number): boolean => status === 401 || status === 429;

const tokenFile = (world: FaultWorld): string => join(world.workspace, '.api-token');
const modeOf = (path: string): number => statSync(path).mode & 0o777;

/** Puts the world's own token back, and waits until it is valid again. */
async function restoreToken(world: FaultWorld): Promise<void> {
  rmSync(tokenFile(world), { recursive: true, force: true });
  writeFileSync(tokenFile(world), `${world.token}\n`, { mode: 0o600 });
  await until(async () => (await statusOf(world, world.token)) === 200, 'the right token passes again');
}

const WRONG = `bh_${'A'.repeat(43)}`;

t.test('E70, E71: tokens', async (t) => {
  const world = await sharedFaultWorld();
  const { token, port } = world;

  await t.test('E70 without the right token in the right place there is one and the same 401', async (t) => {
    const lines: [title: string, lines: string][] = [
      ['no token', ''],
      ['Bearer alone', 'Authorization: Bearer\r\n'],
      ['Bearer and spaces', 'Authorization: Bearer      \r\n'],
      ['Basic', `Authorization: Basic ${Buffer.from(`x:${token}`).toString('base64')}\r\n`],
      ['the bare token', `Authorization: ${token}\r\n`],
      ['another scheme', `Authorization: Token ${token}\r\n`],
      ['two tokens in one', `Authorization: Bearer ${token} ${token}\r\n`],
      ['the token in quotes', `Authorization: Bearer "${token}"\r\n`],
      ['two headers, both right', `Authorization: Bearer ${token}\r\nAuthorization: Bearer ${token}\r\n`],
      ['two headers, the first right', `Authorization: Bearer ${token}\r\nauthorization: Bearer ${WRONG}\r\n`],
      ['two headers, the last right', `Authorization: Bearer ${WRONG}\r\nauthorization: Bearer ${token}\r\n`],
      ['a token of 15,000 bytes', `Authorization: Bearer bh_${'A'.repeat(14_997)}\r\n`],
      ['a cookie', `Cookie: token=${token}; Authorization=Bearer ${token}\r\n`],
      ['another header', `x-blockhouse-token: ${token}\r\nProxy-Authorization: Bearer ${token}\r\n`],
    ];
    const targets: [title: string, path: string, lines: string, body: string][] = [
      ...lines.map(([title, more]): [string, string, string, string] => [title, '/v1/adapters', more, '']),
      ['the query', `/v1/adapters?token=${token}&access_token=${token}`, '', ''],
      ['a form', '/v1/adapters', 'Content-Type: application/x-www-form-urlencoded\r\n', `token=${token}`],
      ['a JSON body', '/v1/chat', 'Content-Type: application/json\r\n', JSON.stringify({ token, authorization: `Bearer ${token}`, ...CHAT })],
    ];
    const bodies = new Set<string>();
    for (const [title, path, more, body] of targets) {
      const method = path === '/v1/chat' ? 'POST' : 'GET';
      const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`;
      const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\nX-Request-Id: same\r\n${more}${length}\r\n`;
      const { responses, received } = await exchange(t, port, head + body);
      world.heard(received);
      t.match(responses, [{ status: 401 }], title);
      t.equal(responses[0]?.headers.get('www-authenticate'), 'Bearer', title);
      bodies.add(responses[0]?.body ?? '');
    }
    t.equal(bodies.size, 1, 'all bodies are alike');
    t.match(JSON.parse([...bodies][0] ?? '{}'), { code: 'UNAUTHORIZED', status: 401 });
    const { length } = world.upstream.requests;
    t.equal(await statusOf(world, token), 200, 'the right one passes');
    t.equal(world.upstream.requests.length, length, 'nobody was asked anything meanwhile');
    await world.check(t, 'E70');
  });

  await t.test('E71 a wrong token of any length or alphabet is a 401 and never a fault of the comparison', async (t) => {
    const wrong = [
      'x',
      token.slice(0, -1),
      `${token}A`,
      token.slice(1),
      WRONG,
      token.toLowerCase() === token ? WRONG : token.toLowerCase(),
      'undefined',
      'null',
    ];
    const bytes = ['\xe9', '\xff\xfe', `bh_${'\xc3\xa9'.repeat(43)}`, `${token.slice(0, -1)}\xe9`, `${token}\xa0`];
    for (const presented of [...wrong, ...bytes]) {
      const head = `GET /v1/adapters HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\nAuthorization: Bearer ${presented}\r\n\r\n`;
      const { responses, received } = await exchange(t, port, head);
      world.heard(received);
      t.match(responses, [{ status: 401 }], JSON.stringify(presented.slice(0, 8)));
    }
    for (const presented of ['', 'x', '%E9%FF', `bh_${'%C3%A9'.repeat(43)}`, '%00', '%ED%A0%80'.repeat(46)]) {
      const { responses, received } = await exchange(t, port, handshake({ port, token: presented }));
      world.heard(received);
      t.match(responses, [{ status: 401 }], `a WebSocket with ${presented.slice(0, 12)}`);
    }
    t.equal(await statusOf(world, token), 200);
    await world.check(t, 'E71');
  });
});

t.test('E74, E75: the token file under a running server', async (t) => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const world = await sharedFaultWorld(async (request, res, index) => {
    if (!request.body.includes('"hold"')) return friendlyDaemon(request, res, index);
    res.writeHead(200, { 'content-type': 'application/x-ndjson' });
    res.write(daemonLine('Hel'));
    await held;
    res.end(daemonLine('lo') + DAEMON_END);
  });

  await t.test('E74 a rotation refuses the old token, closes its 50 sockets with 1008, and lets 50 streams come to their end', async (t) => {
    const sockets = await Promise.all(Array.from({ length: 50 }, () => WsClient.connect(t, world)));
    const body = { ...CHAT, stream: true, messages: [{ role: 'user', content: 'hold' }] };
    let opened = 0;
    const streams = Array.from({ length: 50 }, async () => {
      const headers = { authorization: `Bearer ${world.token}`, 'content-type': 'application/json', connection: 'close' };
      const response = await fetch(`${world.url}/v1/chat`, { method: 'POST', headers, body: JSON.stringify(body) });
      opened += 1;
      return response.text();
    });
    await until(() => opened === 50, 'all streams are open');
    const rotated = await runHere(t, ['token', '--new-token', '--workspace', world.workspace]);
    t.equal(rotated.code, 0);
    const fresh = readFileSync(tokenFile(world), 'utf8').trim();
    t.not(fresh, world.token);
    await until(async () => isRefused(await statusOf(world, world.token)), 'the old token is refused');
    t.equal(await statusOf(world, fresh), 200, 'the new one passes');
    for (const socket of sockets) t.match(await socket.untilClosed(), { code: 1008, reason: 'The token was replaced.' });
    await t.rejects(() => WsClient.connect(t, world), 'the old token opens no further socket');
    release();
    for (const text of await Promise.all(streams)) {
      world.heard(text);
      const frames = framesOf(text);
      t.equal(frames.map(({ data }) => data['text'] ?? '').join(''), 'Hello');
      t.equal(frames.at(-1)?.event, 'done');
    }
    t.notOk(world.output().includes(fresh), 'the new token is in no log');
    await restoreToken(world);
    await world.check(t, 'E74');
  });

  await t.test('E75 a token file that holds no token lets nobody in while it lasts', async (t) => {
    const path = tokenFile(world);
    const states: [title: string, put: () => void][] = [
      ['missing', () => unlinkSync(path)],
      ['empty', () => writeFileSync(path, '')],
      ['a newline', () => writeFileSync(path, '\n')],
      ['CR and LF', () => writeFileSync(path, '\r\n')],
      ['10 MB', () => writeFileSync(path, world.token.repeat(220_000))],
      ['two tokens', () => writeFileSync(path, `${world.token}\n${world.token}\n`)],
      [
        'a folder',
        () => {
          unlinkSync(path);
          mkdirSync(path);
        },
      ],
    ];
    for (const [title, put] of states) {
      put();
      await until(async () => isRefused(await statusOf(world, world.token)), `${title}: the token is refused`);
      for (const presented of ['', ' ', '\\n', 'undefined', null]) t.ok(isRefused(await statusOf(world, presented)), `${title}: ${JSON.stringify(presented)}`);
      for (const presented of ['', world.token]) {
        const { responses } = await exchange(t, world.port, handshake({ port: world.port, token: presented }));
        t.ok(isRefused(responses[0]?.status ?? 0), `${title}: no WebSocket either`);
      }
      await restoreToken(world);
    }
    // Blanks around it are those of an editor, and no fault.
    writeFileSync(path, `${world.token}\r\n`, { mode: 0o600 });
    t.equal(await statusOf(world, world.token), 200);
    chmodSync(path, 0o000);
    const isRoot = process.getuid?.() === 0; // who reads everything
    await until(async () => (await statusOf(world, world.token)) === 200 || !isRoot, 'it was looked at');
    await until(async () => isRoot || isRefused(await statusOf(world, world.token)), 'a file that can not be read lets nobody in');
    await restoreToken(world);
    await world.check(t, 'E75');
  });

  await t.test('E76 secret files that others may read or write are closed to them at the next use', async (t) => {
    const auth = join(world.workspace, 'auth.json');
    for (const mode of [0o644, 0o660, 0o606, 0o777]) {
      for (const path of [tokenFile(world), auth]) chmodSync(path, mode);
      await until(
        async () => {
          await ask(world, 'POST', '/v1/chat', { body: CHAT });
          return modeOf(tokenFile(world)) === 0o600 && modeOf(auth) === 0o600;
        },
        `files of mode ${mode.toString(8)} are closed`,
      );
    }
    await world.check(t, 'E76');
  });
});

t.test('E75 at its start a server makes a token only where there is none, and refuses to serve with a broken one', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'blockhouse-auth-'));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  const states: [title: string, text: string | undefined][] = [
    ['empty', ''],
    ['a newline', '\n'],
    ['CR and LF', '\r\n'],
    ['half a token', 'bh_abc'],
    ['10 MB', 'A'.repeat(10_000_000)],
    ['a folder', undefined],
  ];
  await Promise.all(
    states.map(async ([title, text], index) => {
      const workspace = join(home, `w${index}`);
      const path = join(workspace, '.api-token');
      mkdirSync(workspace, { mode: 0o700 });
      if (text === undefined) mkdirSync(path);
      else writeFileSync(path, text, { mode: 0o600 });
      const { code, stdout, stderr } = await runHere(t, ['serve', '--json', '--port', '0', '--workspace', workspace]);
      t.not(code, 0, title);
      t.notMatch(stdout, /http:/, `${title}: nothing listens`);
      t.match(stderr, /\.api-token can't be used: .*token --new-token/, title);
      t.notMatch(stderr, /\n\s+at /, `${title}: no stack`);
      if (text !== undefined) t.ok(readFileSync(path, 'utf8') === text, `${title}: it is left as it was`);
    }),
  );
});

/** Every mode that files of these names, and their temporary ones, were ever seen with while `work` runs. */
async function modesSeen(workspace: string, work: Promise<unknown>): Promise<Map<string, Set<number>>> {
  const seen = new Map<string, Set<number>>();
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    for (const name of existsSync(workspace) ? readdirSync(workspace) : []) {
      if (!/api-token|auth\.json/.test(name)) continue;
      const found = statSync(join(workspace, name), { throwIfNoEntry: false });
      if (found === undefined) continue; // renamed since
      const kind = name.endsWith('.tmp') ? 'temporary' : name;
      seen.set(kind, (seen.get(kind) ?? new Set()).add(found.mode & 0o777));
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  await over;
  return seen;
}

t.test('E76 files of secrets are made and made again with mode 0600, whatever the umask', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'blockhouse-auth-'));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  const workspace = join(home, 'workspace');
  const umask = process.umask(0);
  t.teardown(() => process.umask(umask));
  const at = ['--workspace', workspace];
  const work = async (): Promise<void> => {
    for (const args of [['token'], ['token', '--new-token'], ['token', '--new-token']]) t.equal((await runHere(t, [...args, ...at])).code, 0, args.join(' '));
    for (const key of [CANARIES.anthropic, `${CANARIES.anthropic}-2`]) {
      const outcome = await runHere(t, ['auth', 'set', 'anthropic', ...at], { input: `${key}\n` });
      t.equal(outcome.code, 0, 'auth set');
      t.notOk((outcome.stdout + outcome.stderr).includes(key), 'the key is not printed');
    }
  };
  const seen = await modesSeen(workspace, work());
  t.strictSame([...(seen.get('.api-token') ?? [])], [0o600]);
  t.strictSame([...(seen.get('auth.json') ?? [])], [0o600]);
  t.strictSame([...(seen.get('temporary') ?? [0o600])], [0o600], 'those that were renamed into place as well');
  t.equal(modeOf(workspace), 0o700);
});

const STRACE = ['/usr/bin/strace', '/bin/strace'].find((path) => existsSync(path));

t.test('E77 a secret file has its mode from the call that makes it', { skip: STRACE === undefined && 'needs strace' }, async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'blockhouse-auth-'));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  const trace = join(home, 'trace');
  const workspace = join(home, 'workspace');
  mkdirSync(workspace, { mode: 0o755 });
  const args = ['-f', '-qq', '-e', 'trace=open,openat,creat,rename,renameat,renameat2,chmod,fchmod,fchmodat', '-o', trace, process.execPath, CLI];
  const { status } = spawnSync(STRACE ?? '', [...args, 'token', '--new-token', '--workspace', workspace], { env: { PATH: process.env['PATH'], HOME: home } });
  if (status !== 0) {
    t.comment('strace may not attach here');
    return;
  }
  const lines = readFileSync(trace, 'utf8').split('\n');
  const made = lines.filter((line) => /open(at)?\(.*api-token.*O_CREAT/.test(line));
  t.ok(made.length > 0, 'it was seen');
  for (const line of made) t.match(line, /O_CREAT\|O_EXCL.*, 0600\)/);
  t.equal(lines.filter((line) => /rename.*api-token/.test(line)).length, 1, 'and then only renamed');
  t.equal(lines.filter((line) => /chmod.*api-token/.test(line)).length, 0);
});

/** As a page, a proxy or a resolver would send it; bytes as they are. */
const plain = (host: string, more = '', line = 'GET /v1/adapters HTTP/1.1'): string => `${line}\r\nHost: ${host}\r\nConnection: close\r\n${more}\r\n`;

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

t.test('E78 to E89: browsers', async (t) => {
  const world = await sharedFaultWorld();
  const { port, token } = world;
  const auth = `Authorization: Bearer ${token}\r\n`;
  const own = `127.0.0.1:${port}`;
  const statusAfter = async (t: Test, bytes: string): Promise<number> => {
    const { responses, received } = await exchange(t, port, bytes);
    world.heard(received);
    t.equal(responses.length, 1, 'one answer');
    return responses[0]?.status ?? 0;
  };

  await t.test('E78 only loopback names with our own port are our Host', async (t) => {
    for (const host of [own, `localhost:${port}`, `[::1]:${port}`, `LOCALHOST:${port}`]) t.equal(await statusAfter(t, plain(host, auth)), 200, host);
    const foreign = ['evil.example', `evil.example:${port}`, `127.0.0.1.evil.example:${port}`, `localhost.evil:${port}`, `localhost.:${port}`];
    const odd = ['localhost', '127.0.0.1', `127.0.0.1:${port + 1}`, `0.0.0.0:${port}`, `[::]:${port}`, `127.1:${port}`, `2130706433:${port}`];
    const alike = [`l\xd0\xbecalhost:${port}`, `xn--lcalhost-s5g:${port}`, `localhost:${port}@evil.example`, `evil.example#localhost:${port}`];
    for (const host of [...foreign, ...odd, ...alike]) {
      t.equal(await statusAfter(t, plain(host, auth)), 403, host);
      t.equal(await statusAfter(t, plain(host, '', 'GET /v1/health HTTP/1.1')), 403, `${host}, on an open route`);
    }
    await world.check(t, 'E78');
  });

  await t.test('E80 a page of another site changes nothing, even with a valid token', async (t) => {
    const { length } = world.upstream.requests;
    const site = [
      'Origin: http://evil.example\r\n',
      'Origin: null\r\n',
      `Origin: http://127.0.0.1:${port + 1}\r\n`,
      `Origin: http://127.0.0.1\r\n`,
      'Sec-Fetch-Site: cross-site\r\n',
      'Sec-Fetch-Site: same-site\r\n',
      `Origin: http://${own}.evil.example\r\n`,
    ];
    const posts: [path: string, body: string][] = [
      ['/api/blocks', '{"name":"forged"}'],
      ['/api/halt', '{"reason":"forged"}'],
      ['/v1/chat', JSON.stringify(CHAT)],
    ];
    // What a form may send without asking first, and what it may not.
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/json'])
      for (const from of site)
        for (const [path, body] of posts) {
          const more = `${auth}${from}Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n`;
          t.equal(await statusAfter(t, plain(own, more, `POST ${path} HTTP/1.1`) + body), 403, `${path} ${type} ${from.trim()}`);
        }
    t.match((await ask(world, 'GET', '/api/blocks')).json, { blocks: [] }, 'no block was made');
    t.match((await ask(world, 'GET', '/api/halt')).json, { halted: false }, 'nothing was halted');
    t.equal(world.upstream.requests.length, length, 'no model was asked');
    await world.check(t, 'E80');
  });

  await t.test('E81 no answer opens a route to pages of another site', async (t) => {
    const preflight =
      'Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization\r\nAccess-Control-Request-Private-Network: true\r\n';
    for (const path of ['/v1/chat', '/v1/health', '/api/blocks', '/openapi.json', '/nowhere'])
      for (const origin of ['http://evil.example', 'null', `http://${own}`]) {
        const { received } = await exchange(t, port, plain(own, `Origin: ${origin}\r\n${preflight}`, `OPTIONS ${path} HTTP/1.1`));
        world.heard(received);
        t.notMatch(received, /access-control-allow/i, `${path} ${origin}`);
        if (origin !== `http://${own}`) t.match(received, /^HTTP\/1\.1 403 /, `${path} ${origin}`);
      }
    for (const path of ['/v1/adapters', '/v1/health', '/api/blocks'])
      t.notMatch(Object.keys((await ask(world, 'GET', path)).headers).join(), /access-control/, path);
    await world.check(t, 'E81');
  });

  await t.test('E82 a handshake of another site is a 403, whatever token it has', async (t) => {
    for (const headers of [{ Origin: 'http://evil.example' }, { Origin: 'null' }, { 'Sec-Fetch-Site': 'cross-site' }, { Host: 'evil.example' }] as const) {
      const { responses, received } = await exchange(t, port, handshake(world, { headers }));
      world.heard(received);
      t.match(responses, [{ status: 403 }], JSON.stringify(headers));
      t.notMatch(received, / 101 /);
    }
    await world.check(t, 'E82');
  });

  await t.test(
    'E84, E89 text that would run in a page is stored and told as data: every answer has its type, nosniff, and a policy against frames',
    async (t) => {
      const evil = '<img src=x onerror=alert(1)></script><svg onload=alert(1)>[x](javascript:alert(1))';
      const config = { description: evil, systemPrompt: evil, tags: [evil], adapter: { provider: 'ollama', model: 'm' }, autoStart: true };
      const calls: [method: string, path: string, body: object | undefined, status: number][] = [
        ['POST', '/api/blocks', { name: 'evil', config }, 200],
        ['POST', '/api/blocks', { name: evil }, 400],
        ['POST', '/api/blocks/evil/chat', { message: evil }, 200],
        ['POST', '/api/blocks/evil/memory/facts', { text: evil }, 200],
        ['GET', '/api/blocks', undefined, 200],
        ['GET', '/api/blocks/evil', undefined, 200],
        ['GET', '/api/blocks/evil/config', undefined, 200],
        ['GET', '/api/blocks/evil/chat', undefined, 200],
        ['GET', '/api/blocks/evil/logs', undefined, 200],
        ['GET', '/api/blocks/evil/why', undefined, 200],
        ['GET', `/api/blocks/${encodeURIComponent(evil)}`, undefined, 404],
        ['GET', `/${encodeURIComponent(evil)}`, undefined, 404],
        ['GET', '/api/costs', undefined, 200],
        ['GET', '/api/archive', undefined, 200],
        ['GET', '/openapi.json', undefined, 200],
        ['GET', '/v1/health', undefined, 200],
        ['POST', '/v1/chat', { ...CHAT, adapter: evil.slice(0, 64) }, 400],
        ['POST', '/v1/chat', { ...CHAT, messages: [{ role: 'user', content: evil }] }, 200],
        ['PUT', '/api/blocks', {}, 405],
      ];
      await ask(world, 'GET', '/openapi.json');
      await world.worstStallMs(); // of the contract, which is built when it is asked for first
      for (const [method, path, body, status] of calls) {
        const answer = await ask(world, method, path, body === undefined ? {} : { body });
        const what = `${method} ${path.slice(0, 60)}`;
        t.equal(answer.status, status, what);
        t.match(answer.headers, { ...HEADERS, 'content-type': 'application/json; charset=utf-8' }, what);
        if (path.endsWith('/config')) t.match(answer.json, { config: { description: evil } }, 'as it was written');
      }
      const streamed = await ask(world, 'POST', '/v1/chat', { body: { ...CHAT, stream: true } });
      t.match(streamed.headers, { ...HEADERS, 'content-type': 'text/event-stream; charset=utf-8' });
      const exported = await ask(world, 'GET', '/api/blocks/evil/export');
      t.match(exported.headers, { ...HEADERS, 'content-type': 'application/gzip' });
      for (const bytes of ['nonsense\r\n\r\n', plain('evil.example'), plain(own), handshake({ port, token: 'x' })]) {
        const { responses } = await exchange(t, port, bytes);
        t.match(Object.fromEntries(responses[0]?.headers ?? []), HEADERS, `refused: ${bytes.split('\r\n')[0]}`);
      }
      await until(async () => (await ask(world, 'GET', '/api/blocks/evil/why')).json['state'] === 'idle', 'the block has answered');
      t.equal((await ask(world, 'DELETE', '/api/blocks/evil')).status, 200);
      await world.check(t, 'E84');
    },
  );

  await t.test('E85, E86 there are no files to serve: paths and parameters of pages are a 404, with the token and without', async (t) => {
    const { length } = world.upstream.requests;
    const paths = [
      ['/../auth.json', '/..%2fauth.json', '/%2e%2e/auth.json', '/..%5cauth.json', '/..\\auth.json', '/%252e%252e/auth.json', '//etc/passwd'],
      ['/auth.json', '/.api-token', '/./.api-token', '/v1/../.api-token', '/api/blocks/../../auth.json', '/assets//etc/passwd', '/assets/%00'],
      [
        '/',
        '/index.html',
        '/?raw??',
        '/assets/x.js?raw??',
        '/favicon.ico',
        '/?gatewayUrl=http://evil.example',
        '/?server=http://evil.example',
        '/?next=//evil',
      ],
      ['/dashboard', '/dashboard?gatewayUrl=http://evil.example', '/app/#token=x'],
    ].flat();
    for (const path of paths)
      for (const more of [auth, '']) {
        const { responses, received } = await exchange(t, port, plain(own, more, `GET ${path} HTTP/1.1`));
        world.heard(received);
        t.match(responses, [{ status: more === '' ? 401 : 404 }], `${path} ${more === '' ? 'without' : 'with'} a token`);
        t.notMatch(responses[0]?.body, /root:|apiKey/, path);
      }
    for (const name of ['..', '%2e%2e', '..%2f..%2fauth.json', '..%5c..%5cauth.json'])
      t.match(await ask(world, 'GET', `/api/blocks/${name}`), { status: /404|400/ }, name);
    t.match((await ask(world, 'GET', '/v1/adapters?gatewayUrl=http://evil.example&server=x&next=//evil')).json, { adapters: { length: 5 } });
    t.equal(world.upstream.requests.length, length, 'nothing was fetched');
    await world.check(t, 'E86');
  });

  await t.test('E88 headers of a proxy that nobody configured have no effect', async (t) => {
    const forwarded = [
      'X-Forwarded-For: 127.0.0.1\r\n',
      'Forwarded: for=127.0.0.1;host=localhost;proto=https\r\n',
      'X-Real-IP: 127.0.0.1\r\n',
      `X-Forwarded-Host: ${own}\r\n`,
      'X-Original-URL: /v1/health\r\nX-Rewrite-URL: /v1/health\r\n',
      `X-Forwarded-Authorization: Bearer ${token}\r\n`,
    ];
    for (const more of forwarded) {
      t.equal(await statusAfter(t, plain(own, more)), 401, `no token: ${more.trim()}`);
      t.equal(await statusAfter(t, plain('evil.example', more + auth)), 403, `a foreign Host: ${more.trim()}`);
    }
    t.equal((await ask(world, 'POST', '/api/blocks', { body: { name: 'kept' } })).status, 200);
    for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override', '_method']) {
      t.equal((await ask(world, 'GET', '/api/blocks/kept', { headers: { [name]: 'DELETE' } })).status, 200);
      t.equal((await ask(world, 'POST', '/api/blocks/kept', { headers: { [name]: 'DELETE' }, body: {} })).status, 405);
    }
    t.equal((await ask(world, 'GET', '/api/blocks/kept')).status, 200, 'it is still there');
    const statuses: number[] = [];
    for (let n = 0; n < 70; n += 1)
      statuses.push(
        (await ask(world, 'GET', '/v1/adapters', { token: WRONG, headers: { 'x-forwarded-for': `10.0.0.${n}`, forwarded: `for=10.0.0.${n}` } })).status,
      );
    t.equal(statuses.at(-1), 429, 'wrong tokens are counted for the address of the connection');
    t.equal(await statusOf(world, token), 200, 'the right one passes from there all the same');
    await world.check(t, 'E88');
  });
});
