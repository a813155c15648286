// Connections over TLS, in processes of their own: which certificates are trusted is decided when a process starts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer as createPlainServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { createServer, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { argsForText } from '../../support/node-args.ts';
import { until } from '../../support/until.ts';

const CERTIFICATE = fileURLToPath(new URL('../../support/tls/cert.pem', import.meta.url));
/** The sockets of this machine, on Linux. */
const SOCKETS = '/proc/net/tcp';
const KEY = fileURLToPath(new URL('../../support/tls/key.pem', import.meta.url));

interface Seen {
  readonly name: TLSSocket['servername'];
  readonly protocol: TLSSocket['alpnProtocol'];
  readonly isResumed: boolean;
}

/** A provider over TLS that answers each request and keeps the connection, or closes it. */
async function startSecure(
  t: Test,
  { closes = false, before = async (_socket: Socket): Promise<void> => undefined } = {},
): Promise<{ readonly port: number; readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer({ cert: readFileSync(CERTIFICATE), key: readFileSync(KEY), ALPNProtocols: ['h2', 'http/1.1'] }, (socket: TLSSocket) => {
    seen.push({ name: socket.servername, protocol: socket.alpnProtocol, isResumed: socket.isSessionReused() });
    socket.on('error', () => undefined); // the other side may leave
    socket.on('data', async () => {
      await before(socket);
      socket.write(`HTTP/1.1 200 OK\r\n${closes ? 'connection: close\r\n' : ''}content-length: 2\r\n\r\nok`);
    });
  });
  server.on('tlsClientError', () => undefined); // who does not trust the certificate leaves
  server.listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, seen };
}

interface Calls {
  readonly count?: number;
  readonly trusts?: boolean;
  /** Who looks up names: the system, or a resolver that knows only loopback. */
  readonly names?: 'system' | 'loopback';
}

/** Makes the calls of each line of its standard input, and answers with a line of what each ends with. */
const CALLER = `
  import dns from 'node:dns';
  import { syncBuiltinESMExports } from 'node:module';
  import { createInterface } from 'node:readline';
  import { setTimeout } from 'node:timers/promises';
  import { Upstream } from './adapters/outbound/client.ts';
  const { lookup } = dns;
  const egress = { trustedOrigins: new Set(), allowedOrigins: new Set(), ownKey: true };
  const call = { settings: { values: {}, sources: {} }, egress, timeouts: { connectMs: 20000, firstByteMs: 20000, idleMs: 20000 }, signal: new AbortController().signal };
  for await (const line of createInterface({ input: process.stdin })) {
    const { url, count, names } = JSON.parse(line);
    dns.lookup = names === 'system' ? lookup : (name, options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
    syncBuiltinESMExports();
    const upstream = new Upstream();
    const ends = [];
    for (let index = 0; index < count; index += 1) {
      let status = 0;
      const handler = { complete: false, head: (given) => { status = given; }, data: () => true, onceWritable() {}, end() {} };
      await upstream.send(call, { method: 'POST', url: new URL(url), headers: {}, body: Buffer.from('{}') }, handler).then(
        () => ends.push(String(status)),
        (error) => ends.push(error.code + ' ' + error.message),
      );
      await setTimeout(50); // the ticket of a session comes after the answer
    }
    await upstream.close();
    console.log(JSON.stringify(ends));
  }
`;

/** By whether they trust the certificate: a process decides that once. */
const callers = new Map<boolean, ReturnType<typeof startCaller>>();

function startCaller(trusts: boolean) {
  const env = { ...process.env, ...(trusts && { NODE_EXTRA_CA_CERTS: CERTIFICATE }) };
  const child = spawn(process.execPath, argsForText(CALLER), { env, stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => child.kill());
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
}

/** What each of the calls, one after the other, ends with: its status, or the code and the message of its error. */
async function callsOf(url: string, { count = 1, trusts = true, names = 'system' }: Calls = {}): Promise<string[]> {
  const { child, lines } = callers.get(trusts) ?? startCaller(trusts);
  callers.set(trusts, { child, lines });
  child.stdin.write(`${JSON.stringify({ url, count, names })}\n`);
  const { value, done } = await lines.next();
  if (done === true) throw new Error('The process that calls has ended.');
  return JSON.parse(value) as string[];
}

t.test('a provider is asked by its name in HTTP/1.1, and its connection is kept', async (t) => {
  const { port, seen } = await startSecure(t);
  t.same(await callsOf(`https://localhost:${port}/`, { count: 3 }), ['200', '200', '200']);
  t.same(seen, [{ name: 'localhost', protocol: 'http/1.1', isResumed: false }]);
});

t.test('a name with a dot at its end, which is the same name, is told to the provider without it', async (t) => {
  const { port, seen } = await startSecure(t);
  t.same(await callsOf(`https://localhost.:${port}/`, { names: 'loopback' }), ['200']);
  t.match(seen, [{ name: 'localhost' }]);
});

t.test('a server without TLS, asked over TLS, is told in one line', async (t) => {
  const server = createPlainServer((socket) => {
    socket.on('error', () => undefined); // the other side leaves
    socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'));
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  t.same(await callsOf(`https://127.0.0.1:${port}/`), [`UPSTREAM_UNREACHABLE No connection to 127.0.0.1:${port}: TLS failed: wrong version number.`]);
});

t.test('the next connection goes on with the session of the one before', async (t) => {
  const { port, seen } = await startSecure(t, { closes: true });
  t.same(await callsOf(`https://localhost:${port}/`, { count: 3 }), ['200', '200', '200']);
  t.same(
    seen.map(({ isResumed }) => isResumed),
    [false, true, true],
  );
});

t.test('the system asks whether a silent provider is still there', { skip: !existsSync(SOCKETS) && `needs ${SOCKETS}` }, async (t) => {
  const { port } = await startSecure(t, { before: ({ remotePort = 0 }) => until('the silence is watched', () => isProbed(remotePort)) });
  t.same(await callsOf(`https://localhost:${port}/`), ['200']);
});

t.test('a certificate that nobody vouches for, or that is for another name, is refused before anything is sent', async (t) => {
  const { port, seen } = await startSecure(t);
  const [untrusted] = await callsOf(`https://localhost:${port}/`, { trusts: false });
  t.match(untrusted, /^UPSTREAM_UNREACHABLE No connection to localhost:\d+: self-signed certificate/);
  const [misnamed] = await callsOf(`https://127.0.0.1:${port}/`);
  t.match(misnamed, /^UPSTREAM_UNREACHABLE No connection to 127\.0\.0\.1:\d+: Hostname\/IP does not match certificate's altnames/);
  t.ok(
    seen.every(({ name }) => name !== '127.0.0.1'),
    'an address is not sent as a name',
  );
});

/** True if the system's timer for probes runs on the socket with this port. */
function isProbed(port: number): boolean {
  const name = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync(SOCKETS, 'latin1').split('\n');
  return rows.map((row) => row.trim().split(/ +/)).some(([, local = '', , , , timer = '']) => local.endsWith(name) && timer.startsWith('02:'));
}
