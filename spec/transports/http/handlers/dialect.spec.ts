import t, { type Test } from 'tap';
import { createAdapters } from '../../../../adapters/index.ts';
import { isObject } from '../../../../core/base/json.ts';
import type { Adapter, ChatCall } from '../../../../core/index.ts';
import { BlockhouseError } from '../../../../core/index.ts';
import type { Dialect } from '../../../../transports/http/dialects/shared/dialect.ts';
import { faultOf, speak } from '../../../../transports/http/handlers/dialect.ts';
import { BodyRoom } from '../../../../transports/http/wire/body-room.ts';
import { writeJson } from '../../../../transports/http/wire/reply.ts';
import type { RouteContext } from '../../../../transports/http/wire/route.ts';
import { scriptedAdapter } from '../../../support/scripted-adapter.ts';
import { startServer } from '../../../support/server.ts';

/** The smallest dialect: `{model, text, stream?}` in, the pieces as they are out. */
const PLAIN: Dialect<null> = {
  id: 'openai-chat',
  fields: {},
  read: (body) => {
    const { model, text, stream } = isObject(body) ? body : {};
    if (typeof model !== 'string') throw new BlockhouseError('INVALID_REQUEST', 'model is required.');
    const warnings = [{ field: 'extra', message: 'ignored' }];
    return { model, chat: { messages: [{ role: 'user', content: String(text) }] }, stream: stream === true, warnings, echo: null };
  },
  answer: ({ pieces, done }, { request }) => JSON.stringify({ model: request.model, pieces, stopReason: done.stopReason }),
  stream: () => ({
    pieces: (pieces) => pieces.map((piece) => `data: ${JSON.stringify(piece)}\n\n`).join(''),
    done: ({ stopReason }) => `data: ${stopReason}\n\n`,
    error: ({ code }) => `data: failed ${code}\n\n`,
    keepAlive: () => ': still here\n\n',
  }),
  error: ({ status, message }) => ({ status, body: { fault: message } }),
};

const text = (...texts: string[]) => texts.map((one) => ({ type: 'text', text: one }) as const);
const answering =
  (...texts: string[]) =>
  (call: ChatCall) => {
    call.sink.emit([...text(...texts), { type: 'stop', stopReason: 'end_turn' }]);
  };

/** A server whose mount serves the dialect, before scripted adapters. */
async function serve(t: Test, adapters: readonly Adapter[]) {
  const handler = speak(PLAIN);
  const server = await startServer(t, {
    adapters,
    http: {
      mounts: [
        {
          prefix: '/try',
          handler: async (req, res) => {
            const { core } = server;
            const timing = { openAfterMs: 10_000, keepAliveMs: 15_000, stallMs: 30_000 };
            const own = { sse: timing, bodyStallMs: 1000, bodies: new BodyRoom({ bytes: 1e9, patienceMs: 1000 }) } as unknown as RouteContext['server'];
            const signal = new AbortController().signal;
            try {
              const reply = await handler({ core, server: own, req, res, params: {}, requestId: 'req_1', signal, key: undefined } as unknown as RouteContext);
              if (typeof reply === 'object') writeJson(res, reply, 'req_1');
            } catch (error) {
              if (!res.headersSent) writeJson(res, faultOf(PLAIN)(error as BlockhouseError, 'req_1'), 'req_1');
            }
          },
        },
      ],
    },
  });
  return {
    ask: (body: object) => server.call('POST', '/try', { body }),
    alias: (name: string, ...targets: string[]) => server.core.modelsFile?.setAlias(name, targets),
  };
}

t.test('a whole answer has its parts in their order, joined, and the headers say who answered and what was ignored', async (t) => {
  const { ask } = await serve(t, [scriptedAdapter({ chat: answering('Hel', 'lo') }, 'one')]);
  t.match(await ask({ model: 'one/m', text: 'hi' }), {
    status: 200,
    json: { model: 'one/m', pieces: [{ type: 'text', text: 'Hello' }], stopReason: 'end_turn' },
    headers: { 'x-blockhouse-model': 'one/m', 'x-blockhouse-warnings': 'extra' },
  });
});

t.test('a streamed answer is written in the frames of the dialect, with the same headers', async (t) => {
  const { ask } = await serve(t, [scriptedAdapter({ chat: answering('Hel', 'lo') }, 'one')]);
  const answer = await ask({ model: 'one/m', text: 'hi', stream: true });
  t.match(answer, { status: 200, headers: { 'content-type': /^text\/event-stream/, 'x-blockhouse-model': 'one/m' } });
  t.equal(answer.text, 'data: {"type":"text","text":"Hel"}\n\ndata: {"type":"text","text":"lo"}\n\ndata: end_turn\n\n');
});

t.test('the next model of an alias is asked when the one before it fails, and the last failure is the answer', async (t) => {
  const failing = (code: 'UPSTREAM_FAILED' | 'UPSTREAM_REJECTED') => ({
    chat: () => {
      throw new BlockhouseError(code, 'no.', { retryable: false });
    },
  });
  for (const stream of [false, true]) {
    const { ask, alias } = await serve(t, [
      scriptedAdapter(failing('UPSTREAM_FAILED'), 'down'),
      scriptedAdapter(failing('UPSTREAM_REJECTED'), 'strict'),
      scriptedAdapter({ missingCredential: () => 'no key' }, 'keyless'),
      scriptedAdapter({ chat: answering('Hello') }, 'up'),
    ]);
    await alias('best', 'down/a', 'keyless/b', 'up/c');
    t.match(await ask({ model: 'best', text: 'hi', stream }), { status: 200, headers: { 'x-blockhouse-model': 'up/c' } }, `stream ${stream}`);
    await alias('strict', 'strict/a', 'up/c');
    t.match(await ask({ model: 'strict', text: 'hi', stream }), { status: 502, json: { fault: 'no.' } }, 'a request that was refused as it is');
    await alias('both', 'down/a', 'keyless/b');
    t.match(await ask({ model: 'both', text: 'hi', stream }), { status: 503, json: { fault: /no key/ } });
  }
});

t.test('an answer that broke off after its first byte ends in the error frame, and no other model is asked', async (t) => {
  const broken = (call: ChatCall) => {
    call.sink.emit(text('Hel'));
    throw new BlockhouseError('UPSTREAM_FAILED', 'broke.', { mayHaveRun: true });
  };
  let others = 0;
  const other = (call: ChatCall) => {
    others += 1;
    answering('other')(call);
  };
  const { ask, alias } = await serve(t, [scriptedAdapter({ chat: broken }, 'one'), scriptedAdapter({ chat: other }, 'two')]);
  await alias('best', 'one/a', 'two/b');
  t.equal((await ask({ model: 'best', text: 'hi', stream: true })).text, 'data: {"type":"text","text":"Hel"}\n\ndata: failed UPSTREAM_FAILED\n\n');
  await ask({ model: 'two/b', text: 'hi' }); // by now, a call for the first answer would have been made
  t.equal(others, 1);
});

t.test('an unknown model and a body that is wrong are errors of the dialect', async (t) => {
  const { ask } = await serve(t, [scriptedAdapter({}, 'one')]);
  t.match(await ask({ model: 'mystery', text: 'hi' }), { status: 404, json: { fault: /mystery/ } });
  t.match(await ask({}), { status: 400, json: { fault: 'model is required.' } });
});

t.test('a name whose provider has no key is told with the command that gives it to another model', async (t) => {
  const server = await startServer(t, { adapters: createAdapters(), env: {} });
  const ask = (model: string) => server.call('POST', '/v1/chat/completions', { body: { model, messages: [{ role: 'user', content: 'hi' }] } });
  const { status, text } = await ask('gpt-9');
  t.equal(status, 503);
  t.match(text, /needs a key.*`blockhouse alias set gpt-9 <provider>\/<model>`/);
  t.notMatch((await ask('openai/gpt-9')).text, /alias set/, 'a name with a provider means that one');
});
