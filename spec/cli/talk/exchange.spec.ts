import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import { type ExchangeOptions, exchange, remarkOn } from '../../../cli/talk/exchange.ts';
import { answer, foundIn, refusal, startFakeBlockServer } from '../../support/fake-block-server.ts';

const RECEIPT = { queued: true as const, block: 'b', id: 'm1', position: 0, running: true, note: '' };
const ANSWER = { id: 'a1', role: 'assistant', replyTo: 'm1', status: 'done', content: 'Hello', stopReason: 'end_turn' };
const PAUSED = {
  name: 'b',
  state: 'paused',
  why: 'It is full.',
  next: 'Nothing.',
  fix: 'blockhouse start b',
  since: null,
  attention: false,
  lastTransitions: [],
};

/** A message to a block whose history is given. */
async function send(t: Test, history: { [field: string]: unknown }[], options: Partial<ExchangeOptions> = {}, cancel?: (res: ServerResponse) => void) {
  const { api, calls, push } = await startFakeBlockServer(t, ({ method, path }, res) => {
    if (path.endsWith('/why')) return answer(res, PAUSED);
    if (path.endsWith('/cancel')) {
      cancel?.(res);
      return push({ type: 'refresh', block: 'b' });
    }
    answer(res, method === 'POST' ? RECEIPT : foundIn(history, path));
  });
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const said: string[] = [];
  const view = { stdout, stderr, json: false, isStreamed: false, isWatched: false, isVerbose: false };
  const sender = { api, block: 'b', say: async (text: string) => void said.push(text), hint: (...words: string[]) => words.join(' ') };
  const ended = exchange('hi', { ...sender, ...view, timeoutMs: 60_000, signal: new AbortController().signal, ...options });
  ended.catch(() => undefined); // looked at by the test
  return { ended, said, sender, calls, shown: () => String(stdout.read() ?? '') };
}

t.test('the answer is printed, or with json the outcome', async (t) => {
  const history = [{ id: 'm1', role: 'user', status: 'done' }, ANSWER];
  const plain = await send(t, history, { clientId: 'mine' });
  t.equal(await plain.ended, 'ok');
  t.equal(plain.shown(), 'Hello\n');
  t.match(JSON.parse(String(plain.calls.find(({ method }) => method === 'POST')?.body)), { message: 'hi', clientId: 'mine' });
  const json = await send(t, history, { json: true });
  t.equal(await json.ended, 'ok');
  t.match(JSON.parse(json.shown()), { status: 'done', answer: { content: 'Hello' } });
});

t.test('a message that fails is an error, or with json a part of the outcome', async (t) => {
  const history = [{ id: 'm1', role: 'user', status: 'failed', error: { code: 'UPSTREAM_FAILED', message: 'No\x1b[2J way.' } }];
  await t.rejects((await send(t, history)).ended, { kind: 'provider', message: /way/ });
  const json = await send(t, history, { json: true, isStreamed: true });
  t.equal(await json.ended, 'provider');
  t.match(JSON.parse(json.shown()), { event: 'outcome', status: 'failed', error: /way/ });
  t.same(json.said, ['blockhouse: No way.']);
});

t.test('a wait that is too long leaves the message and says how to go on', async (t) => {
  const waiting = [{ id: 'm1', role: 'user', status: 'queued' }];
  const late = await send(t, waiting, { timeoutMs: 20 });
  await t.rejects(late.ended, { kind: 'provider', message: 'No answer came within 0.02 s. The message stays in the queue; `queue b` shows it.' });
});

/** Ctrl-C once the message is waited for. */
async function interrupted(t: Test, history: { [field: string]: unknown }[], cancel: (res: ServerResponse) => void) {
  const controller = new AbortController();
  const exchanging = await send(t, history, { signal: controller.signal }, cancel);
  while (!exchanging.calls.some(({ path }) => path.endsWith('/chat/m1'))) await new Promise(setImmediate);
  controller.abort();
  return exchanging;
}

t.test('Ctrl-C cancels the message; one that has just ended keeps its answer, and one that cannot be cancelled stays', async (t) => {
  const waiting = (): { [field: string]: unknown }[] => [{ id: 'm1', role: 'user', status: 'queued' }];
  const one = waiting();
  const cancelled = await interrupted(t, one, (res) => {
    one.splice(0, 1, { id: 'm1', role: 'user', status: 'cancelled' });
    answer(res, { success: true });
  });
  t.equal(await cancelled.ended, 'interrupted');
  t.same(cancelled.said, ['The message is cancelled; `queue b --retry m1` sends it again.']);
  const two = waiting();
  const ended = await interrupted(t, two, (res) => {
    two.splice(0, 1, { id: 'm1', role: 'user', status: 'done' }, ANSWER);
    answer(res, refusal('WRONG_STATE', 'It has ended.'), 409);
  });
  t.equal(await ended.ended, 'ok');
  t.equal(ended.shown(), 'Hello\n');
  const stuck = await interrupted(t, waiting(), (res) => answer(res, refusal('STORAGE_FULL', 'The disk is full.'), 507));
  await t.rejects(stuck.ended, { kind: 'interrupted', message: /./ });
  t.same(stuck.said, ['blockhouse: The disk is full.', 'The message stays in the queue; `queue b --cancel m1` cancels it.']);
});

t.test('what is in the way of an answer is said at once', async (t) => {
  const { sender, said, ended } = await send(t, [{ id: 'm1', role: 'user', status: 'done' }, ANSWER]);
  await ended;
  await remarkOn({ ...RECEIPT, note: 'It waits.' }, sender);
  await remarkOn({ ...RECEIPT, running: false }, sender);
  const { api } = await startFakeBlockServer(t, (_call, res) => answer(res, { ...PAUSED, state: 'stopped' }));
  await remarkOn({ ...RECEIPT, running: false }, { ...sender, api });
  await remarkOn({ ...RECEIPT, position: 2 }, sender);
  t.same(said, [
    'note: b is paused and does not answer now. It is full. `blockhouse start b` changes that.',
    'note: b is paused and does not answer now. It is full. `blockhouse start b` changes that.',
    'note: the monitor of b is not running; `start b` starts it.',
    'note: 2 messages are before it in the queue.',
  ]);
});

t.test('a block that stops answering during the wait is named, with the command that changes it', async (t) => {
  const queued = [{ id: 'm1', role: 'user', status: 'queued' }];
  const [patient, other] = await Promise.all([send(t, queued, { timeoutMs: 4000, waitsAnyway: true }), send(t, queued)]);
  await t.rejects(patient.ended, { kind: 'provider', message: /No answer came/ });
  await t.rejects(other.ended, { kind: 'waiting', message: /^b will not answer before that changes\. The message stays in the queue; `history b --id m1`/ });
  for (const { said } of [patient, other])
    t.same(said, ['note: b is paused. It is full.', 'Next: Nothing.', '`blockhouse start b` changes that.'], 'a line for each');
});
