import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { ApiError } from '../../../../transports/dashboard/data/api-error.ts';
import { Drafts, type Sending } from '../../../../transports/dashboard/data/drafts.ts';
import { Outbox } from '../../../../transports/dashboard/data/outbox.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { MemoryShelf } from '../../../support/shelf.ts';

const NO_ANSWER = new ApiError('The server does not answer.', { status: 0, code: 'NO_ANSWER' });
const FULL = new ApiError('The queue is full.', { status: 409, code: 'QUEUE_FULL', retryAfterMs: 2000 });
const REFUSED = new ApiError('The message is too long.', { status: 413, code: 'TOO_LARGE' });

/** A server that keeps a message once for each clientId, as the real one does, and answers as it is told. */
class Server {
  readonly got = new Map<string, string>();
  readonly tries: string[] = [];
  /** What the next tries end with; afterwards each is good. `lost` takes the message and loses the answer. */
  readonly ends: (ApiError | 'lost')[] = [];

  async post(_block: string, { clientId, text }: Sending): Promise<{ readonly id: string }> {
    this.tries.push(text);
    const end = this.ends.shift();
    if (end === undefined || end === 'lost') this.got.set(clientId, text);
    if (end !== undefined) throw end === 'lost' ? NO_ANSWER : end;
    return { id: `id of ${text}` };
  }

  get texts(): readonly string[] {
    return [...this.got.values()];
  }
}

function begun(shelf = new MemoryShelf(), server = new Server()) {
  const clock = new ManualClock();
  const drafts = new Drafts(shelf, 'tab', clock.now);
  const outbox = new Outbox(drafts, (block, message) => server.post(block, message), clock);
  const states = (): readonly string[] => outbox.messages.value.map(({ text, state }) => `${text} ${state}`);
  return { clock, drafts, outbox, server, shelf, states };
}

t.test('messages of a block go one after the other in their order, and each once', async (t) => {
  const { outbox, server, states, drafts } = begun();
  for (const text of ['a', 'b', 'c']) outbox.send('ada', text);
  t.strictSame(server.tries, ['a'], 'the next one waits for the receipt');
  await turn();
  t.strictSame(server.tries, ['a', 'b', 'c']);
  t.strictSame(states(), ['a sent', 'b sent', 'c sent']);
  t.strictSame(drafts.read('ada').sending, []);
  for (const { block, clientId } of outbox.messages.value) outbox.drop(block, clientId);
  t.strictSame(states(), []);
});

t.test('blocks do not wait for each other', async (t) => {
  const { outbox, server } = begun();
  outbox.send('ada', 'a');
  outbox.send('bob', 'b');
  t.strictSame(server.tries, ['a', 'b']);
  await turn();
});

t.test('what the server did not get is sent again by itself after a time, or as soon as it is back', async (t) => {
  const { outbox, server, states, clock } = begun();
  server.ends.push(NO_ANSWER, NO_ANSWER);
  outbox.send('ada', 'a');
  await turn();
  t.strictSame(states(), ['a offline']);
  clock.pass(4999);
  t.equal(server.tries.length, 1);
  clock.pass(1);
  await turn();
  t.equal(server.tries.length, 2);
  outbox.online();
  await turn();
  t.strictSame(states(), ['a sent']);
  clock.pass(60_000);
  await turn();
  t.equal(server.tries.length, 3, 'no timer sends it once more');
});

t.test('an answer that was lost on its way makes no second message', async (t) => {
  const { outbox, server, clock } = begun();
  server.ends.push('lost');
  outbox.send('ada', 'a');
  await turn();
  clock.pass(5000);
  await turn();
  t.strictSame(server.tries, ['a', 'a']);
  t.strictSame(server.texts, ['a']);
});

t.test('a full queue is asked again when it says that it has room', async (t) => {
  const { outbox, server, states, clock } = begun();
  server.ends.push(FULL);
  outbox.send('ada', 'a');
  await turn();
  t.strictSame(states(), ['a full']);
  t.equal(outbox.messages.value[0]?.nextAt, 2000);
  clock.pass(2000);
  await turn();
  t.strictSame(states(), ['a sent']);
});

t.test('a refused message stays with its reason, lets the next ones pass, and goes again when somebody says so', async (t) => {
  const { outbox, server, states, clock } = begun();
  server.ends.push(REFUSED);
  outbox.send('ada', 'a');
  outbox.send('ada', 'b');
  await turn();
  t.strictSame(states(), ['a refused', 'b sent']);
  t.equal(outbox.messages.value[0]?.error, REFUSED);
  clock.pass(60_000);
  outbox.online();
  await turn();
  t.equal(server.tries.length, 2);
  const [message] = outbox.messages.value;
  if (message !== undefined) outbox.sendAgain(message);
  await turn();
  t.strictSame(states(), ['a sent', 'b sent']);
});

t.test('after a reload, what was on its way is sent under its former clientId, once', async (t) => {
  const before = begun();
  before.server.ends.push('lost');
  before.outbox.send('ada', 'a');
  await turn();
  const { clientId } = before.outbox.messages.value[0] ?? {};
  const { outbox, server, states, drafts } = begun(before.shelf, before.server);
  outbox.resume('bob');
  t.strictSame(states(), []);
  outbox.resume('ada');
  outbox.resume('ada');
  await turn();
  t.strictSame(states(), ['a sent']);
  t.equal(outbox.messages.value[0]?.clientId, clientId);
  t.strictSame(server.texts, ['a']);
  t.strictSame(drafts.read('ada').sending, []);
});

t.test('a message that was taken back is not sent', async (t) => {
  const { outbox, server, clock, drafts } = begun();
  server.ends.push(NO_ANSWER);
  outbox.send('ada', 'a');
  await turn();
  const [message] = outbox.messages.value;
  if (message !== undefined) outbox.drop('ada', message.clientId);
  clock.pass(60_000);
  outbox.online();
  await turn();
  t.strictSame(server.texts, []);
  t.strictSame(drafts.read('ada').sending, []);
});

t.test('a message that is written while an earlier one waits does not overtake it', async (t) => {
  const { outbox, server, states } = begun();
  server.ends.push(NO_ANSWER, NO_ANSWER);
  outbox.send('ada', 'a');
  await turn();
  outbox.send('ada', 'b');
  await turn();
  t.strictSame(states(), ['a offline', 'b offline']);
  outbox.send('ada', 'c');
  await turn();
  t.strictSame(server.texts, ['a', 'b', 'c']);
});
