import t, { type Test } from 'tap';
import { Conversation, faultOf, type Outcome } from '../../../cli/talk/conversation.ts';
import type { ReplyStep } from '../../../core/index.ts';
import { answer, type FakeBlockServer, foundIn, startFakeBlockServer } from '../../support/fake-block-server.ts';
import { until } from '../../support/until.ts';

interface Talk {
  readonly server: FakeBlockServer;
  readonly history: Record<string, unknown>[];
  readonly conversation: Conversation;
  frame(event: string, more?: object, id?: string): void;
}

const WAITING = { id: 'm1', role: 'user', status: 'queued', content: 'hi' };

/** A block whose history is what the test puts into it. */
async function talk(t: Test, options: { onPost?: (talk: Talk) => void; stallMs?: number; stillMs?: number; patienceMs?: number } = {}): Promise<Talk> {
  const history: Record<string, unknown>[] = [];
  const server = await startFakeBlockServer(t, ({ method, path }, res) => {
    if (method === 'GET') return answer(res, foundIn(history, path));
    history.push(WAITING);
    options.onPost?.(all);
    answer(res, { queued: true, block: 'b', id: 'm1', position: 0, running: true, note: '' });
  });
  const frame = (event: string, more: object = {}, id = 'm1'): void => server.push({ type: 'stream', block: 'b', id, seq: 1, event, ...more });
  const conversation = await Conversation.open(server.api, 'b', options);
  t.teardown(() => conversation.close());
  const all: Talk = { server, history, conversation, frame };
  return all;
}

const signal = new AbortController().signal;
const DONE = { id: 'm1', role: 'user', status: 'done' };
const ANSWER = { id: 'a1', role: 'assistant', replyTo: 'm1', status: 'done', content: 'Hello' };

t.test('steps come in their order, also those that were faster than the receipt, and the outcome is what the history says', async (t) => {
  const { conversation, frame, history } = await talk(t, {
    onPost: ({ frame }) => {
      frame('start');
      frame('content', { text: 'foreign' }, 'other');
      frame('content', { text: 'Hel' });
    },
  });
  const steps: string[] = [];
  const { id } = await conversation.send('hi', signal);
  const ending = conversation.outcome(id, { step: async (step: ReplyStep) => void steps.push(step.event === 'content' ? step.text : step.event) }, signal);
  await until('the first text is seen', () => steps.includes('Hel'));
  frame('content', { text: 'lo' });
  history.splice(0, 1, DONE, ANSWER);
  frame('done', { answerId: 'a1', status: 'done', stopReason: 'end_turn' });
  t.match(await ending, { message: DONE, answer: ANSWER });
  t.same(steps, ['start', 'Hel', 'lo', 'done']);
});

t.test('a message that ends without any step is told by a refresh', async (t) => {
  const { conversation, history, server } = await talk(t);
  const { id } = await conversation.send('hi', signal);
  const ending = conversation.outcome(id, {}, signal);
  history.splice(0, 1, { ...DONE, status: 'cancelled' });
  server.push({ type: 'refresh', block: 'b' });
  t.match(await ending, { message: { status: 'cancelled' }, answer: undefined });
});

t.test('while a reply is written, changes of the files cause no reading before it stands still', async (t) => {
  const { conversation, frame, history, server } = await talk(t, { stillMs: 60_000 });
  const { id } = await conversation.send('hi', signal);
  const seen: number[] = [];
  const ending = conversation.outcome(id, { step: async () => void seen.push(1) }, signal);
  frame('start');
  await until('the start is seen', () => seen.length === 1);
  const before = server.calls.length;
  for (let round = 0; round < 5; round += 1) server.push({ type: 'refresh', block: 'b' });
  frame('content', { text: 'x' });
  await until('the text is seen', () => seen.length === 2);
  t.equal(server.calls.length, before);
  history.splice(0, 1, DONE);
  frame('error', { code: 'X', error: 'x', willRetry: false });
  await ending;
});

t.test('a call that waits for a person behind a text that was begun is told without a further step', async (t) => {
  const { conversation, frame, history, server } = await talk(t, { stallMs: 60_000 });
  const { id } = await conversation.send('hi', signal);
  const seen: string[] = [];
  const ending = conversation.outcome(id, { step: async ({ event }) => void seen.push(event), waiting: async ({ status }) => void seen.push(status) }, signal);
  frame('start');
  frame('content', { text: 'Let me pay.' });
  await until('the text is seen', () => seen.includes('content'));
  history.splice(0, 1, { ...WAITING, status: 'waiting-approval' });
  server.push({ type: 'refresh', block: 'b' });
  await until('the call is told', () => seen.includes('waiting-approval'));
  frame('start');
  await until('it goes on', () => seen.at(-1) === 'start');
  history.splice(0, 1, DONE, ANSWER);
  server.push({ type: 'refresh', block: 'b' });
  await until('it is looked at again', () => server.calls.filter(({ method }) => method === 'GET').length >= 3);
  frame('done', { answerId: 'a1', status: 'done', stopReason: 'end_turn' });
  t.match(await ending, { message: DONE, answer: ANSWER });
  t.equal(seen.at(-1), 'done', 'an answer that the history has ends with its last step');
});

t.test('who waits in vain is told why, again and again', async (t) => {
  const { conversation, history, server } = await talk(t, { stallMs: 5 });
  const { id } = await conversation.send('hi', signal);
  const stalls: number[] = [];
  const ending = conversation.outcome(id, { stalled: async () => void stalls.push(1) }, signal);
  await until('it is told twice', () => stalls.length >= 2);
  history.splice(0, 1, DONE);
  server.push({ type: 'refresh', block: 'b' });
  await ending;
});

t.test('a block that goes, a server that does not come back and a signal end the waiting', async (t) => {
  const gone = await talk(t);
  gone.history.push(WAITING);
  const first = gone.conversation.outcome('m1', {}, signal);
  gone.server.push({ type: 'gone', block: 'b' });
  await t.rejects(first, { kind: 'usage', message: 'The block b was archived or renamed; it keeps its messages.' });
  const broken = await talk(t, { patienceMs: 300 });
  broken.history.push(WAITING);
  const second = broken.conversation.outcome('m1', {}, signal);
  broken.server.close();
  await t.rejects(second, { kind: 'server', message: /connection to the server was lost/ });
  const left = await talk(t);
  left.history.push(WAITING);
  const controller = new AbortController();
  const third = left.conversation.outcome('m1', {}, controller.signal);
  await until('the history was read', () => left.server.calls.length > 0);
  controller.abort();
  await t.rejects(third, { kind: 'interrupted', message: /./ });
});

t.test('a connection that was lost is made again, the rest of the reply comes, and what happened in between is read', async (t) => {
  const { conversation, frame, history, server } = await talk(t);
  const { id } = await conversation.send('hi', signal);
  const told: string[] = [];
  const step = async (step: ReplyStep) => void told.push(step.event === 'content' ? step.text : step.event);
  const ending = conversation.outcome(id, { step, connection: async (state) => void told.push(state) }, signal);
  frame('start', { seq: 10 });
  frame('content', { seq: 13, text: 'Hel' });
  await until('the text is seen', () => told.includes('Hel'));
  server.drop();
  await until('it is back', () => told.includes('back'));
  t.same(server.frames.at(-1), { type: 'subscribe', block: 'b', stream: true, sinceSeq: 13 });
  frame('content', { seq: 15, text: 'lo' });
  await until('the rest is seen', () => told.includes('lo'));
  server.drop();
  history.splice(0, 1, DONE, ANSWER); // the steps of this end come while nobody listens
  t.match(await ending, { message: DONE, answer: ANSWER });
  t.same(told, ['start', 'Hel', 'lost', 'back', 'lo', 'lost', 'back']);
});

t.test('a message whose receipt was lost is sent again with the same client id', async (t) => {
  const ids: string[] = [];
  const server = await startFakeBlockServer(t, ({ body }, res) => {
    ids.push((JSON.parse(String(body)) as { clientId: string }).clientId);
    if (ids.length === 1) res.destroy();
    else answer(res, { queued: true, block: 'b', id: 'm1', position: 0, running: true, note: '' });
  });
  const conversation = await Conversation.open(server.api, 'b');
  t.teardown(() => conversation.close());
  t.match(await conversation.send('hi', signal), { id: 'm1' });
  t.match(ids, { length: 2, 0: /^.{10}/, 1: ids[0] });
});

t.test('an outcome without an answer is a failure of its kind', async (t) => {
  const fault = (status: string, error: object | null = null) => faultOf({ message: { status, error } } as unknown as Outcome);
  t.equal(fault('done'), undefined);
  const cut = { message: { status: 'done' }, answer: { status: 'interrupted' } } as unknown as Outcome;
  t.match(faultOf(cut), { kind: 'unexpected', message: /not complete/ });
  t.match(fault('failed', { code: 'UPSTREAM_AUTH', message: 'bad key' }), { kind: 'credentials', message: 'bad key' });
  t.match(fault('failed', { code: 'UPSTREAM_FAILED', message: 'x' }), { kind: 'provider' });
  t.match(fault('failed', { code: 'SOMETHING', message: 'x' }), { kind: 'provider' });
  t.match(fault('failed'), { kind: 'provider', message: 'The message ended as failed.' });
  t.match(fault('cancelled'), { kind: 'unexpected', message: 'The message was cancelled.' });
});
