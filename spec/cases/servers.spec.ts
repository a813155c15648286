// Servers that keep one workspace in a database: what is asked of one is done by whichever has the block, once.
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type BlockEntry, type Core, connectStore } from '../../core/index.ts';
import { createHttpTransport } from '../../transports/http/index.ts';
import { createWsTransport } from '../../transports/ws/index.ts';
import { askedOf, endAnswer, type Fact, RUNNABLE, repeatingDaemon, type StartedCore, type StartOptions, sendPiece, startCore } from '../support/blocks.ts';
import { migratedStore } from '../support/migrated.ts';
import { ask, noPostgres } from '../support/postgres.ts';
import { storeProxy } from '../support/store-proxy.ts';
import { sweep } from '../support/sweep.ts';
import { until, untilSo } from '../support/until.ts';
import { WsClient } from '../support/ws.ts';
import { type Answerer, sendJson } from '../support/upstream.ts';

/** Servers of one database, each with a folder of its own. */
async function servers(t: Test, count: number, options: StartOptions = {}): Promise<{ readonly all: readonly StartedCore[]; readonly store: string }> {
  const store = await migratedStore(t);
  const all: StartedCore[] = [];
  for (let n = 0; n < count; n += 1) all.push(await startCore(t, { ...options, store: await connectStore(store) }));
  return { all, store };
}

async function listening(t: Test, core: Core): Promise<string> {
  const transport = createHttpTransport(core);
  t.teardown(() => transport.close());
  return transport.listen(0, '127.0.0.1');
}

async function tokenOf(core: Core): Promise<string> {
  await core.token?.ensure();
  return core.token?.reveal() ?? '';
}

const only = <T>([one]: readonly T[]): T => one as T;

t.test('a database', { skip: noPostgres }, async (t) => {
  t.test('two servers', async (t) => {
    const { all } = await servers(t, 2);
    const [a, b] = all as [StartedCore, StartedCore];

    t.test('of two servers one answers each message, wherever it was posted, in order', async (t) => {
      const calls = (): number => [a, b].flatMap(({ upstream }) => upstream.requests.filter(({ path }) => path === '/api/chat')).length;
      const before = calls();
      await a.create('ada');
      await a.blocks.start('ada');
      const posted: string[] = [];
      for (let n = 0; n < 10; n += 1) posted.push((await (n % 2 === 0 ? a : b).blocks.post('ada', { message: `${n}` }, 'api')).id);
      const last = posted.at(-1) ?? '';
      t.match(await b.blocks.answer('ada', last, { waitMs: 20_000 }), { answer: { content: 'You said: 9' } }, 'a wait on either server ends');
      const history = await b.blocks.history('ada');
      t.equal(history.length, 20);
      t.same(
        history.filter(({ role }) => role === 'assistant').map(({ replyTo }) => replyTo),
        posted,
      );
      t.equal(calls() - before, 10);
    });

    t.test('a wait at a server that has not heard of the message yet ends with the answer', async (t) => {
      await a.create('bob');
      await a.blocks.start('bob');
      for (let n = 0; n < 10; n += 1) {
        await b.blocks.history('bob'); // what was read is good for a tenth of a second
        const { id } = await a.blocks.post('bob', { message: `${n}` }, 'api');
        t.match(await b.blocks.answer('bob', id, { waitMs: 20_000 }), { answer: { content: `You said: ${n}` } });
      }
    });

    t.test('a block is asked as a model at any server: whole or streamed, one message for one idempotency key, counted for its key', async (t) => {
      await a.create('model', RUNNABLE);
      await a.blocks.start('model');
      const token = await tokenOf(a.core);
      const urls = [await listening(t, a.core), await listening(t, b.core)];
      const send = async (url: string | undefined, path: string, authorization: string, body: object) => {
        const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': 'k' };
        const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
        return { status: answer.status, text: await answer.text() };
      };
      const made = await send(urls[0], '/api/keys', `Bearer ${token}`, { name: 'app', rights: ['blocks'] });
      const { key } = JSON.parse(made.text) as { key: string };
      await until('the key is known at the other server', () => b.core.keys?.find(key) !== undefined);
      const messages = [{ role: 'user', content: 'hi' }];
      const asked = [
        { path: '/v1/chat/completions', body: { stream: true } },
        { path: '/v1/messages', body: { max_tokens: 9 } },
        { path: '/ollama/api/chat', body: { stream: false } },
      ];
      for (const url of [urls[1], urls[0]])
        for (const { path, body } of asked)
          t.match(
            await send(url, path, `Bearer ${key}`, { model: 'block/model', messages, ...body }),
            { status: 200, text: /You said|said: hi/ },
            `${path} ${urls.indexOf(url ?? '')}`,
          );
      t.match(await b.blocks.history('model'), [{ content: 'hi', chain: [{ via: 'key', key: 'app' }] }, { role: 'assistant' }]);
      t.equal((await b.blocks.history('model')).length, 2, 'one message');
      let calls = 0;
      for (let look = 0; look < 200 && calls === 0; look += 1) {
        await delay(50);
        calls = (await b.core.accounts?.spentToday('app'))?.calls ?? 0;
      }
      t.equal(calls, 1, 'the key has paid once');
      await a.blocks.stop('model');
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const refused = await fetch(`${urls[1]}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify({ model: 'block/model', messages }) });
      t.equal(refused.status, 503, 'stopped, and known so at the other server');
      await refused.text();
    });

    t.test(
      'X22, X31, X46: one change of two with the same If-Match, a key that is made again, and sockets that a new token ends, over two servers',
      async (t) => {
        const token = await tokenOf(a.core);
        const started = await Promise.all(
          [a, b].map(async ({ core }) => {
            const transport = createHttpTransport(core);
            const ws = createWsTransport(core, transport.server);
            t.teardown(async () => {
              await ws.close();
              await transport.close();
            });
            return transport.listen(0, '127.0.0.1');
          }),
        );
        const call = (at: number, method: string, path: string, body?: object, more: object = {}): Promise<Response> =>
          fetch(`${started[at]}${path}`, {
            method,
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more },
            ...(body !== undefined && { body: JSON.stringify(body) }),
          });
        await until('the other one has the token', () => b.core.token?.matches(token) === true);
        await a.create('cleo', RUNNABLE);
        const etag = (await call(1, 'GET', '/api/blocks/cleo/config')).headers.get('etag') ?? '';
        const puts = await Promise.all([0, 1].map((at) => call(at, 'PUT', '/api/blocks/cleo/config', { description: `of ${at}` }, { 'if-match': etag })));
        t.same(puts.map(({ status }) => status).sort(), [200, 412]);

        const keyOf = async (): Promise<string> =>
          ((await (await call(0, 'POST', '/api/keys', { name: 'other', usdPerDay: 1 })).json()) as { key: string }).key;
        const first = await keyOf();
        await until('it holds at the other one', () => b.core.keys?.find(first) !== undefined);
        await call(0, 'DELETE', '/api/keys/other');
        await until('it is revoked at the other one', () => b.core.keys?.find(first) === undefined);
        const second = await keyOf();
        await until('the next one holds there', () => b.core.keys?.find(second) !== undefined);
        t.equal(b.core.keys?.find(first), undefined);

        const clients = await Promise.all(started.map((url) => WsClient.connect(t, { port: Number(new URL(url).port), token })));
        await a.core.token?.renew();
        for (const client of clients) await until('a socket is closed', () => client.closed !== undefined);
        t.same(
          clients.map(({ closed }) => closed?.code),
          [1008, 1008],
        );
      },
    );

    t.test('a restart, a compaction, a halt and an import work on either server', async (t) => {
      await a.create('yara', { ...RUNNABLE, memory: { maxContextTokens: 4096, thresholdPercent: 90, keepMessages: 2 } });
      await a.blocks.start('yara');
      for (const text of ['one', 'two', 'three', 'four', 'five', 'six']) await a.ask('yara', text);
      t.match(await b.blocks.compact('yara'), { compactionCount: 1 }, 'the owner gives the block up for it');
      t.match(await a.blocks.undoCompaction('yara'), { compactionCount: 1, summary: '' });
      t.match(await b.blocks.restart('yara'), { message: 'yara was restarted.' });
      t.match(await a.blocks.answer('yara', (await a.blocks.post('yara', { message: 'seven' }, 'api')).id, { waitMs: 30_000 }), {
        answer: { content: 'You said: seven' },
      });
      await a.blocks.halt({ reason: 'x' });
      await until('the other one knows within a second', () => b.blocks.halted().halted);
      const { id } = await b.blocks.post('yara', { message: 'eight' }, 'api');
      t.match(await a.blocks.message('yara', id), { entry: { status: 'queued' }, answer: null });
      await b.blocks.unhalt();
      await untilSo('it is answered', async () => (await b.blocks.message('yara', id)).answer !== null); // the other one knows within a second
      t.match(await b.blocks.import(await a.blocks.export('yara'), 'yves'), { name: 'yves' });
      t.equal((await a.blocks.history('yves')).length, 16);
      t.same((await b.blocks.list()).map(({ name }) => name).slice(-2), ['yara', 'yves']);
      t.match(await b.blocks.rename('yara', { name: 'zoe' }), { name: 'zoe' });
      await untilSo('it is there', async () => (await a.blocks.history('zoe').catch(({ code }) => code)) !== 'BLOCK_NOT_FOUND'); // within a second
      const nine = await a.blocks.post('zoe', { message: 'nine' }, 'api');
      t.match(await a.blocks.answer('zoe', nine.id, { waitMs: 30_000 }), { answer: { content: 'You said: nine' } }, 'a block that ran runs again');
      t.match(await a.blocks.costs({ by: 'block', block: 'zoe' }), { total: { calls: 1 } });
    });

    t.test('a browser signs in at any server, and is signed in at all of them until the token is replaced; any server drains another one', async (t) => {
      await a.core.token?.ensure();
      const token = a.core.token?.reveal() ?? '';
      await until('the other one has the token', () => b.core.token?.matches(token) === true); // within a second
      const [urlA, urlB] = await Promise.all([a, b].map(({ core }) => listening(t, core)));
      const call = (url: string | undefined, path: string, bearer?: string, body?: object): Promise<Response> =>
        fetch(`${url}${path}`, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }), 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
      const { code } = (await (await call(urlA, '/api/session/code?printed=true', token, {})).json()) as { code: string };
      const tries = await Promise.all([urlB, urlA, urlB].map((url) => call(url, '/api/session', undefined, { code })));
      t.same(tries.map(({ status }) => status).sort(), [200, 401, 401], 'the code opens once');
      const opened = tries.find(({ status }) => status === 200);
      const { key } = (await (opened as Response).json()) as { key: string };
      const seen = async (): Promise<number[]> => Promise.all([urlA, urlB].map(async (url) => (await call(url, '/api/blocks', key)).status));
      t.same(await seen(), [200, 200]);
      t.equal((await call(urlB, '/v1/adapters', key)).status, 200);
      const { ticket } = (await (await call(urlA, '/api/session/ticket', key, {})).json()) as { ticket: string };
      t.same((await Promise.all([b, a].map(({ core }) => core.sessions?.redeem(ticket)))).sort(), [false, true]);
      const { node } = b.core.storeHealth ?? { node: '' };
      t.match(await (await call(urlA, `/api/nodes/${node}/drain`, token, {})).json(), { id: node, draining: true, self: false });
      const drained = async (): Promise<boolean> => ((await (await fetch(`${urlB}/v1/health`)).json()) as { store: { draining: boolean } }).store.draining;
      await untilSo('it is drained', drained); // within a second
      t.same(
        await Promise.all(['nobody', '%00', '%F0%9F%98%80'].map(async (id) => (await call(urlA, `/api/nodes/${id}/drain`, token, {})).status)),
        [404, 404, 404],
      );
      await a.core.token?.renew();
      // Within a second. Each is asked until it refuses: after twenty wrong keys it would answer 429.
      const refusal = async (url: string | undefined): Promise<number> => {
        for (;;) {
          const { status } = await call(url, '/api/blocks', key);
          if (status !== 200) return status;
          await delay(50);
        }
      };
      t.same(await Promise.all([urlA, urlB].map(refusal)), [401, 401]);
    });
  });

  t.test('a message to a block is answered, and all is there for the next server', async (t) => {
    const { all, store } = await servers(t, 1);
    const one = only(all);
    await one.create('ada', { ...RUNNABLE, description: 'd' });
    t.match(await one.blocks.start('ada'), { message: 'ada is running.', pulse: { desired: 'running' } });
    t.match(await one.ask('ada', 'hi'), { content: 'You said: hi' });
    await one.blocks.addFact('ada', { text: 'x' });
    t.match(await one.blocks.list(), [{ name: 'ada', config: { description: 'd', enabled: true } }]);
    t.match(await one.blocks.costs({ by: 'block' }), { rows: [{ key: 'ada', calls: 1 }] });
    t.match((await one.blocks.logs('ada'))[0]?.content, /reply\.done/);
    await one.core.close();
    const next = await startCore(t, { store: await connectStore(store) });
    t.match(await next.blocks.history('ada'), [{ content: 'hi', status: 'done' }, { content: 'You said: hi' }]);
    t.match(await next.blocks.details('ada'), { memory: { facts: [{ text: 'x' }] }, config: { enabled: true }, costs: { calls: 1 } });
    t.match(await next.ask('ada', 'again'), { content: 'You said: again' }, 'its monitor runs on');
    t.match(await next.blocks.stop('ada'), { message: 'ada is stopped.', pulse: { state: 'stopped' } });
    t.match(await next.core.check(), { checked: { blocks: 1, messages: 4 }, findings: [] });
    t.same(next.factsOf('workspace.fault'), []);
  });

  t.test(
    'the health of each says which server it is and how many there are, and is an error while the database is away; who comes and goes is an event',
    async (t) => {
      const proxy = await storeProxy(t, await migratedStore(t));
      const all = [
        await startCore(t, { store: await connectStore(proxy.store, { leaseMs: 2000 }) }),
        await startCore(t, { store: await connectStore(proxy.store, { leaseMs: 2000 }) }),
      ];
      const urls = await Promise.all(all.map(({ core }) => listening(t, core)));
      const health = async (url: string | undefined): Promise<unknown> => {
        const answer = await fetch(`${url}/v1/health`);
        return { status: answer.status, json: await answer.json() };
      };
      const healths = await Promise.all(urls.map(health));
      t.match(healths, [{ json: { store: { kind: 'postgres', latencyMs: Number, node: String } } }, { json: { store: { nodes: 2 } } }]);
      const [a, b] = all as [StartedCore, StartedCore];
      t.match(await a.told('node.joined'), { node: b.core.storeHealth?.node, self: false, version: a.core.version, url: null });
      t.same(b.factsOf('node.joined'), [], 'those who were there before have not come');
      proxy.refuse();
      const isAway = async (): Promise<boolean> => ((await health(urls[0])) as { status: number }).status === 503;
      await untilSo('it is away', isAway);
      t.match(await health(urls[0]), { status: 503, json: { code: 'STORE_UNREACHABLE' } });
      proxy.heal();
      await untilSo('it is back', async () => !(await isAway()));
      t.match(await health(urls[0]), { status: 200 });
      for (const type of ['store.away', 'store.back'] as const) t.ok(((await a.told(type))['silentMs'] as number) >= 2000);
      t.same([a.factsOf('store.away').length, a.factsOf('store.back').length], [1, 1]);
      await until('the other one is back', () => b.core.storeHealth?.isAway === false);
      // It may have joined again under another id, of which the first one would see nothing if it left before the next renewal there.
      const newest = (node: unknown): Fact | undefined => a.facts.filter(({ type, fact }) => type.startsWith('node.') && fact['node'] === node).at(-1);
      await until('the first one knows it', () => newest(b.core.storeHealth?.node)?.type === 'node.joined');
      const last = b.core.storeHealth?.node;
      await b.core.close();
      const ofLast = (): Fact | undefined => newest(last);
      await until('the first one sees that it has gone', () => ofLast()?.type === 'node.gone');
    },
  );

  t.test('X49: an address of another server is refused as a provider, from when it listens until it has gone', async (t) => {
    const store = await migratedStore(t);
    const [a, b] = [
      await startCore(t, { store: await connectStore(store, { leaseMs: 2000 }) }),
      await startCore(t, { store: await connectStore(store, { leaseMs: 2000 }) }),
    ];
    const url = await listening(t, b.core);
    const verdict = async (): Promise<string> => {
      const config = { baseURL: url };
      return a.core.chat({ adapter: 'ollama', model: 'm', messages: [{ role: 'user', content: 'hi' }], config }).then(
        () => 'called',
        ({ code, message }: { code: string; message: string }) => `${code} ${message}`,
      );
    };
    t.notMatch(await verdict(), /leads to/, 'what nobody has told of');
    await b.core.announce(url);
    const isRefused = async (): Promise<boolean> => (await verdict()).includes('leads to another server of this workspace');
    await untilSo('it is refused', isRefused);
    t.match(await verdict(), /^INVALID_REQUEST config\.baseURL leads to another server of this workspace \(http:\/\/127\.0\.0\.1:\d+\)/);
    await ask(store, 'delete from bh.node where id = $1', [b.core.storeHealth?.node]); // as who gives it up
    await until('it has joined again', () => b.factsOf('node.joined').some(({ self }) => self === true));
    await a.told('node.joined', { node: b.core.storeHealth?.node });
    await untilSo('it is refused', isRefused);
    const rows = (): Promise<Record<string, unknown>[]> => ask(store, "select key from bh.setting where key like 'served.%'");
    t.same(await rows(), [{ key: `served.${b.core.storeHealth?.node}` }]);
    await b.core.close();
    t.same(await rows(), []);
    await untilSo('it is not refused', async () => !(await isRefused()));
  });

  t.test('X50: a page behind a balancer that takes turns sees each change of the list', async (t) => {
    const store = await migratedStore(t);
    const all: { readonly core: Core; readonly port: number }[] = [];
    for (const _server of ['a', 'b']) {
      const { core } = await startCore(t, { store: await connectStore(store) });
      if (all.length === 0) await core.token?.ensure(); // before the other one looks
      const transport = createHttpTransport(core);
      const sockets = createWsTransport(core, transport.server);
      t.teardown(() => Promise.all([transport.close(), sockets.close()]));
      all.push({ core, port: Number(new URL(await transport.listen(0, '127.0.0.1')).port) });
    }
    const { core } = all[0] as (typeof all)[0];
    const token = core.token?.reveal() ?? '';
    for (const name of ['ada', 'bob', 'cleo']) await core.blocks.create({ name, config: RUNNABLE });
    const shown = new Map<string, unknown>();
    let seq: number | undefined;
    /** One connection of the page, with what comes first. */
    const connect = async (turn: number): Promise<void> => {
      const { port, core: answering } = all[turn % 2] as (typeof all)[0];
      const client = await WsClient.connect(t, { port, token });
      client.send({ type: 'subscribe', fleet: true, ...(seq !== undefined && { since: seq }) });
      await until('an answer', () => client.frames.some(({ type }) => type === 'fleet'));
      client.socket.terminate();
      for (const frame of client.frames.filter(({ type }) => type === 'fleet')) {
        seq = frame['seq'] as number;
        const entries = (frame['reset'] === true ? await answering.blocks.list() : frame['changed']) as BlockEntry[];
        if (frame['reset'] === true) shown.clear();
        for (const { name, config } of entries) shown.set(name, config?.description);
        for (const name of frame['gone'] as string[]) shown.delete(name);
      }
    };
    const turns = sweep(40, 16);
    for (let turn = 0; turn < turns; turn += 1) {
      const changing = (all[(turn >> 1) % 2] as (typeof all)[0]).core.blocks;
      if (turn === turns / 2) await changing.archive('cleo');
      else await changing.updateConfig(turn % 3 === 0 ? 'ada' : 'bob', { description: `${turn}` });
      await connect(turn);
    }
    await delay(1200); // each server has looked
    for (const turn of [0, 1]) await connect(turn);
    t.same(
      [...shown].sort(),
      (await core.blocks.list()).map(({ name, config }) => [name, config?.description]),
    );
    t.ok(Math.abs((seq ?? 0) / 1000 - Date.now()) < 600_000, 'a number is a moment, whichever server gives it');
  });

  t.test('a list of more than 10,000 blocks is given in pages only', async (t) => {
    const { all, store } = await servers(t, 1);
    const { blocks } = only(all);
    await ask(
      store,
      `with b as (insert into bh.block (name) select 'b' || to_char(n, 'FM00000') from generate_series(1, 10001) n returning id, name),
        d as (insert into bh.document (block_id, kind, value) select id, 'config', json_build_object('name', name) from b)
      insert into bh.block_entry (block_id, name) select id, name from b`,
    );
    await ask(store, 'analyze bh.block, bh.document, bh.block_entry'); // as a database does by itself
    const { entries, next } = await blocks.page();
    t.match({ count: entries.length, first: entries[0], next }, { count: 1000, first: { name: 'b00001' }, next: /./ });
    t.match((await blocks.page({ limit: 1, cursor: next ?? '' })).entries, [{ name: 'b01001' }]);
    await ask(store, "delete from bh.block where name = 'b10001'");
    await untilSo('one is gone', async () => (await blocks.counts()).blocks <= 10_000); // how many there are is known for a second
    const whole = await blocks.page();
    t.match({ count: whole.entries.length, next: whole.next }, { count: 10_000, next: null });
    await ask(store, 'update bh.block_entry set changed_at = clock_timestamp() where block_id <= 1100');
    t.equal((await blocks.list()).length, 10_000, 'also when more than a thousand have changed at once');
  });

  t.test('a reply of one server is stopped, cancelled and read from the other, and so is its log', async (t) => {
    let isSlow = true;
    const answer: Answerer = (request, res, ...rest) => {
      if (!isSlow || request.path === '/api/tags') return repeatingDaemon(request, res, ...rest);
      sendPiece(res, 'Half an ');
    };
    const { all } = await servers(t, 2, { answer });
    const [a, b] = all as [StartedCore, StartedCore];
    await a.create('ada');
    await a.blocks.start('ada');
    const { id } = await a.blocks.post('ada', { message: 'slow' }, 'api');
    const steps: unknown[] = [];
    const lines: string[] = [];
    t.teardown(b.blocks.follow('ada', { onReply: (step) => steps.push(step), onLog: ({ file, offset, text }) => lines.push(`${file} ${offset} ${text}`) }));
    await until('the other server shows the text', () => steps.some((step) => (step as { text?: string }).text === 'Half an '));
    await untilSo('it works', async () => (await b.blocks.details('ada')).pulse.state === 'working'); // its pulse comes half a second later
    t.match(await b.blocks.cancel('ada', id), { id, status: 'cancelled' });
    t.match(await b.blocks.message('ada', id), { answer: { content: 'Half an ', status: 'interrupted' } }, 'its text is kept');
    isSlow = false;
    t.match(await b.blocks.stop('ada'), { message: 'ada is stopped.', pulse: { state: 'stopped' } });
    t.match(await a.blocks.details('ada'), { config: { enabled: false }, pulse: { state: 'stopped' } });
    await until('the log of the other server is shown while it is written', () => lines.some((line) => line.includes('monitor.stopped')));
    t.equal(new Set(lines).size, lines.length, 'each line once');
    t.match(await b.blocks.rename('ada', { name: 'bob' }), { name: 'bob' });
    t.match([b.factsOf('block.renamed'), b.factsOf('block.archived')], [[{ block: 'bob', from: 'ada' }], []], 'in one step');
    t.match(await b.blocks.history('bob'), [{ id }, { replyTo: id }]);
    await untilSo('it is gone', async () => (await a.blocks.history('ada').catch(({ code }) => code)) === 'BLOCK_NOT_FOUND'); // within a second
    t.match(await a.blocks.archive('bob'), { archiveName: /^bob_/ });
    t.match(await b.blocks.archives(), [{ originalName: 'bob' }]);
  });

  t.test('a server that is drained gives its blocks away when their replies are over, and stays so until it is asked otherwise', async (t) => {
    const held: (() => void)[] = [];
    const answer: Answerer = (request, res, ...rest) => {
      const asked = request.path === '/api/tags' ? '' : askedOf(request).messages.at(-1)?.content;
      if (asked === 'fail') return sendJson(res, { error: 'no' }, 500);
      if (asked !== 'slow') return repeatingDaemon(request, res, ...rest);
      sendPiece(res, 'Half an ');
      held.push(() => {
        sendPiece(res, 'answer');
        endAnswer(res);
      });
    };
    const { all, store } = await servers(t, 2, { answer });
    const [a, b] = all as [StartedCore, StartedCore];
    const nodeOf = (server: StartedCore): string => server.core.storeHealth?.node ?? '';
    const ownersOf = async (): Promise<unknown[]> => [
      ...new Set((await ask(store, 'select owner from bh.block where owner is not null')).map(({ owner }) => owner)),
    ];
    const calls = (server: StartedCore): string[] =>
      server.upstream.requests.filter(({ path }) => path === '/api/chat').map((request) => askedOf(request).messages.at(-1)?.content ?? '');
    await b.core.drain(nodeOf(b), true);
    const names = ['one', 'two', 'six', 'slow', 'fail'];
    for (const name of names) {
      await a.create(name, { ...RUNNABLE, retry: { maxAttempts: 3, baseMs: 600_000, maxDelayMs: 600_000 } });
      await a.blocks.start(name);
    }
    for (const name of ['one', 'two', 'six'])
      t.match(await b.blocks.answer(name, (await b.blocks.post(name, { message: 'hi' }, 'api')).id, { waitMs: 30_000 }), {
        answer: { content: 'You said: hi' },
      });
    const slow = await a.blocks.post('slow', { message: 'slow' }, 'api');
    const queued = await a.blocks.post('slow', { message: 'behind it' }, 'api');
    await a.blocks.post('fail', { message: 'fail' }, 'api');
    await a.inState('fail', 'backoff');
    await until('the reply is under way', () => held.length === 1);
    t.same([calls(b), await ownersOf()], [[], [nodeOf(a)]], 'one that is drained takes nothing');

    t.match(await a.core.drain(nodeOf(b), false), { id: nodeOf(b), draining: false, self: false });
    t.match(await b.core.drain(nodeOf(a), true), { id: nodeOf(a), draining: true, self: false });
    await untilSo('it has one block', async () => (await a.core.nodes())[0]?.blocks === 1);
    t.match(await ask(store, 'select name from bh.block where owner = $1', [nodeOf(a)]), [{ name: 'slow' }], 'a reply ends where it began');
    t.match(await b.blocks.message('slow', queued.id), { entry: { status: 'queued' } });
    t.equal(a.core.storeHealth?.draining, true);
    const moved = await a.blocks.post('one', { message: 'moved' }, 'api');
    t.match(await a.blocks.answer('one', moved.id, { waitMs: 30_000 }), { answer: { content: 'You said: moved' } }, 'the other one answers');
    held[0]?.();
    t.match(await a.blocks.answer('slow', queued.id, { waitMs: 30_000 }), { answer: { content: 'You said: behind it' } });
    t.match(await b.blocks.history('slow'), [
      { id: slow.id, attempts: 1 },
      { id: queued.id, attempts: 1 },
      { content: 'Half an answer', replyTo: slow.id, status: 'done' },
      { replyTo: queued.id },
    ]);
    t.same(
      [calls(a).sort(), calls(b).sort()],
      [
        ['fail', 'hi', 'hi', 'hi', 'slow'],
        ['behind it', 'moved'],
      ],
      'each was asked once',
    );
    await untilSo('it owns nothing', async () => !(await ownersOf()).includes(nodeOf(a)));

    await ask(store, 'delete from bh.node where id = $1', [nodeOf(a)]); // as if it had been frozen
    const before = nodeOf(a);
    await until('it has another id', () => nodeOf(a) !== before);
    t.match(
      await b.core.nodes(),
      [
        { id: nodeOf(b), draining: false },
        { id: nodeOf(a), draining: true, blocks: 0 },
      ],
      'also under its next id',
    );
    await b.core.drain(nodeOf(b), true);
    await b.blocks.start('two');
    const waits = await b.blocks.post('two', { message: 'waits' }, 'api');
    await b.core.drain(nodeOf(a), false);
    t.match(await b.blocks.answer('two', waits.id, { waitMs: 30_000 }), { answer: { content: 'You said: waits' } });
    t.equal(calls(a).at(-1), 'waits');
    t.same(await ask(store, "select key from bh.setting where key like 'drained.%'"), [{ key: `drained.${nodeOf(b)}` }]);
    await t.rejects(b.core.drain(before, true), { code: 'NODE_NOT_FOUND' });
  });

  t.test('a summary of a server that was given up changes nothing', async (t) => {
    let isHeld = false;
    const held: (() => void)[] = [];
    const answer: Answerer = (request, res, ...rest) => {
      if (!isHeld || request.path === '/api/tags') return repeatingDaemon(request, res, ...rest);
      held.push(() => repeatingDaemon(request, res, ...rest));
    };
    const { all, store } = await servers(t, 1, { answer });
    const one = only(all);
    await one.create('ada', { ...RUNNABLE, memory: { maxContextTokens: 4096, thresholdPercent: 90, keepMessages: 2 } });
    await one.blocks.start('ada');
    for (const text of ['one', 'two', 'three', 'four', 'five', 'six']) await one.ask('ada', text);
    await one.inState('ada', 'idle');
    isHeld = true;
    const compacting = one.blocks.compact('ada').then(
      () => 'done',
      ({ code }) => code,
    );
    await until('the model is asked', () => held.length === 1);
    await ask(store, 'delete from bh.node'); // as if it had not renewed its lease
    held[0]?.();
    t.equal(await compacting, 'STORE_UNREACHABLE');
    t.match(await ask(store, "select value ->> 'compactionCount' as count, value ->> 'summary' as summary from bh.document where kind = 'memory'"), [
      { count: '0', summary: '' },
    ]);
  });

  t.test('a server that was given up answers nothing, keeps its bill, and joins again', async (t) => {
    let isHeld = true;
    const held: (() => void)[] = [];
    const answer: Answerer = (request, res, ...rest) => {
      if (!isHeld || request.path === '/api/tags') return repeatingDaemon(request, res, ...rest);
      sendPiece(res, 'Half an ');
      held.push(() => repeatingDaemon(request, res, ...rest));
    };
    const { all, store } = await servers(t, 2, { answer });
    const [a, b] = all as [StartedCore, StartedCore];
    await a.create('ada');
    await a.blocks.start('ada');
    const { id } = await a.blocks.post('ada', { message: 'hi' }, 'api');
    await until('the model is asked', () => held.length === 1);
    isHeld = false;
    await ask(store, 'delete from bh.node'); // as if none of them had renewed its lease
    t.match(await b.blocks.answer('ada', id, { waitMs: 60_000 }), { answer: { content: 'You said: hi', status: 'done' }, entry: { attempts: 2 } });
    t.match(await b.blocks.history('ada'), [{ id }, { replyTo: id }]);
    await a.told('call.billed');
    t.match(await b.blocks.costs({ by: 'block' }), { total: { calls: 2 } }, 'both were paid');
    t.match(await a.blocks.answer('ada', (await a.blocks.post('ada', { message: 'again' }, 'api')).id, { waitMs: 30_000 }), {
      answer: { content: 'You said: again' },
    });
  });

  t.test('X18: a key that has expired is refused by a server whose clock is a day behind, too', async (t) => {
    const store = await migratedStore(t);
    const dayMs = 24 * 60 * 60_000;
    const a = await startCore(t, { store: await connectStore(store) });
    const b = await startCore(t, { store: await connectStore(store), clock: () => Date.now() - dayMs });
    const keyOf = async (name: string, ms: number): Promise<string> =>
      (await a.core.keys?.create(name, { expiresAt: new Date(Date.now() + ms).toISOString() })) ?? '';
    const [short, long] = [await keyOf('short', 1000), await keyOf('long', dayMs)];
    await until('the other one has both', () => b.core.keys?.find(long) !== undefined);
    await until('it is over', () => isExpired(a.core, short));
    t.ok(isExpired(b.core, short));
    t.notOk(isExpired(b.core, long));
  });
});

function isExpired({ keys }: Core, key: string): boolean {
  try {
    keys?.find(key);
    return false;
  } catch (error) {
    if ((error as { code?: string }).code === 'UNAUTHORIZED') return true;
    throw error;
  }
}
