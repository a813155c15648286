// What a client sees of a stream: its status, its comments, its one end.
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { CHAT, DAEMON_END, daemonLine, framesOf, readAnswer, responseOf, startServer } from '../support/server.ts';
import { type Answerer, sendJson } from '../support/upstream.ts';
import { answerWith, PLAIN, startWireServer, WIRES } from '../support/wire-server.ts';

const STREAM = { ...CHAT, stream: true };
const COMMENT = ': keep-alive\n\n';

for (const wire of WIRES) {
  t.test(`${wire.name}: an error in a 200 that brought no text yet is an error status, not an empty answer`, async (t) => {
    const server = await startWireServer(t, wire, (_request, res) => {
      res.writeHead(200, { 'content-type': wire.stream(PLAIN).type });
      res.end(wire.streamError('it broke down'));
    });
    t.match(await server.call('POST', '/v1/chat', { body: server.chat({ stream: true }) }), {
      status: 502,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      json: { code: 'UPSTREAM_FAILED', retryable: true, error: /it broke down/ },
    });
  });

  t.test(`${wire.name}: an error in a 200 that brought no text yet is repeated, and the client sees one start`, async (t) => {
    const server = await startWireServer(
      t,
      wire,
      (request, res, index) => {
        if (index > 0) return answerWith(wire)(request, res, index);
        res.writeHead(200, { 'content-type': wire.stream(PLAIN).type });
        res.end(wire.streamError('it broke down'));
      },
      { retries: 2, random: () => 0 },
    );
    const { text } = await server.call('POST', '/v1/chat', { body: server.chat({ stream: true }) });
    t.same(
      framesOf(text).map(({ event }) => event),
      ['start', 'content', 'content', 'done'],
    );
    t.equal(server.upstream.requests.length, 2);
  });

  t.test(`${wire.name}: a stream that breaks after some text ends in one error frame, is not repeated, and has no done`, async (t) => {
    for (const how of ['ends', 'breaks', 'tells an error'] as const) {
      const server = await startWireServer(
        t,
        wire,
        (_request, res) => {
          const { type, frames, endFrames } = wire.stream(PLAIN);
          res.writeHead(200, { 'content-type': type });
          const end = { ends: () => res.end(), breaks: () => res.socket?.resetAndDestroy(), 'tells an error': () => res.end(wire.streamError('no more')) }[how];
          // Apart, so that the text has left before the end comes.
          res.write(Buffer.concat(frames.slice(0, -endFrames)), () => setTimeout(end, 50));
        },
        { retries: 2, random: () => 0 },
      );
      const { status, text } = await server.call('POST', '/v1/chat', { body: server.chat({ stream: true }) });
      const frames = framesOf(text);
      t.equal(status, 200, how);
      t.same(
        frames.map(({ event }) => event),
        ['start', 'content', 'content', 'error'],
        how,
      );
      t.match(frames.at(-1)?.data, { status: 502, code: how === 'tells an error' ? 'UPSTREAM_FAILED' : 'UPSTREAM_MALFORMED', error: String }, how);
      t.equal(server.upstream.requests.length, 1, how);
    }
  });

  t.test(`${wire.name}: the usage in a last frame without its blank line is read`, { skip: !wire.lines && 'its frames are binary' }, async (t) => {
    const server = await startWireServer(t, wire, (_request, res) => {
      const { type, frames } = wire.stream(PLAIN);
      const text = Buffer.concat(frames).toString();
      res.writeHead(200, { 'content-type': type });
      // Compatible servers leave [DONE] out, so that the frame with the usage is the last.
      res.end(text.replace('data: [DONE]\n\n', '').trimEnd());
    });
    const { text } = await server.call('POST', '/v1/chat', { body: server.chat({ stream: true }) });
    const { event, data } = framesOf(text).at(-1) ?? {};
    t.match({ event, data }, { event: 'done', data: { usage: { inputTokens: 12, outputTokens: 5, totalTokens: 17 }, stopReason: 'end_turn' } });
    t.notMatch(data, { usage: { estimated: true } });
  });
}

t.test('comments that come amid the fragments of a slow provider stand between frames, never inside one', async (t) => {
  const fragments = Array.from({ length: 60 }, (_, n) => `${n}: `.padEnd(1 + ((n * 997) % 3000), 'é\n'));
  const server = await startServer(t, {
    http: { sse: { openAfterMs: 1, keepAliveMs: 1 } },
    answer: async (_request, res) => {
      await delay(20);
      for (const fragment of fragments) {
        const line = Buffer.from(daemonLine(fragment));
        res.write(line.subarray(0, line.length >> 1));
        await delay(4);
        res.write(line.subarray(line.length >> 1));
      }
      res.end(DAEMON_END);
    },
  });
  const { text } = await server.call('POST', '/v1/chat', { body: STREAM });
  t.ok(text.split(COMMENT).length > 3, `${text.split(COMMENT).length - 1} comments`);
  const frames = framesOf(text); // throws for anything that is neither a whole frame nor a comment
  t.equal(frames.flatMap(({ data }) => data['text'] ?? []).join(''), fragments.join(''));
  t.equal(frames.at(-1)?.event, 'done');
});

t.test('a failure within the time of grace keeps its status; one after it is an error frame', async (t) => {
  let fail = (): void => undefined;
  const failing: Answerer = (_request, res) =>
    new Promise((resolve) => {
      fail = () => {
        sendJson(res, { error: 'no such model' }, 404);
        resolve();
      };
    });
  const early = await startServer(t, { answer: failing, http: { sse: { openAfterMs: 3_600_000, keepAliveMs: 5 } } });
  const answered = early.call('POST', '/v1/chat', { body: STREAM });
  await early.upstream.arrived(0);
  fail();
  t.match(await answered, { status: 502, headers: { 'content-type': /json/ }, json: { code: 'UPSTREAM_REJECTED', upstreamStatus: 404 } });

  const late = await startServer(t, { answer: failing, http: { sse: { openAfterMs: 5, keepAliveMs: 5 } } });
  const response = await responseOf(late.open('POST', '/v1/chat', { body: STREAM }));
  await late.upstream.arrived(0);
  fail();
  const { text } = await readAnswer(response);
  t.match(framesOf(text), [{ event: 'error', data: { code: 'UPSTREAM_REJECTED', upstreamStatus: 404 } }]);
});

t.test('a wait that the provider asked for goes out with each status that carries one', async (t) => {
  const cases: [status: number, headers: Record<string, string>, out: number, code: string, wait: RegExp][] = [
    [429, { 'retry-after': '7' }, 429, 'UPSTREAM_RATE_LIMITED', /^7$/],
    [429, { 'retry-after-ms': '1500' }, 429, 'UPSTREAM_RATE_LIMITED', /^2$/],
    [503, { 'retry-after': '9' }, 502, 'UPSTREAM_FAILED', /^9$/],
    [429, { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }, 429, 'UPSTREAM_RATE_LIMITED', /^3(600|5\d\d)$/], // by how long the test takes until then
    [429, { 'retry-after': '86400' }, 429, 'UPSTREAM_RATE_LIMITED', /^3600$/],
  ];
  for (const [status, headers, out, code, wait] of cases) {
    const server = await startServer(t, { retries: 0, answer: (_request, res) => sendJson(res, { error: 'slow down' }, status, headers) });
    for (const body of [CHAT, STREAM])
      t.match(await server.call('POST', '/v1/chat', { body }), {
        status: out,
        headers: { 'retry-after': wait },
        json: { code, upstreamStatus: status, error: /slow down/ },
      });
  }
});
