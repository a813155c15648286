// Clients that leave: what ends with them, and what their leaving is not.
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { createLogger, logFacts } from '../../cli/serve/logging.ts';
import type { CoreEvents } from '../../core/bus.ts';
import { RawClient } from '../support/raw.ts';
import { CHAT, daemonLine, friendlyDaemon, responseOf, startServer, type TestServer, until } from '../support/server.ts';
import { type Answerer, sendJson } from '../support/upstream.ts';

const STREAM = { ...CHAT, stream: true };

function ends(server: TestServer): CoreEvents['call.finished'][] {
  const facts: CoreEvents['call.finished'][] = [];
  server.core.events.on('call.finished', (fact) => facts.push(fact));
  return facts;
}

function rawChat(server: TestServer, chat: object): string {
  const body = JSON.stringify(chat);
  return `POST /v1/chat HTTP/1.1\r\nHost: localhost:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Timers that would keep the process alive. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
}

t.test('a client that leaves during the wait before a repetition ends the wait and the attempts; meanwhile its place is free', async (t) => {
  for (const body of [CHAT, STREAM]) {
    // A minute is longer than this test may take: only a wait that is broken off lets it pass.
    const server = await startServer(t, {
      queue: { concurrency: 1, waiting: 0 },
      http: { sse: { openAfterMs: 3_600_000 } }, // a stream that would open first is not waited with
      answer: (request, res, index) => (index === 0 ? sendJson(res, { error: 'busy' }, 429, { 'retry-after': '60' }) : friendlyDaemon(request, res, index)),
    });
    const facts = ends(server);
    const before = timers();
    const retried = new Promise<void>((resolve) => server.core.events.on('call.retried', () => resolve()));
    const request = server.open('POST', '/v1/chat', { body });
    request.on('error', () => undefined); // we break it ourselves
    await retried;
    t.match(await server.call('POST', '/v1/chat', { body: CHAT }), { status: 200 }, 'the wait holds no place');
    request.destroy();
    await until(() => facts.length === 2, 'the end of the request that left');
    t.match(facts[1], { code: 'CANCELLED', attempts: 1 });
    await until(() => timers() <= before, 'the end of the wait itself');
    t.equal(server.upstream.requests.length, 2, 'its second attempt was never made');
  }
});

t.test('a client that closes as soon as it has the last byte is no failure in the log or on the bus', async (t) => {
  const closings: [string, (client: RawClient) => void][] = [
    ['closes', (client) => client.socket.end()],
    ['destroys', (client) => client.socket.destroy()],
    ['resets', (client) => client.socket.resetAndDestroy()],
  ];
  const server = await startServer(t);
  const facts = ends(server);
  let expected = 0;
  for (const [how, close] of closings) {
    for (const [body, last] of [
      [STREAM, /event: done\ndata: [^\n]*\n\n/],
      [CHAT, /"stopReason":"end_turn"\}/],
    ] as const) {
      for (let n = 0; n < 10; n += 1) {
        const client = await RawClient.connect(t, server.port);
        client.socket.on('data', () => {
          if (last.test(client.received)) close(client);
        });
        client.send(rawChat(server, body));
        await client.untilClosed();
        expected += 1;
      }
      await until(() => facts.length === expected && server.log.length === expected, 'the end of every request');
      t.same(
        facts.filter(({ code }) => code !== undefined),
        [],
        `${how}, ${body === STREAM ? 'streamed' : 'whole'}`,
      );
    }
  }
  t.ok(
    facts.every(({ usage }) => usage?.totalTokens === 5),
    'and each has its usage',
  );
  t.same(
    server.log.filter(({ level, fields }) => level !== 'debug' || fields['status'] !== 200),
    [],
  );
});

t.test('with every optional feature on, a client that leaves still closes the connection to the provider', async (t) => {
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  const shown = (): string => String(terminal.read() ?? '');
  const log = createLogger('trace', terminal as unknown as NodeJS.WriteStream);
  const begun: Answerer = (request, res) => {
    res.writeHead(200);
    res.write(request.body.includes('"stream":true') ? daemonLine('first') : '{"message":');
  };
  const silent: Answerer = () => undefined;
  const phases: [string, Answerer, object][] = [
    ['silent, whole', silent, CHAT],
    ['silent, streamed', silent, STREAM],
    ['begun, whole', begun, CHAT],
    ['begun, streamed', begun, STREAM],
  ];
  for (const [title, answer, body] of phases) {
    const server = await startServer(t, {
      answer,
      allowedOrigins: new Set(['http://10.0.0.5:8000']),
      queue: { concurrency: 2, waiting: 2 },
      timeouts: { connectMs: 20_000, firstByteMs: 20_000, idleMs: 20_000 },
      retries: 2,
      http: {
        log,
        allowRemote: true,
        sse: { openAfterMs: 10, keepAliveMs: 10 },
        mounts: [{ prefix: '/extra', handler: (_req, res) => void res.end(), public: ['/extra'] }],
      },
    });
    logFacts(server.core, log);
    let told = 0;
    server.core.events.on('*', (name) => {
      if (!['call.counted', 'request.served', 'store.answered', 'attempt.started', 'attempt.ended'].includes(name)) told += 1;
    });
    const facts = ends(server);
    const request = server.open('POST', '/v1/chat', { body });
    request.on('error', () => undefined);
    const begins = body === STREAM ? responseOf(request) : undefined;
    const recorded = await server.upstream.arrived(0);
    if (begins !== undefined) await once(await begins, 'data');
    request.destroy();
    await recorded.closed;
    await until(() => facts.length === 1, 'the end of the request');
    t.equal(facts[0]?.code, 'CANCELLED', title);
    t.equal(server.upstream.requests.length, 1, `${title}: and is not repeated`);
    t.equal(told, 2, `${title}: one start and one end`);
    await until(() => /CANCELLED/.test(shown()), 'the log line');
  }
});
