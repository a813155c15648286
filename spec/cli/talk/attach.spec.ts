import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import { attach } from '../../../cli/talk/attach.ts';
import type { ExitKind } from '../../../cli/terminal/exit-codes.ts';
import { styleFor } from '../../../cli/terminal/output.ts';
import { answer, type FakeBlockServer, foundIn, refusal, startFakeBlockServer } from '../../support/fake-block-server.ts';
import { approvalOf } from '../../support/tools/records.ts';
import { until } from '../../support/until.ts';

interface Desk {
  readonly server: FakeBlockServer;
  readonly history: Entry[];
  readonly input: PassThrough;
  readonly controller: AbortController;
  readonly ended: Promise<ExitKind>;
  stdout(): string;
  stderr(): string;
  /** Answers message `index` with a text. */
  reply(index: number, text: string): void;
}

/** How fast each reply was. */
const SPEED = { usage: { inputTokens: 1, outputTokens: 100, totalTokens: 101 }, latencyMs: 3000, ttftMs: 1000 };

interface Entry {
  id: string;
  role: string;
  status: string;
  content: string;
  replyTo?: string;
  error?: object;
}

interface DeskOptions {
  readonly terminal?: boolean;
  readonly running?: boolean;
  readonly state?: string;
  /** The conversation before the talk. */
  readonly past?: readonly object[];
  /** The calls that wait for a decision; the test changes them. */
  readonly waits?: object[];
  /** Of the terminal. */
  readonly columns?: number;
  /** A person sees what a message waits for. */
  readonly watched?: boolean;
}

/** A person at a block, whose answers the test gives. */
async function desk(t: Test, { terminal = true, running = true, state, past = [], waits = [], watched = false, columns }: DeskOptions = {}): Promise<Desk> {
  const history: Entry[] = [];
  let now = state ?? (running ? 'working' : 'stopped');
  const pulse = { state: running ? 'idle' : 'stopped', attention: false };
  const server = await startFakeBlockServer(t, ({ method, path, body }, res) => {
    const [, , , , part, id] = path.replace(/\?.*/, '').split('/');
    if (path.startsWith('/api/approvals?')) return answer(res, { approvals: waits, cursor: null });
    if (path.startsWith('/api/approvals/'))
      return answer(res, { approval: { ...waits.shift(), state: 'approved', decidedBy: { channel: 'cli', name: 'token' } } });
    if (part === 'why')
      return answer(res, {
        name: 'b',
        state: now,
        why: 'It is stopped.',
        next: 'Nothing.',
        fix: null,
        since: null,
        attention: false,
        lastTransitions: [],
      });
    if (part === undefined) return answer(res, { name: 'b', config: { adapter: { provider: 'p', model: 'mo\x1bdel' } }, pulse, memory: MEMORY });
    if (part === 'start') now = 'working';
    if (part === 'start' || part === 'stop') return answer(res, { success: true, message: `b: ${part}.`, pulse });
    if (method === 'GET' && id === undefined) return answer(res, { messages: path.includes('before=') ? [] : past });
    if (method === 'GET')
      return answer(
        res,
        foundIn(
          history.map((entry) => ({ ...entry })),
          path,
        ),
      );
    if (id !== undefined) return answer(res, cancel(history, id));
    const { message } = JSON.parse(String(body)) as { message: string };
    if (message === 'refused') return answer(res, refusal('QUEUE_FULL', 'The queue is full.', 429), 429);
    history.push({ id: `m${history.length}`, role: 'user', status: 'queued', content: message });
    answer(res, { queued: true, block: 'b', id: `m${history.length - 1}`, position: 0, running, note: '' });
  });
  function cancel(entries: Entry[], id: string): object {
    const entry = entries.find((candidate) => candidate.id === id);
    if (entry !== undefined) entry.status = 'cancelled';
    setImmediate(() => server.push({ type: 'refresh', block: 'b' }));
    return { success: true, message: 'x', entry };
  }
  const reply = (index: number, text: string): void => {
    const id = `m${index}`;
    for (const frame of [
      { event: 'start', provider: 'p', model: 'm', attempt: 1 },
      { event: 'content', text },
      { event: 'done', answerId: `a${index}`, status: 'done', stopReason: 'end_turn' },
    ])
      server.push({ type: 'stream', block: 'b', id, seq: 1, ...frame });
    const entry = history.find((candidate) => candidate.id === id);
    if (entry !== undefined) entry.status = 'done';
    history.push({ id: `a${index}`, role: 'assistant', status: 'done', content: text, replyTo: id, ...SPEED });
  };
  const [input, output, out] = [new PassThrough(), new PassThrough(), new PassThrough()];
  if (columns !== undefined) Object.assign(output, { columns });
  const controller = new AbortController();
  const texts = { stdout: '', stderr: '' };
  out.on('data', (chunk) => {
    texts.stdout += String(chunk);
  });
  output.on('data', (chunk) => {
    texts.stderr += String(chunk);
  });
  const ended = attach({
    api: server.api,
    block: 'b',
    input,
    output,
    stdout: out,
    terminal,
    style: styleFor(false),
    isWatched: watched,
    isVerbose: watched,
    signal: controller.signal,
  });
  ended.catch(() => undefined); // looked at by the test
  return { server, history, input, controller, ended, stdout: () => texts.stdout, stderr: () => texts.stderr, reply };
}

const MEMORY = { summary: 'They met.', facts: [], window: { messages: 1, tokens: 2, maxTokens: 3, percent: 4 }, compactions: [], compactionCount: 0 };

function posted({ server }: Desk): string[] {
  return server.calls
    .filter(({ method, path }) => method === 'POST' && path.endsWith('/chat'))
    .map(({ body }) => (JSON.parse(String(body)) as { message: string }).message);
}

t.test('a line is a message, its reply goes to stdout, and Ctrl-D leaves', async (t) => {
  const session = await desk(t);
  await until('the prompt shows', () => session.stderr().includes('b › '));
  t.match(session.stderr(), /^b {2}● idle {2}moel\n/);
  session.input.write('hello\r');
  await until('it is sent', () => posted(session).length === 1);
  session.reply(0, 'Hi!\x1b[2J');
  await until('the reply shows', () => session.stdout() === 'Hi!\n');
  session.input.write('first \\\r');
  session.input.write('second\r');
  await until('it is sent', () => posted(session).length === 2);
  t.equal(posted(session)[1], 'first \nsecond');
  session.reply(2, 'Yes.');
  await until('the reply shows', () => session.stdout().endsWith('Yes.\n'));
  session.input.write('\x04');
  t.equal(await session.ended, 'ok');
});

t.test('a talk begins with the end of the conversation so far', async (t) => {
  const timestamp = new Date(Date.now() - 60_500).toISOString();
  const past = [
    { id: 'm1', role: 'user', status: 'done', content: 'Any news?', timestamp },
    { id: 'm2', role: 'assistant', status: 'done', content: 'one\ntwo\nthree\nfour\nfive\nsix\x1b[2J\nseven\neight', provider: 'p', model: 'm', timestamp },
  ];
  const session = await desk(t, { past });
  await until('the prompt shows', () => session.stderr().includes('b › '));
  t.match(session.stderr(), /^you {2}1m ago {2}m1\nAny news\?\n\nb {2}1m ago {2}p\/m {2}m2\none\n[\s\S]*six\n… 2 more lines\n\nb {2}● idle/);
  session.input.write('\x04');
  await session.ended;
  const piped = await desk(t, { past, terminal: false });
  piped.input.end();
  await piped.ended;
  t.match(piped.stderr(), /^note: each line of the input is a message; `blockhouse chat \S+` sends all of it as one\.\n$/);
});

t.test('what another block sends meanwhile shows above the prompt, with its answer', async (t) => {
  const past: object[] = [];
  const session = await desk(t, { past });
  await until('the conversation so far is read', () => session.server.calls.filter(({ path }) => path.includes('limit=50')).length > 0);
  const timestamp = new Date().toISOString();
  past.push({ id: 'm7', role: 'user', status: 'done', content: 'What is new?', timestamp, channel: 'block', chain: [{ via: 'block', block: 'eve' }] });
  past.push({ id: 'a7', role: 'assistant', status: 'done', content: 'Nothing.', replyTo: 'm7', timestamp });
  session.server.push({ type: 'refresh', block: 'b' });
  await until('it shows', () => session.stderr().includes('Nothing.'));
  t.match(session.stderr(), /block eve {2}\S+ {2}m7\nWhat is new\?\n\nb {2}\S+ {2}a7\nNothing\.\n[^\n]*b › [^\n]*$/);
  t.equal(session.stdout(), '', 'stdout has the replies to what is sent here');
  session.input.write('\x04');
  t.equal(await session.ended, 'ok');
});

t.test('while a person waits, a line shows for how long and what for, until the reply shows; its speed comes after it', async (t) => {
  const session = await desk(t, { watched: true });
  session.input.write('hello\r');
  await until('it shows', () => /\[K\S \ds {2}waiting for the model/.test(session.stderr()));
  session.reply(0, 'Hi!');
  await until('the reply shows', () => session.stdout() === 'Hi!\n');
  session.input.write('\x04');
  t.equal(await session.ended, 'ok');
  t.match(session.stderr(), 'waiting for the model\r\x1b[K100 tokens in 3.0 s, 50.0 tokens/s\n');
});

t.test('Ctrl-C ends the reply that is waited for; without one, it leaves', async (t) => {
  const session = await desk(t);
  session.input.write('hello\r');
  await until('it is sent', () => posted(session).length === 1);
  session.input.write('\x03');
  await until('it is cancelled', () => session.stderr().includes('The message was cancelled.'));
  t.ok(session.server.calls.some(({ path }) => path === '/api/blocks/b/chat/m0/cancel'));
  session.input.write('\x03');
  t.equal(await session.ended, 'ok');
});

t.test('a message to a stopped block waits, and its reply comes after /start', async (t) => {
  const session = await desk(t, { running: false, columns: 40 });
  session.input.write('hello\r');
  const folded = /note: the message waits because the\r?\nmonitor is not running; \/start starts\r?\nit\./; // no word is broken at the edge
  await until('it is told', () => folded.test(session.stderr()));
  session.input.write('/start\r');
  await until('it was started', () => session.stderr().includes('b: start.'));
  session.reply(0, 'At last.');
  await until('the reply shows', () => session.stdout() === 'At last.\n');
  session.input.write('/quit\r');
  t.equal(await session.ended, 'ok');
});

t.test('a block that waits for a person gives the line back, and the reply comes after /start', async (t) => {
  const session = await desk(t, { state: 'failed' });
  session.input.write('hello\r');
  await until('it is told', () => session.stderr().includes('note: the message waits; /start tries again'));
  session.input.write('/memory\r');
  await until('commands are taken', () => session.stdout().includes('They met.'));
  session.input.write('/start\r');
  await until('it was started', () => session.stderr().includes('b: start.'));
  session.reply(0, 'At last.');
  await until('the reply shows', () => session.stdout().includes('At last.\n'));
  session.input.write('\x04');
  t.equal(await session.ended, 'ok');
});

const PAYS = { ...approvalOf('a1', { digest: 'd', arguments: { to: 'bob' } }), messageId: 'm0', state: 'pending', scopes: ['once'] };
const CARD = /bank\/pay[\s\S]*to: "bob"[\s\S]*note: \/yes approves it once/;

t.test('a call that waits behind the text of a reply is shown at once, and /yes goes on with the reply', async (t) => {
  for (const watched of [false, true]) {
    const waits: object[] = [];
    const session = await desk(t, { waits, watched });
    const { server, history } = session;
    session.input.write('pay bob\r');
    await until('it is sent', () => posted(session).length === 1);
    for (const frame of [
      { event: 'start', provider: 'p', model: 'm', attempt: 1 },
      { event: 'content', text: 'Let me pay.' },
    ])
      server.push({ type: 'stream', block: 'b', id: 'm0', seq: 1, ...frame });
    await until('the text shows', () => session.stdout().includes('Let me pay.'));
    waits.push(PAYS);
    Object.assign(history[0] as Entry, { status: 'waiting-approval' });
    server.push({ type: 'refresh', block: 'b' });
    await until('the call shows', () => CARD.test(session.stderr()));
    t.notOk(
      server.calls.some(({ path }) => path.endsWith('/why')),
      'nobody has waited for it',
    );
    const over = { event: 'error', code: 'CANCELLED', error: 'The message is still waiting.', willRetry: true };
    server.push({ type: 'stream', block: 'b', id: 'm0', seq: 3, ...over });
    session.input.write('/yes\r');
    await until('it is decided', () => waits.length === 0);
    session.reply(0, 'Paid.');
    await until('the reply shows', () => session.stdout().endsWith('Paid.\n'));
    t.notMatch(session.stderr(), 'still waiting', 'the end of the attempt before the decision is no news after it');
    session.input.write('\x04');
    t.equal(await session.ended, 'ok');
  }
});

t.test('a call that waits since before the talk is shown before the first line, and its reply after /yes', async (t) => {
  const waits: object[] = [PAYS];
  const session = await desk(t, { waits });
  session.history.push({ id: 'm0', role: 'user', status: 'waiting-approval', content: 'pay bob' });
  await until('the prompt shows', () => session.stderr().includes('b › '));
  t.match(session.stderr().slice(0, session.stderr().indexOf('b › ')), CARD);
  session.input.write('/yes\r');
  await until('it is decided', () => waits.length === 0);
  session.reply(0, 'Paid.');
  await until('the reply shows', () => session.stdout() === 'Paid.\n');
  session.input.write('/not-ran\r');
  await until('it is a command', () => session.stderr().includes('note: nothing waits for a decision.'));
  t.same(posted(session), []);
  session.input.write('\x04');
  t.equal(await session.ended, 'ok');
});

t.test('commands of the talk are answered, and // sends a message with one', async (t) => {
  const session = await desk(t);
  for (const line of ['/why', '/memory', '/stop', '/help', '/nope', '   ']) session.input.write(`${line}\r`);
  await until('all are answered', () => session.stderr().includes('Unknown command'));
  t.match(session.stdout(), /It is stopped\.[\s\S]*They met\./);
  t.match(session.stderr(), /b: stop\.\n[\s\S]*leave, as Ctrl-D does/);
  session.input.write('//why\r');
  await until('it is sent', () => posted(session).length === 1);
  t.same(posted(session), ['/why']);
  session.reply(0, 'x');
  session.input.write('/exit\r');
  await session.ended;
});

t.test('a refused message is told, and the talk goes on', async (t) => {
  const session = await desk(t);
  session.input.write('refused\r');
  await until('it is told', () => session.stderr().includes('blockhouse: The queue is full.'));
  session.input.write('/quit\r');
  t.equal(await session.ended, 'ok');
});

t.test('piped lines are sent one after the other, and the worst outcome is the exit', async (t) => {
  const session = await desk(t, { terminal: false });
  session.input.end('one\n/why\nrefused\n');
  await until('the first is sent', () => posted(session).length === 1);
  session.reply(0, 'Reply 1.');
  await until('the second is sent', () => posted(session).length === 2);
  session.reply(2, 'Reply 2.');
  t.equal(await session.ended, 'unexpected');
  t.same(posted(session), ['one', '/why', 'refused']);
  t.equal(session.stdout(), 'Reply 1.\nReply 2.\n');
  t.notMatch(session.stderr(), '›');
});

t.test('a signal ends the reply and the talk as an interruption', async (t) => {
  const session = await desk(t, { terminal: false });
  session.input.write('hello\n');
  await until('it is sent', () => posted(session).length === 1);
  session.controller.abort(); // before its id is known
  await t.rejects(session.ended, { kind: 'interrupted', message: /./ });
  t.ok(session.server.calls.some(({ path }) => path === '/api/blocks/b/chat/m0/cancel'));
});

t.test('a talk goes on after a lost connection, and Ctrl-C leaves while the server is away', async (t) => {
  const session = await desk(t);
  session.input.write('hello\r');
  await until('it is sent', () => posted(session).length === 1);
  session.server.drop();
  await until('it is told', () => session.stderr().includes('note: the server is back.'));
  t.match(session.stderr(), 'note: the connection to the server was lost; waiting for it to come back.\n');
  session.reply(0, 'Hi!');
  await until('the reply shows', () => session.stdout() === 'Hi!\n');
  session.server.close();
  session.input.write('again\r');
  await until('it is told', () => session.stderr().endsWith('waiting for it to come back.\n'));
  session.input.write('\x03');
  await t.rejects(session.ended, { kind: 'interrupted', message: /./ });
});
