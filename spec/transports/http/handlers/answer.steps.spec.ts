// A streamed answer with `?steps=true`: the calls of its run, and what waits for a person.
import t from 'tap';
import { framesOf, readAnswer, responseOf } from '../../../support/server.ts';
import { pay } from '../../../support/tools/calls.ts';
import { toolServer } from '../../../support/tools/tool-server.ts';

t.setTimeout(60_000);

const EVENTS = { accept: 'text/event-stream' };
const say = ({ results }: { readonly results: readonly string[] }) => (results.length === 0 ? [pay('bob')] : `Done: ${results.at(-1)}`);
const names = (frames: ReturnType<typeof framesOf>): string[] => frames.map(({ event, data }) => `${event} ${data['state'] ?? data['n'] ?? ''}`.trim());

async function decide(server: Awaited<ReturnType<typeof toolServer>>, decision: string): Promise<string> {
  const [waiting] = await server.pending();
  await server.call('POST', `/api/approvals/${waiting?.id}`, { body: { decision, digest: waiting?.digest } });
  return waiting?.id ?? '';
}

t.test('a stream with steps shows what waits, the step, the call and its outcome, and never arguments or results', async (t) => {
  const server = await toolServer(t, { say });
  await server.call('POST', '/api/blocks/ada/start');
  const response = responseOf(server.open('POST', '/api/blocks/ada/chat?wait=60&steps=true', { body: { message: 'Pay bob.' }, headers: EVENTS }));
  const approval = await decide(server, 'approve');
  const { text } = await readAnswer(await response);
  const frames = framesOf(text);
  const shown = frames.filter(({ event }) => event === 'run' || event === 'approval');
  const id = frames.find(({ event }) => event === 'start')?.data['id'];
  t.strictSame(
    shown.map(({ event, data: { ms, ...data } }) => ({ event, data, hasMs: typeof ms === 'number' })),
    [
      { event: 'approval', data: { id: approval, block: 'ada', state: 'pending' }, hasMs: false },
      { event: 'approval', data: { id: approval, block: 'ada', state: 'approved' }, hasMs: false },
      { event: 'run', data: { block: 'ada', id, event: 'step', n: 1 }, hasMs: false },
      { event: 'run', data: { block: 'ada', id, event: 'tool', call: '1.1', tool: 'bank/pay', state: 'called' }, hasMs: false },
      { event: 'run', data: { block: 'ada', id, event: 'tool', call: '1.1', tool: 'bank/pay', state: 'done', isError: false }, hasMs: true },
    ],
  );
  t.match(frames.at(-1), { event: 'done' });
  t.notMatch(JSON.stringify(shown), /bob|amount/);
});

t.test('without steps, a client sees only the events that it has always seen, and its wait ends when a call waits', async (t) => {
  const server = await toolServer(t, { say });
  await server.call('POST', '/api/blocks/ada/start');
  for (const query of ['?wait=60', '?wait=60&steps=false']) {
    const { status, json } = await server.call('POST', `/api/blocks/ada/chat${query}`, { body: { message: 'Pay bob.' }, headers: EVENTS });
    t.match({ status, json }, { status: 202, json: { note: /A call waits for a decision/ } }, query);
    await decide(server, 'approve');
    await server.outcome(json['id'] as string);
    const { text } = await server.call('GET', `/api/blocks/ada/chat/${json['id']}${query}`, { headers: EVENTS });
    t.same([...new Set(framesOf(text).map(({ event }) => event))], ['start', 'content', 'done'], query);
  }
});

t.test('who comes while a call waits sees first that it waits', async (t) => {
  const server = await toolServer(t, { say });
  const id = await server.post('Pay bob.');
  await server.pending();
  const open = server.open('GET', `/api/blocks/ada/chat/${id}?wait=60&steps=true`, { headers: EVENTS });
  const response = await responseOf(open); // it is open, because it has said so
  await decide(server, 'deny');
  const shown = names(framesOf((await readAnswer(response)).text));
  t.same(shown.slice(0, 4), ['approval pending', 'approval denied', 'run 1', 'run denied']);
  t.equal(shown.at(-1), 'done');
});

t.test('what was decided while nobody works on the message is not shown as waiting', async (t) => {
  const two = ({ results }: { readonly results: readonly string[] }) => (results.length === 0 ? [pay('bob'), pay('eve')] : 'Done.');
  const server = await toolServer(t, { say: two });
  const id = await server.post('Pay both.');
  await server.pending(2);
  await server.call('POST', '/api/blocks/ada/stop');
  const decided = await decide(server, 'approve');
  const { text } = await server.call('GET', `/api/blocks/ada/chat/${id}?wait=60&steps=true`, { headers: EVENTS });
  const [other] = await server.pending();
  t.not(other?.id, decided);
  t.strictSame(
    framesOf(text).flatMap(({ event, data }) => (event === 'approval' ? [data] : [])),
    [{ id: other?.id, block: 'ada', state: 'pending' }],
  );
});

t.test('a stream of a message that is done shows nothing of its run', async (t) => {
  const server = await toolServer(t, { say, rules: { servers: ['bank'], allow: ['*'], taint: 'ignore' } });
  const first = await server.post('Pay bob.');
  t.equal(await server.outcome(first), 'done');
  const { text } = await server.call('GET', `/api/blocks/ada/chat/${first}?wait=0&steps=true`, { headers: EVENTS });
  t.same([...new Set(framesOf(text).map(({ event }) => event))], ['start', 'content', 'done']);
});

t.test('a value of steps that is neither true nor false is a 400, and no message is queued', async (t) => {
  const server = await toolServer(t, { say });
  const refused = { status: 400, json: { code: 'INVALID_REQUEST', details: [{ path: 'steps' }] } };
  t.match(await server.call('POST', '/api/blocks/ada/chat?wait=1&steps=yes', { body: { message: 'x' } }), refused);
  t.match((await server.call('GET', '/api/blocks/ada/chat')).json, { messages: [] });
  t.match(await server.call('GET', '/api/blocks/ada/chat/nobody?wait=1&steps=true', { headers: EVENTS }), { status: 404, json: { code: 'MESSAGE_NOT_FOUND' } });
});
