// Workers as processes of the built program.
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { RUNNABLE } from '../../support/blocks.ts';
import { startCollector } from '../../support/otlp/collector.ts';
import { ask, noPostgres, postgresStore } from '../../support/postgres.ts';
import { CHAT, daemonLine, friendlyDaemon, until } from '../../support/server.ts';
import { testFolder } from '../../support/test-folder.ts';
import { type Answerer, type FakeUpstream, startUpstream } from '../../support/upstream.ts';
import { run, runHere, type Serving, serve } from '../run.ts';

t.setTimeout(600_000); // a limit that only a hang reaches

interface Farm extends Serving {
  readonly workspace: string;
  readonly upstream: FakeUpstream;
  readonly token: string;
  /** One request on a connection of its own, so that workers take turns. */
  call(method: string, path: string, body?: unknown, token?: string): Promise<{ readonly status: number; readonly json: Record<string, unknown> }>;
  /** The processes of the workers that live now. */
  workers(): number[];
}

interface FarmOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly workspace?: string;
}

async function farm(
  t: Test,
  answer: Answerer = friendlyDaemon,
  { env = {}, args = ['--gateway-only', '--workers', '2'], workspace = testFolder(t) }: FarmOptions = {},
): Promise<Farm> {
  const upstream = await startUpstream(t, answer);
  const serving = await serve(t, workspace, { OLLAMA_BASE_URL: upstream.url, ...env }, [...args]);
  const token = readFileSync(join(workspace, '.api-token'), 'utf8').trim();
  const call: Farm['call'] = (method, path, body, bearer = token) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${bearer}`, ...(body !== undefined && { 'content-type': 'application/json' }) };
      const request = httpRequest(`${serving.url}${path}`, { method, agent: false, headers }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += String(chunk);
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, json: JSON.parse(text || '{}') as Record<string, unknown> }));
        response.on('error', reject);
      });
      request.on('error', reject);
      request.setTimeout(45_000, () => request.destroy(new Error('no answer')));
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const workers = (): number[] =>
    readFileSync(`/proc/${serving.child.pid}/task/${serving.child.pid}/children`, 'utf8')
      .split(' ')
      .filter((pid) => pid.trim() !== '')
      .map(Number)
      .filter((pid) => !isGone(pid));
  return { ...serving, workspace, upstream, token, call, workers };
}

const onlyLinux = process.platform === 'linux' ? {} : { skip: 'reads /proc' };
function isGone(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z');
  } catch {
    return true;
  }
}

/** Answers when the test lets it. */
function heldDaemon(): { readonly answer: Answerer; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    answer: async (request, res, index) => {
      if (request.path === '/api/chat') await opened;
      await friendlyDaemon(request, res, index);
    },
    open: () => open(),
  };
}

t.test('workers need --gateway-only or a database, and must be a number', async (t) => {
  const alone = await runHere(t, ['serve', '--workers', '2', '--port', '0', '--workspace', testFolder(t)]);
  t.match(alone, { code: 2, stderr: /--workers needs --gateway-only or a database, .* Add --gateway-only, keep the workspace in a database with --store/ });
  for (const count of ['0', 'many'])
    t.match(await runHere(t, ['serve', '--gateway-only', '--workers', count]), { code: 2, stderr: /--workers must be a whole number from 1/ });
  const workspace = testFolder(t);
  const away = await runHere(t, ['serve', '--workers', '2', '--port', '0', '--store', 'postgres://127.0.0.1:1/db', '--workspace', workspace]);
  t.match(away, { code: 5, stdout: '', stderr: /^blockhouse: [^\n]+\n$/ });
  t.notOk(existsSync(join(workspace, '.lock')));
});

t.test('workers of a workspace in a database are whole servers', noPostgres ? { skip: noPostgres } : { ...onlyLinux }, async (t) => {
  const store = await postgresStore(t);
  // With such a lease, nothing of a dead worker would be free before the end of a test, unless the primary frees it.
  const env = { BLOCKHOUSE_STORE: store, BLOCKHOUSE_LEASE_MS: '60000' };
  const workspace = testFolder(t);
  const whole = (t: Test, answer: Answerer, count = 2): Promise<Farm> => farm(t, answer, { env, args: ['--workers', String(count)], workspace });
  const isHeld = async (): Promise<readonly unknown[]> => ask(store, 'select name from bh.block where owner is not null');

  await t.test('until SIGTERM', async (t) => {
    const held = heldDaemon();
    const last = heldDaemon();
    const { call, workers, upstream, child, ended, url } = await whole(t, (request, ...rest) =>
      (request.body.includes('"last"') ? last : held).answer(request, ...rest),
    );
    const names = Array.from({ length: 8 }, (_, index) => `b${index}`);
    const asked = (): number => upstream.requests.filter(({ path }) => path === '/api/chat').length;
    const post = async (name: string, message: string): Promise<string> =>
      ((await call('POST', `/api/blocks/${name}/chat`, { message })).json as { id: string }).id;
    const answerOf = async (name: string, id: string): Promise<Record<string, unknown>> => (await call('GET', `/api/blocks/${name}/chat/${id}?wait=30`)).json;

    await t.test('each answers, and one that is killed is replaced and its blocks go on', async (t) => {
      for (const name of names) t.equal((await call('POST', '/api/blocks', { name, config: RUNNABLE })).status, 200);
      for (const name of names) t.equal((await call('POST', `/api/blocks/${name}/start`)).status, 200, 'by turns');
      const ids = await Promise.all(names.map((name) => post(name, 'one')));
      await until(() => asked() === names.length, 'all are asked');
      const [dead = 0, ...others] = workers();
      process.kill(dead, 'SIGKILL');
      held.open();
      const answers = (await Promise.all(names.map((name, index) => answerOf(name, ids[index] ?? '')))) as { entry: { attempts: number } }[];
      const again = answers.filter(({ entry }) => entry.attempts === 2).length;
      t.ok(again > 0 && again < names.length, `${again} of the dead one`);
      t.equal(asked(), names.length + again);
      await until(
        async () => ((await call('GET', '/api/nodes')).json as { nodes: unknown[] }).nodes.length === 2 && workers().length === 2,
        'there are two again',
      );
      t.ok(others.every((pid) => workers().includes(pid)));
      await Promise.all(names.map(async (name) => t.match(await answerOf(name, await post(name, 'two')), { answer: { status: 'done' } })));
      for (const name of names) {
        const { messages } = (await call('GET', `/api/blocks/${name}/chat`)).json as { messages: { role: string }[] };
        t.equal(messages.filter(({ role }) => role === 'assistant').length, 2);
      }
    });

    await t.test('any shows the figures of all, and a drain of the address is one of all workers', async (t) => {
      const { nodes } = (await call('GET', '/api/nodes')).json as { nodes: unknown[] };
      t.match(nodes, Array(2).fill({ url, alive: true, draining: false }));
      for (let index = 0; index < 2; index += 1) {
        t.match((await call('GET', '/v1/health')).json, { status: 'ok', store: { kind: 'postgres' } });
        t.equal(((await call('GET', '/api/gateway/requests')).json as { ended: unknown[] }).ended.length, 2 * names.length, 'whichever worker is asked');
      }
      t.match(JSON.parse(readFileSync(join(workspace, '.lock'), 'utf8')), { pid: child.pid, url });
      t.match(await runHere(t, ['status', '--workspace', workspace]), { code: 0, stdout: /blocks +8, 8 monitors/ });
      t.match((await runHere(t, ['nodes', '--drain', url, '--json', '--workspace', workspace])).stdout, /"draining":true.*"draining":true/);
      await until(async () => (await isHeld()).length === 0, 'no worker has a block');
      await runHere(t, ['nodes', '--undrain', url, '--workspace', workspace]);
    });

    await t.test('a key is debugged at all of them, and the primary keeps and deletes the bodies', async (t) => {
      const { json } = await call('POST', '/api/keys', { name: 'debugged' });
      t.match(await call('POST', '/api/keys/debugged/debug'), { status: 200 });
      const file = join(workspace, 'debug-bodies.jsonl');
      const shown = async (): Promise<number> => {
        const { status } = await call('POST', '/v1/chat', CHAT, json['key'] as string);
        if (status !== 200) return 0; // a worker knows of a new key a second later at most
        const { ended } = (await call('GET', '/api/gateway/requests')).json as { ended: { requestId: string; key?: string }[] };
        const [id] = ended.filter(({ key }) => key === 'debugged').map(({ requestId }) => requestId);
        return ((await call('GET', `/api/gateway/requests/${id}`)).json['bodies'] as unknown[] | undefined)?.length ?? 0;
      };
      await until(async () => (await shown()) === 1, 'a worker has noticed it, and any shows the bodies');
      t.match(await call('DELETE', '/api/keys/debugged/debug'), { status: 200 });
      await until(() => !existsSync(file), 'they are deleted');
    });

    await t.test('SIGTERM ends all in order', async (t) => {
      const before = asked();
      const lastId = await post('b0', 'last');
      await until(() => asked() === before + 1, 'a reply is under way');
      const all = workers();
      child.kill('SIGTERM');
      await delay(200);
      last.open();
      const { code, stderr, stdout } = await ended;
      t.equal(code, 0);
      t.equal(stdout.trim().split('\n').length, 1);
      t.equal(stderr.split('blockhouse is listening').length - 1, 1);
      t.match(stderr, /"signal":"SIGKILL".*a worker has ended, and another one is started/);
      t.ok(all.every(isGone));
      t.notOk(existsSync(join(workspace, '.lock')));
      t.same([await ask(store, 'select id from bh.node'), await isHeld()], [[], []]);
      t.match(await ask(store, 'select status from bh.message where reply_to = $1', [lastId]), [{ status: 'done' }], 'what was under way has ended');
    });
  });

  await t.test('when the primary is killed its workers end in order, and the next server goes on at once', async (t) => {
    const held = heldDaemon();
    const { call, workers, upstream, child } = await whole(t, held.answer, 1);
    await call('POST', '/api/blocks', { name: 'ada', config: RUNNABLE });
    await call('POST', '/api/blocks/ada/start');
    const { id } = (await call('POST', '/api/blocks/ada/chat', { message: 'one' })).json as { id: string };
    await until(() => upstream.requests.some(({ path }) => path === '/api/chat'), 'a reply is under way');
    const all = workers();
    child.kill('SIGKILL');
    await until(() => all.every(isGone), 'the workers end');
    t.same([await ask(store, 'select id from bh.node'), await isHeld()], [[], []]);
    held.open();
    const next = await serve(t, workspace, { OLLAMA_BASE_URL: upstream.url, ...env });
    const headers = { authorization: `Bearer ${readFileSync(join(workspace, '.api-token'), 'utf8').trim()}` };
    t.match(await (await fetch(`${next.url}/api/blocks/ada/chat/${id}?wait=30`, { headers })).json(), { answer: { content: 'Hello, you' } });
    next.child.kill('SIGTERM');
    t.equal((await next.ended).code, 0);
  });
});

t.test('two workers serve one port, under calls of many kinds, until SIGTERM', { ...onlyLinux }, async (t) => {
  const [leaving, held] = [heldDaemon(), heldDaemon()];
  const collector = await startCollector(t);
  let endless = 0;
  const answer: Answerer = (request, res, index) => {
    if (request.body.includes('leaving')) return leaving.answer(request, res, index);
    if (request.body.includes('held')) return held.answer(request, res, index);
    if (!request.body.includes('endless')) return friendlyDaemon(request, res, index);
    endless += 1;
    res.writeHead(200, { 'content-type': 'application/x-ndjson' });
    res.write(daemonLine('Hello'));
  };
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '500', OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'SPAN_ONLY' };
  const { url, child, ended, call, workers, workspace, upstream, token } = await farm(t, answer, { env });
  const ENDLESS = { ...CHAT, model: 'endless', stream: false };
  /** That many more endless calls have come to the provider. */
  const arrived = (before: number, more: number): Promise<void> => until(() => endless === before + more, `${more} more have arrived`);
  const first = workers();

  await t.test('one lock, and figures of both', async (t) => {
    t.match(JSON.parse(readFileSync(join(workspace, '.lock'), 'utf8')), { pid: child.pid, url });
    t.equal(first.length, 2);
    for (let index = 0; index < 4; index += 1) t.equal((await call('POST', '/v1/chat', CHAT)).status, 200);
    for (let index = 0; index < 2; index += 1) {
      t.match((await call('GET', '/api/costs?source=gateway')).json, { total: { calls: 4 } }, 'whichever worker is asked');
      t.equal(((await call('GET', '/api/gateway/requests')).json as { ended: unknown[] }).ended.length, 4);
    }
    for (let index = 0; index < 4; index += 1) t.equal((await call('GET', '/v1/adapters', undefined, 'wrong')).status, 401);
  });

  await t.test('each worker exports its own traces, with what its calls have cost by the ledger of the primary', async (t) => {
    const instances = (): Set<unknown> => new Set(collector.spans.map(({ resource }) => resource['service.instance.id']));
    await until(() => instances().size === 2, 'both workers have exported');
    const attempts = collector.spans.filter(({ kind }) => kind === 'CLIENT');
    t.ok(attempts.length >= 2);
    for (const { attributes } of attempts) t.match(attributes['gen_ai.input.messages'], /^\[\{"role":"user"/, 'with the content that is asked for');
    t.ok(
      attempts.some(({ attributes }) => attributes['blockhouse.cost_usd'] === 0),
      'a call of the last moment before an export may lack it',
    );
  });

  await t.test('codes, tickets, keys, aliases and the end of a request work at whichever worker they come to', async (t) => {
    for (let index = 0; index < 3; index += 1) {
      const { code } = (await call('POST', '/api/session/code')).json as { code: string };
      const tries = await Promise.all(
        [1, 2, 3].map(
          async () =>
            (
              await fetch(`${url}/api/session`, {
                method: 'POST',
                headers: { 'content-type': 'application/json', connection: 'close' },
                body: JSON.stringify({ code }),
              })
            ).status,
        ),
      );
      t.same(tries.sort(), [200, 401, 401], 'a code opens once');
      const { ticket } = (await call('POST', '/api/session/ticket')).json as { ticket: string };
      const sockets = [0, 1].map(() => new WebSocket(`${url.replace('http', 'ws')}/api/ws?ticket=${ticket}`));
      const outcomes = await Promise.all(
        sockets.map((socket) => Promise.race([once(socket, 'open').then(() => 'open'), once(socket, 'unexpected-response').then(() => 'refused')])),
      );
      t.same(outcomes.sort(), ['open', 'refused'], 'a ticket opens one socket');
      for (const socket of sockets) socket.close();
    }
    const { key = '' } = (await call('POST', '/api/keys', { name: 'app' })).json as { key: string };
    for (let index = 0; index < 4; index += 1) t.equal((await call('GET', '/v1/models', undefined, key)).status, 200, 'a new key is known to both');
    await call('DELETE', '/api/keys/app');
    await delay(50);
    for (let index = 0; index < 4; index += 1) t.equal((await call('GET', '/v1/models', undefined, key)).status, 401, 'a revoked key to none');
    for (const round of [0, 2]) {
      const answer = call('POST', '/v1/chat', ENDLESS).catch(() => undefined);
      await arrived(round / 2, 1);
      let live: { requestId: string }[] = [];
      const look = async () => {
        ({ live } = (await call('GET', '/api/gateway/requests')).json as { live: { requestId: string }[] });
        return live.length === 1;
      };
      await until(look, 'the request is shown by either worker');
      t.equal((await call('DELETE', `/api/gateway/requests/${live[0]?.requestId}`)).status, 200);
      await answer;
      await until(async () => ((await call('GET', '/api/gateway/requests')).json as { live: unknown[] }).live.length === 0, 'the request is ended');
    }
    t.equal((await call('DELETE', '/api/gateway/requests/none')).status, 404);
  });

  await t.test('a key is debugged at all workers at once: each has the bodies and the attempts of all, and one deletes them', async (t) => {
    const { json } = await call('POST', '/api/keys', { name: 'debugged' });
    t.match(await call('POST', '/api/keys/debugged/debug', { minutes: 60 }), { status: 200 });
    const file = join(workspace, 'debug-bodies.jsonl');
    for (let index = 0; index < 6; index += 1) t.equal((await call('POST', '/v1/chat', CHAT, json['key'] as string)).status, 200);
    const { ended } = (await call('GET', '/api/gateway/requests')).json as { ended: { requestId: string; key?: string }[] };
    const ids = ended.filter(({ key }) => key === 'debugged').map(({ requestId }) => requestId);
    t.equal(ids.length, 6);
    for (const id of ids)
      await until(async () => {
        const { calls, bodies } = (await call('GET', `/api/gateway/requests/${id}`)).json as { calls: { attempts: unknown[] }[]; bodies: unknown[] };
        return calls[0]?.attempts.length === 1 && bodies.length === 1;
      }, 'the request is shown with its bodies');
    t.match(await call('DELETE', '/api/keys/debugged/debug'), { status: 200 });
    t.notOk(existsSync(file));
    t.match(await call('DELETE', '/api/keys/debugged'), { status: 200 });
  });

  await t.test('the cap of a key holds over workers under load: what is sent beyond it was under way', async (t) => {
    const before = upstream.requests.length;
    const { key = '' } = (await call('POST', '/api/keys', { name: 'capped', tokensPerDay: 200 })).json as { key: string };
    // 5 tokens each.
    const statuses: number[] = [];
    const client = async (): Promise<void> => {
      for (let index = 0; index < 6; index += 1) statuses.push((await call('POST', '/v1/chat', CHAT, key)).status);
    };
    await Promise.all(Array.from({ length: 16 }, client));
    const answered = statuses.filter((status) => status === 200).length;
    t.equal(answered, upstream.requests.slice(before).filter(({ path }) => path === '/api/chat').length);
    t.ok(answered <= 40 + 16, `${answered} of 40, 16 at once`);
    t.match((await call('GET', '/api/keys')).json, { keys: [{ spentToday: { tokens: answered * 5 } }] });
    for (let index = 0; index < 2; index += 1) t.match((await call('POST', '/v1/chat', CHAT, key)).status, answered >= 40 ? 429 : 200);
  });

  /** Kills both workers while each has a call of this key under way, and waits for two others. */
  const killBoth = async (t: Test, name: string, kill: (both: readonly number[]) => Promise<void>): Promise<void> => {
    const { key = '' } = (await call('POST', '/api/keys', { name, tokensPerDay: 100_000 })).json as { key: string };
    const before = workers();
    const already = endless;
    const broken = [1, 2].map(() => call('POST', '/v1/chat', ENDLESS, key).catch((error: NodeJS.ErrnoException) => error.code));
    const tooEarly = broken.map(async (one) => {
      throw new Error(`a call has ended before its worker was killed: ${JSON.stringify(await one)}`);
    });
    await Promise.race([arrived(already, 2), ...tooEarly]);
    await kill(before);
    t.same(await Promise.all(broken), ['ECONNRESET', 'ECONNRESET']);
    t.equal((await call('GET', '/v1/health')).status, 200, 'a connection waits for the others');
    await until(() => workers().length === 2, 'there are two others');
    t.ok(workers().every((pid) => !before.includes(pid)));
    const { keys } = (await call('GET', '/api/keys')).json as { keys: { name: string; spentToday: { calls: number; tokens: number } }[] };
    const app = keys.find((each) => each.name === name);
    t.match(app, { spentToday: { calls: 2 } });
    t.ok((app?.spentToday.tokens ?? 0) >= 2000, 'as the journal has them');
  };

  /** Follows what happens at the server until a call is among it. */
  const seeCall = async (): Promise<void> => {
    const names: string[] = [];
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/ws`, { headers: { authorization: `Bearer ${token}` } });
    socket.on('error', () => undefined); // its worker is killed
    socket.on('message', (data) => names.push((JSON.parse(String(data)) as { name: string }).name));
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'subscribe', events: true }));
    await until(async () => (await call('POST', '/v1/chat', CHAT)).status === 200 && names.includes('call.started'), 'a call is told');
  };

  await t.test(
    'workers that die while they are given connections are replaced, and others answer these; calls of the dead count what they may have used',
    async (t) => {
      await seeCall();
      let given: readonly ReturnType<typeof call>[] = [];
      await killBoth(t, 'given', async (both) => {
        for (const pid of both) process.kill(pid, 'SIGSTOP');
        given = Array.from({ length: 8 }, () => call('GET', '/v1/health'));
        await delay(100); // the primary hands one to each worker
        for (const pid of both) process.kill(pid, 'SIGKILL');
      });
      t.same(
        (await Promise.all(given)).map(({ status }) => status),
        Array(8).fill(200),
      );
      await seeCall(); // those of the others are told
    },
  );

  await t.test('SIGTERM to each worker lets its answers end: connections that come while both end wait for others', async (t) => {
    const { length } = upstream.requests;
    const answers = [1, 2].map(() => call('POST', '/v1/chat', { ...CHAT, model: 'leaving' }));
    await upstream.arrived(length + 1);
    const both = workers();
    for (const pid of both) process.kill(pid, 'SIGTERM');
    // A worker that has not noticed its signal yet answers at once, and one that has just noticed it may refuse what it has taken already.
    const unanswered = new Set<ReturnType<typeof call>>();
    for (let tries = 0; tries < 100 && unanswered.size < 8; tries += 1) {
      const one = call('GET', '/v1/health');
      unanswered.add(one);
      const isAnswered = one.finally(() => unanswered.delete(one));
      await Promise.race([isAnswered, delay(100)]);
    }
    const [oldest, youngest] = [[...unanswered].slice(0, 4), [...unanswered].slice(4)];
    t.equal(oldest.length, 4, 'none of them is answered while both end');
    leaving.open();
    for (const answer of await Promise.all(answers)) t.match(answer, { status: 200, json: { message: { content: 'Hello, you' } } });
    for (const answer of await Promise.all(oldest)) t.match(answer, { status: 200, json: { status: 'ok' } });
    await Promise.all(youngest);
    await until(() => workers().length === 2 && both.every(isGone), 'both are replaced');
  });

  await t.test('SIGTERM lets open answers end; there was one ready line, and one log', async (t) => {
    const { length } = upstream.requests;
    const answers = [1, 2].map(() => call('POST', '/v1/chat', { ...CHAT, model: 'held' }));
    await upstream.arrived(length + 1);
    const last = workers();
    child.kill('SIGTERM');
    await delay(200);
    held.open();
    for (const answer of await Promise.all(answers)) t.match(answer, { status: 200, json: { message: { content: 'Hello, you' } } });
    const { code, stdout, stderr } = await ended;
    t.equal(code, 0);
    t.equal(stdout.trim().split('\n').length, 1);
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { pid: number; msg: string; path?: string; signal?: string });
    t.equal(lines.filter(({ msg }) => msg === 'blockhouse is listening').length, 1);
    const deaths = lines.filter(({ msg }) => msg === 'a worker has ended, and another one is started');
    t.same(
      deaths.map(({ signal }) => signal),
      ['SIGKILL', 'SIGKILL', null, null],
    );
    t.same(new Set(lines.filter(({ path }) => path === '/v1/adapters').map(({ pid }) => pid)), new Set(first));
    const { stdout: log } = await runHere(t, ['logs', '--limit', '1000', '--workspace', workspace]);
    t.equal(log.split('path=/v1/adapters').length - 1, 4, 'the files of the log have the lines of both');
    t.ok(last.every(isGone));
    t.notOk(existsSync(join(workspace, '.lock')));
  });
});

const ONE = { args: ['--gateway-only', '--workers', '1'] };

t.test('one worker', { ...onlyLinux }, async (t) => {
  const workspace = testFolder(t);

  await t.test('when the primary is killed its workers end at once', async (t) => {
    const endless: Answerer = (_request, res) => {
      res.writeHead(200, { 'content-type': 'application/x-ndjson' });
      res.write(daemonLine('Hello'));
    };
    const { child, call, upstream, workers, url } = await farm(t, endless, { ...ONE, workspace });
    const { key = '' } = (await call('POST', '/api/keys', { name: 'app', tokensPerDay: 100_000 })).json as { key: string };
    const broken = call('POST', '/v1/chat', CHAT, key).catch((error: NodeJS.ErrnoException) => error.code);
    await upstream.arrived(0);
    const all = workers();
    child.kill('SIGKILL');
    t.equal(await broken, 'ECONNRESET');
    await until(() => all.every(isGone), 'the workers end');
    await t.rejects(fetch(`${url}/v1/health`));
  });

  await t.test('the next server counts what was under way, and SIGINT to all processes, as of a terminal, lets open answers end', async (t) => {
    const held = heldDaemon();
    const { child, ended, call, upstream, workers } = await farm(t, held.answer, { ...ONE, workspace });
    t.match((await call('GET', '/api/keys')).json, { keys: [{ spentToday: { calls: 1 } }] });
    const answers = [1, 2].map(() => call('POST', '/v1/chat', CHAT));
    await upstream.arrived(1);
    for (const pid of workers()) process.kill(pid, 'SIGINT');
    child.kill('SIGINT');
    await delay(200);
    held.open();
    for (const answer of await Promise.all(answers)) t.match(answer, { status: 200, json: { message: { content: 'Hello, you' } } });
    t.equal((await ended).code, 0);
  });
});

t.test('a port in use is said once, with exit code 5; and nobody else gets it while no worker lives, until none can start', { ...onlyLinux }, async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const workspace = testFolder(t);
  const refused = await run(t, ['serve', '--gateway-only', '--workers', '2', '--port', String(port), '--workspace', workspace]);
  t.match(refused, { code: 5, stdout: '', stderr: new RegExp(`^blockhouse: 127.0.0.1:${port} is in use; choose another port [^\\n]*\\n$`) });
  t.notOk(existsSync(join(workspace, '.lock')));
  other.close();
  await once(other, 'close');
  const secret = join(testFolder(t), 'secret');
  writeFileSync(secret, 'k', { mode: 0o600 });
  const { workers, ended, call } = await farm(t, friendlyDaemon, {
    args: [...ONE.args, '--port', String(port)],
    env: { OPENAI_API_KEY_FILE: secret },
  });
  const kill = async (): Promise<void> => {
    const all = workers();
    for (const pid of all) process.kill(pid, 'SIGKILL');
    await until(() => all.every(isGone), 'no worker lives');
  };
  await kill();
  const thief = createServer().listen(port, '127.0.0.1');
  t.match(await once(thief, 'error'), [{ code: 'EADDRINUSE' }]);
  t.equal((await call('GET', '/v1/health')).status, 200);
  await until(() => workers().length === 1, 'there is another');
  rmSync(secret);
  await kill();
  const waiting = call('GET', '/v1/health').catch((error: NodeJS.ErrnoException) => error.code);
  t.match(await ended, { code: 5, stderr: /\nblockhouse: OPENAI_API_KEY_FILE names [^\n]+, which does not exist\.\n$/ });
  t.match(await waiting, /ECONNRESET|ECONNREFUSED/, 'and nobody waits in vain');
});
