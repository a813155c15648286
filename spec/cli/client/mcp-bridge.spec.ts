import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { Client } from '../../../cli/client/client.ts';
import { bridgeMcp, type Most } from '../../../cli/client/mcp-bridge.ts';
import { sweep } from '../../support/sweep.ts';
import { until } from '../../support/until.ts';

interface Asked {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly res: ServerResponse;
}

/** A bridge before a server that answers as `answer` says. */
async function bridged(t: Test, answer: (asked: Asked) => void, key?: string, most: Partial<Most> = {}) {
  const asked: Asked[] = [];
  const server = createServer(async (req, res) => {
    const one = { headers: req.headers, body: await readText(req), res };
    asked.push(one);
    res.setHeader('x-request-id', 'r');
    answer(one);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const place = { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), token: 'bh_token', pid: process.pid };
  const [input, output] = [new PassThrough(), new PassThrough()];
  const done = bridgeMcp(new Client(place, new AbortController().signal), { input, output, key, most }).finally(() => output.end());
  let text = '';
  output.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const lines = (): Record<string, unknown>[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { input, asked, done, lines, server, has: (count: number) => until(`${count} lines`, () => lines().length >= count) };
}

const idOf = ({ body }: Asked): unknown => (JSON.parse(body) as { id?: unknown }).id;
const echo = (asked: Asked): void => void asked.res.end(JSON.stringify({ jsonrpc: '2.0', id: idOf(asked), result: {} }));
const request = (id: unknown, method = 'ping', params?: object): string => JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) });

t.test('each line is a request, in whatever pieces it comes, and the last one needs no end', async (t) => {
  const { input, done, lines, asked } = await bridged(t, echo);
  const whole = Buffer.from(`${request(1, 'tools/call', { text: 'ä€😀' })}\r\n\n${request(2)}`);
  for (const byte of whole) input.write(Buffer.from([byte]));
  input.end();
  await done;
  t.strictSame(
    lines()
      .map(({ id }) => id)
      .sort(),
    [1, 2],
  );
  t.match(asked.find((one) => idOf(one) === 1)?.body, /ä€😀/);
  t.match(asked[0]?.headers, { authorization: 'Bearer bh_token', 'content-type': 'application/json', accept: 'application/json, text/event-stream' });
});

t.test('a wait holds up no other request, and the end of the input lets it be answered', async (t) => {
  const { input, done, lines, asked, has } = await bridged(t, (one) => idOf(one) === 2 && echo(one));
  input.write(`${request(1)}\n${request(2)}\n`);
  await has(1);
  t.match(lines(), [{ id: 2 }]);
  input.end();
  await until('the other request', () => asked.length === 2);
  echo(asked.find((one) => idOf(one) === 1) as Asked);
  await done;
  t.match(lines(), [{ id: 2 }, { id: 1 }]);
});

t.test('a request that is cancelled is left, and gets no answer', async (t) => {
  const { input, done, lines, asked } = await bridged(t, () => undefined);
  input.write(`${request('a')}\n`);
  await until('the request', () => asked.length === 1);
  const left = new Promise((resolve) => asked[0]?.res.once('close', resolve));
  input.end(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } })}\n`);
  await left;
  await done;
  t.strictSame(lines(), []);
  t.equal(asked.length, 1);
});

t.test('a request of the revision without sessions has the headers that it needs', async (t) => {
  const { input, done, asked } = await bridged(t, echo);
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
  const send = (name: unknown): void => void input.write(`${request(1, 'tools/call', { name, _meta: meta })}\n`);
  for (const name of ['why', 'würfel\r\nx: y', ' why', 'x'.repeat(2000), 5]) send(name);
  input.end();
  await done;
  const names = new Map(asked.map(({ headers, body }) => [(JSON.parse(body) as { params: { name: unknown } }).params.name, headers]));
  t.match(names.get('why'), { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'why' });
  t.equal(names.get('würfel\r\nx: y')?.['mcp-name'], `=?base64?${Buffer.from('würfel\r\nx: y').toString('base64')}?=`);
  t.equal(names.get(' why')?.['mcp-name'], '=?base64?IHdoeQ==?=');
  t.notOk('mcp-name' in (names.get('x'.repeat(2000)) ?? {}));
  t.notOk('x' in (names.get('würfel\r\nx: y') ?? {}));
});

t.test('each request gets one answer whatever the server says, and a notification none', async (t) => {
  const error = { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'No.' } };
  const { input, done, lines } = await bridged(t, (one) => {
    const id = idOf(one);
    if (id === 'refused') one.res.writeHead(403).end(JSON.stringify(error));
    else if (id === 'strange') one.res.writeHead(502).end('<html>');
    else if (id === 'lines') one.res.end('{\n"id":"lines"\n}');
    else one.res.writeHead(202).end();
  });
  input.write(`${request('refused')}\n${request('strange')}\n${request('lines')}\nno JSON\n`);
  input.end('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  await done;
  const byId = new Map(lines().map((line) => [line['id'], line]));
  t.equal(lines().length, 4);
  t.match(byId.get('refused'), { error: { code: -32000, message: 'No.' } });
  t.match(byId.get('strange'), { error: { code: -32000, message: /502/ } });
  t.ok(byId.has('lines'));
  t.match(byId.get(null), { error: { code: -32700 } });
});

t.test('a line that is too long is refused under its id, and the next one is served', async (t) => {
  const { input, done, lines, asked } = await bridged(t, echo);
  const long = request(7, 'tools/call', { text: 'x'.repeat(3 * 1024 * 1024) });
  for (let at = 0; at < long.length; at += 65_536) input.write(long.slice(at, at + 65_536));
  input.end(`\n${request(8)}\n`);
  await done;
  const byId = new Map(lines().map((line) => [line['id'], line]));
  t.match(byId.get(7), { error: { code: -32600, message: /longer than/ } });
  t.match(byId.get(8), { result: {} });
  t.equal(asked.length, 1);
});

t.test('a server that is gone is told to each request', async (t) => {
  const { input, done, lines, server } = await bridged(t, echo);
  server.close();
  input.end(`${request(1)}\n{"jsonrpc":"2.0","method":"notifications/x"}\n${request(2)}\n`);
  await done;
  t.match(lines(), [{ error: { code: -32000, message: /can't be reached/ } }, { error: { code: -32000 } }]);
});

t.test('no more than so many are under way', async (t) => {
  const { input, done, asked, lines } = await bridged(t, () => undefined);
  for (let id = 0; id < 70; id += 1) input.write(`${request(id)}\n`);
  input.end();
  await until('as many as may be', () => asked.length === 64);
  let answered = 0;
  while (answered < 70) {
    await until('the next one', () => asked.length > answered);
    t.ok(asked.length - answered <= 64);
    echo(asked[answered] as Asked);
    answered += 1;
  }
  await done;
  t.equal(lines().length, 70);
});

const cancelOf = (requestId: unknown): string => JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });

t.test('a request can be cancelled however many wait, whether it is under way or waits for its turn', async (t) => {
  const { input, done, asked, lines } = await bridged(t, () => undefined, undefined, { underWay: 4 });
  for (let id = 0; id < 10; id += 1) input.write(`${request(id)}\n`);
  await until('as many as may be', () => asked.length === 4);
  input.write(`${cancelOf(9)}\n${cancelOf(0)}\n${cancelOf(1)}\n`);
  await until('the next two', () => asked.length === 6);
  input.end();
  for (const one of asked) echo(one);
  await until('the last ones', () => asked.length === 9);
  for (const one of asked.slice(6)) echo(one);
  await done;
  const ids = lines().map(({ id }) => Number(id));
  t.strictSame(
    ids.sort((a, b) => a - b),
    Array.from({ length: 7 }, (_, index) => index + 2),
    'those that were cancelled get no answer, and the last one was never sent',
  );
});

t.test('no more is read while as many wait as may, or too much of them', async (t) => {
  const held = async (t: Test, line: (id: number) => string, count: number, most: Partial<Most> = {}): Promise<void> => {
    let isHeld = true;
    const underWay = sweep(64, 8);
    const { input, done, asked } = await bridged(t, (one) => void (isHeld || echo(one)), undefined, { underWay, ...most });
    for (let id = 1; id < count; id += 1) input.write(`${line(id)}\n`);
    await until('as many as may be', () => asked.length === underWay);
    input.write(`${line(0)}\n`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    t.ok(input.readableLength > 0, 'some of it is not read');
    isHeld = false;
    for (const one of asked) echo(one);
    input.end();
    await done;
    t.equal(asked.length, count, 'it is read when there is room');
  };
  await held(t, (id) => request(id), sweep(100, 24), { waiting: 4 });
  await t.test('of long ones', (t) => {
    const text = 'x'.repeat(sweep(1_000_000, 100_000));
    return held(t, (id) => request(id, 'ping', { text }), sweep(120, 15), text.length < 1_000_000 ? { heldBytes: 12 * text.length } : {});
  });
});

t.test('a key stands in for the token', async (t) => {
  const { input, done, asked } = await bridged(t, echo, 'bhk_key');
  input.end(`${request(1)}\n`);
  await done;
  t.equal(asked[0]?.headers.authorization, 'Bearer bhk_key');
});
