// A sixth provider and a fourth protocol of clients: each works with all of the others, and nothing else has to know of it.
import t, { type Test } from 'tap';
import { isObject } from '../../../../../core/base/json.ts';
import type { Adapter, BlockhouseError, ChatCall } from '../../../../../core/index.ts';
import type { Dialect } from '../../../../../transports/http/dialects/shared/dialect.ts';
import { requiredText } from '../../../../../transports/http/dialects/shared/fields.ts';
import { faultOf, speak } from '../../../../../transports/http/handlers/dialect.ts';
import { BodyRoom } from '../../../../../transports/http/wire/body-room.ts';
import { writeJson } from '../../../../../transports/http/wire/reply.ts';
import type { RouteContext } from '../../../../../transports/http/wire/route.ts';
import { CLIENTS } from '../../../../support/dialect-clients.ts';
import { scriptedAdapter } from '../../../../support/scripted-adapter.ts';
import { startServer, type TestServer } from '../../../../support/server.ts';
import { answerWith, startWireServer, WIRES } from '../../../../support/wire-server.ts';

const SIXTH: Adapter = {
  ...scriptedAdapter(
    {
      chat: ({ sink }: ChatCall) => {
        sink.emit([
          { type: 'reasoning', text: 'Hm.' },
          { type: 'text', text: 'Hel' },
          { type: 'text', text: 'lo' },
          { type: 'toolCall', toolCall: { id: 'c1', name: 'weather', arguments: { city: 'Oslo' } } },
          { type: 'stop', stopReason: 'tool_use' },
        ]);
      },
      listModels: () => ['sixth-large'],
    },
    'sixth',
  ),
  modelNames: /^sixth-/,
};

/** `{model, text, stream?}` in; the text alone out. */
const FOURTH: Dialect<null> = {
  id: 'fourth',
  fields: {},
  read: (given) => {
    const body = isObject(given) ? given : {};
    const text = requiredText(body, 'text');
    return {
      model: requiredText(body, 'model'),
      chat: { messages: [{ role: 'user', content: text }] },
      stream: body['stream'] === true,
      warnings: [],
      echo: null,
    };
  },
  answer: ({ pieces }) => JSON.stringify({ text: pieces.map((piece) => (piece.type === 'text' ? piece.text : '')).join('') }),
  stream: () => ({
    pieces: (pieces) => pieces.map((piece) => (piece.type === 'text' ? `data: ${piece.text}\n\n` : '')).join(''),
    done: () => 'data: END\n\n',
    error: ({ code }) => `data: FAILED ${code}\n\n`,
    keepAlive: () => ':\n\n',
  }),
  error: ({ status, message }) => ({ status, body: { fault: message } }),
};

/** The route of the fourth protocol. */
function mountOf(server: () => TestServer) {
  const handler = speak(FOURTH);
  const timing = { openAfterMs: 10_000, keepAliveMs: 15_000, stallMs: 30_000 };
  return {
    prefix: '/fourth',
    handler: async (req: RouteContext['req'], res: RouteContext['res']) => {
      const context = {
        core: server().core,
        server: { sse: timing, bodyStallMs: 1000, bodies: new BodyRoom({ bytes: 1e9, patienceMs: 1000 }) },
        req,
        res,
        params: {},
        requestId: 'req_1',
      };
      try {
        const reply = await handler({ ...context, signal: new AbortController().signal, key: undefined } as unknown as RouteContext);
        if (typeof reply === 'object') writeJson(res, reply, 'req_1');
      } catch (error) {
        if (!res.headersSent) writeJson(res, faultOf(FOURTH)(error as BlockhouseError, 'req_1'), 'req_1');
      }
    },
  };
}

async function tryFourth(t: Test, server: TestServer, model: string): Promise<void> {
  t.match(await server.call('POST', '/fourth', { body: { model, text: 'hi' } }), { status: 200, json: { text: 'Hello' } });
  t.equal((await server.call('POST', '/fourth', { body: { model, text: 'hi', stream: true } })).text, 'data: Hel\n\ndata: lo\n\ndata: END\n\n');
  t.match(await server.call('POST', '/fourth', { body: { model } }), { status: 400, json: { fault: /text is required/ } });
}

t.test('a sixth provider answers each protocol', async (t) => {
  const server = await startServer(t, { adapters: [SIXTH] });
  for (const client of CLIENTS) {
    const whole = await server.call('POST', client.path, { body: client.ask('sixth/sixth-large') });
    t.match(whole, { status: 200, headers: { 'x-blockhouse-model': 'sixth/sixth-large' } }, client.id);
    for (const word of ['Hello', 'weather', 'Oslo']) t.ok(whole.text.includes(word), `${client.id}: ${word}`);
    const { text } = await server.call('POST', client.path, { body: client.ask('sixth-large', { stream: true }) });
    t.ok(client.hasEndMark(text), `${client.id}, by the form of its name: ${text}`);
  }
  t.match((await server.call('GET', '/v1/models')).text, 'sixth/sixth-large');
});

for (const wire of WIRES) {
  t.test(`a fourth protocol is answered by ${wire.name}`, async (t) => {
    const server: TestServer = await startWireServer(t, wire, answerWith(wire), { http: { mounts: [mountOf(() => server)] } });
    await tryFourth(t, server, `${wire.adapter}/${wire.model}`);
  });
}

t.test('a fourth protocol is answered by the sixth provider', async (t) => {
  const server: TestServer = await startServer(t, { adapters: [SIXTH], http: { mounts: [mountOf(() => server)] } });
  await tryFourth(t, server, 'sixth/sixth-large');
});
