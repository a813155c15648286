// Lines that are no answers, or answers that nobody can read.
import { PassThrough, Writable } from 'node:stream';
import t from 'tap';
import { CALL_ID, callIdOf } from '../../../adapters/tools/call-id.ts';
import { loadSdk } from '../../../adapters/tools/sdk.ts';
import { type MostUnasked, StdioTransport } from '../../../adapters/tools/stdio-transport.ts';
import { sweep } from '../../support/sweep.ts';
import { sessionsRig, textOf } from '../../support/tools/sessions-rig.ts';

await loadSdk();

t.test('answers that come twice, to foreign ids or between garbage change no other call', async (t) => {
  const { hostile, call, pids } = sessionsRig(t);
  const server = hostile();
  t.equal(textOf(await call(server, 'twice')), 'first');
  t.equal(textOf(await call(server, 'foreign')), 'right');
  t.equal(textOf(await call(server, 'garbage', { lines: 99 })), 'after garbage');
  t.match(await call(server, 'none'), { isError: true, parts: [{ text: 'The server has answered with what is no result.' }] });
  t.match(await call(server, 'refuse'), { isError: true, parts: [{ text: 'The server has refused the call: The amount is missing.' }] });
  t.equal(pids().length, 1);
});

t.test('a result that is too large or too deep fails its call alone', async (t) => {
  const { hostile, call, pids } = sessionsRig(t);
  const server = hostile({}, { maxResultBytes: 1_000_000 });
  const other = call(server, 'echo', { text: 'beside', delayMs: 300 });
  t.match(await call(server, 'big', { bytes: sweep(50_000_000, 5_000_000) }), { isError: true, parts: [{ text: /^The result is larger than 1000000 bytes/ }] });
  t.match(await call(server, 'deep', { levels: 20_000 }), { isError: true, parts: [{ text: 'The result is nested more than 100 levels deep.' }] });
  t.equal(textOf(await other), 'beside');
  t.equal(pids().length, 1);
});

t.test('odd names and halves of characters do no harm', async (t) => {
  const { hostile, call } = sessionsRig(t);
  t.match(textOf(await call(hostile(), 'odd')), /^half \ufffd, bell , null \n\[a part of the kind constructor\]$/);
  t.match(
    await call(hostile({ era: 'modern' }, {}, { definition: 'modern' }), 'odd'),
    { isError: true, parts: [{ text: /what is no result/ }] },
    'which must be as it says',
  );
  t.equal(({} as { polluted?: boolean }).polluted, undefined);
});

t.test('read-or-unasked: a server that asks and does not read is not answered', async (t) => {
  const stdout = new PassThrough();
  const stdin = new Writable({ write: () => undefined }); // nobody reads it
  const transport = new StdioTransport({ stdin, stdout }, 1_000_000, { onNoise: () => undefined, onFlood: () => undefined, onLife: () => undefined });
  const asked: unknown[] = [];
  transport.onmessage = (message) => {
    asked.push('id' in message && message.id);
    if ('id' in message) void transport.send({ jsonrpc: '2.0', id: message.id as number, result: {} });
  };
  await transport.start();
  const ask = (id: number | string): boolean => stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`);
  ask(1);
  ask('x'.repeat(500_000));
  for (let id = 2; id < 20_000; id += 1) ask(id);
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(asked[0], 1);
  t.notOk(
    asked.some((id) => String(id).length > 200),
    'an id that is longer than an answer',
  );
  t.ok(asked.length < 10_000, `${asked.length} answers`);
  t.ok(stdin.writableLength < 70_000, `${stdin.writableLength} bytes wait`);
});

t.test('the id of a call is read from the message that makes it', async (t) => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', _meta: { [CALL_ID]: 'ada/m/1.1' } } } as const;
  t.equal(callIdOf(call), 'ada/m/1.1');
  t.equal(callIdOf({ ...call, method: 'tools/list' }), undefined);
  t.equal(callIdOf({ ...call, params: {} }), undefined);
  t.equal(callIdOf({ ...call, params: { _meta: { [CALL_ID]: 7 } } }), undefined);
  t.equal(callIdOf({ jsonrpc: '2.0', id: 1, result: {} }), undefined);
});

t.test('a server that sends a hundred thousand messages within a minute which answer nothing is ended; answers do not count', async (t) => {
  const stdout = new PassThrough({ highWaterMark: 64 * 1024 * 1024 });
  let floods = 0;
  let messages = 0;
  const stdin = new PassThrough().resume();
  const transport = new StdioTransport({ stdin, stdout }, 1_000_000, { onNoise: () => undefined, onFlood: () => (floods += 1), onLife: () => undefined });
  transport.onmessage = () => (messages += 1);
  await transport.start();
  const told = (count: number): void => void stdout.write('{"jsonrpc":"2.0","method":"notifications/message"}\n'.repeat(count));
  told(99_999);
  await transport.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
  stdout.write('{"jsonrpc":"2.0","id":1,"result":{}}\n');
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(messages, 51, 'the answer, and some of the notices of a turn');
  t.equal(floods, 0);
  told(1);
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(floods, 1);
  t.equal(messages, 51, 'and it is not handed on');
});

/** A transport whose server writes what a test says. */
async function written(maxLineBytes: number, most?: MostUnasked) {
  const stdout = new PassThrough({ highWaterMark: 1024 ** 3 });
  const counts = { floods: 0, messages: 0 };
  const bump = (what: keyof typeof counts): void => {
    counts[what] += 1;
  };
  const listener = { onNoise: () => undefined, onFlood: () => bump('floods'), onLife: () => undefined };
  const transport = new StdioTransport({ stdin: new PassThrough().resume(), stdout }, maxLineBytes, listener, most);
  transport.onmessage = () => bump('messages');
  await transport.start();
  const read = async (): Promise<void> => {
    while (stdout.readableLength > 0) await new Promise((resolve) => setImmediate(resolve));
  };
  return { stdout, transport, counts, read };
}

t.test('flood-ends: answers to no request and lines that are too long or too deep count, and so does the length of what is unasked', async (t) => {
  const mib = 1024 * 1024;
  const messages = sweep(100_000, 10_000);
  const most = messages < 100_000 ? { messages, bytes: 32 * mib } : undefined;
  const limit = most?.bytes ?? 256 * mib;
  const foreign = await written(1_000_000, most);
  foreign.stdout.write('{"jsonrpc":"2.0","id":77,"result":{}}\n'.repeat(messages - 1));
  await foreign.read();
  t.same(foreign.counts, { floods: 0, messages: 0 });
  foreign.stdout.write('{"jsonrpc":"2.0","id":77,"result":{}}\n');
  await foreign.read();
  t.same(foreign.counts, { floods: 1, messages: 0 });
  const deep = await written(1_000_000, most);
  deep.stdout.write(`${'['.repeat(200)}${']'.repeat(200)}\n`.repeat(messages));
  await deep.read();
  t.equal(deep.counts.floods, 1);
  const long = await written(8 * mib, most);
  const notice = Buffer.from(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${'x'.repeat(8_000_000)}"}}\n`);
  const within = Math.floor(limit / notice.length);
  for (let at = 0; at < within; at += 1) long.stdout.write(notice);
  await long.read();
  t.same(long.counts, { floods: 0, messages: within });
  long.stdout.write(notice);
  await long.read();
  t.same(long.counts, { floods: 1, messages: within });
  const skipped = await written(mib, most);
  const tooLong = Buffer.from(`${'y'.repeat(mib + 1)}\n`);
  for (let at = 0; at < limit / mib; at += 1) skipped.stdout.write(tooLong);
  await skipped.read();
  t.equal(skipped.counts.floods, 1);
});

t.test('flood-ends: so do blank lines, and a line that does not end', async (t) => {
  const blank = await written(1000, { messages: 5000, bytes: 1_000_000 });
  blank.stdout.write('\n'.repeat(4999));
  await blank.read();
  t.same(blank.counts, { floods: 0, messages: 0 });
  blank.stdout.write('\n');
  await blank.read();
  t.same(blank.counts, { floods: 1, messages: 0 });
  const endless = await written(1000, { messages: 5000, bytes: 1_000_000 });
  const piece = Buffer.alloc(50_000, 'y');
  for (let at = 0; at < 20; at += 1) endless.stdout.write(piece);
  await endless.read();
  t.same(endless.counts, { floods: 0, messages: 0 });
  endless.stdout.write(piece);
  await endless.read();
  t.same(endless.counts, { floods: 1, messages: 0 });
});

t.test('flood-ends: answers that are too long fail their calls, and end nothing, however many there are', async (t) => {
  const { stdout, transport, counts, read } = await written(1000, { messages: 5000, bytes: 1_000_000 });
  const answer = async (id: number): Promise<void> => {
    stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":"${'x'.repeat(1000)}`);
    for (let at = 0; at < 5; at += 1) stdout.write('x'.repeat(40_000));
    stdout.write('"}}\n');
    await read();
  };
  for (let id = 1; id <= 20; id += 1) {
    await transport.send({ jsonrpc: '2.0', id, method: 'tools/call' });
    await answer(id);
  }
  t.same(counts, { floods: 0, messages: 20 });
  for (let at = 0; at < 5; at += 1) await answer(99);
  t.ok(counts.floods > 0, 'those to no request count');
});

t.test('in-turns: of a server that writes faster than it is read, one piece is read in a turn, and some notices of each kind are handed on', async (t) => {
  const { stdout, counts } = await written(1_000_000);
  const notices = ['progress', 'tools/list_changed'].map((kind) => `{"jsonrpc":"2.0","method":"notifications/${kind}"}\n`);
  const piece = Buffer.from(notices.join('').repeat(1000));
  for (let at = 0; at < 20; at += 1) stdout.write(piece);
  let most = 0;
  let turns = 0;
  for (let before = 0; stdout.readableLength > 0; before = counts.messages) {
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, counts.messages - before);
    turns += 1;
  }
  t.ok(most <= 200, `${most} in one turn`);
  t.ok(turns >= 10);
  const { stdout: other, counts: kinds } = await written(1_000_000);
  for (let at = 0; at < 1000; at += 1) other.write(`{"jsonrpc":"2.0","method":"kind/${at}"}\n`);
  await new Promise((resolve) => setImmediate(resolve));
  t.ok(kinds.messages <= 40, `${kinds.messages} kinds in a turn`);
});

t.test('of each call that is under way, some progress is handed on, however much another one makes: it extends the time of its call alone', async (t) => {
  const { stdout, transport, counts } = await written(1_000_000);
  const heard = new Map<unknown, number>();
  transport.onmessage = (message) => {
    const token = 'method' in message ? message.params?.['progressToken'] : undefined;
    heard.set(token, (heard.get(token) ?? 0) + 1);
  };
  for (let id = 1; id <= 64; id += 1) await transport.send({ jsonrpc: '2.0', id, method: 'tools/call' });
  const progress = (token: unknown): string =>
    `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: 1 } })}\n`;
  stdout.write(progress(1).repeat(100) + Array.from({ length: 64 }, (_, at) => progress(at === 60 ? '61' : at + 1)).join(''));
  for (const token of [65, 66, '1', {}]) stdout.write(progress(token).repeat(100)); // of no call
  stdout.write('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n');
  await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(
    Array.from({ length: 64 }, (_, at) => at + 1).filter((id) => !heard.has(id)),
    [61],
  );
  t.equal(heard.get('61'), 1, 'also where the server writes it as a text');
  t.equal(heard.get(undefined), 1, 'and the notice of another kind');
  t.ok((heard.get(1) ?? 0) <= 50, `${heard.get(1)} of one call`);
  t.ok([...heard.values()].reduce((sum, count) => sum + count, 0) <= 200);
  t.equal(counts.floods, 0);
});
