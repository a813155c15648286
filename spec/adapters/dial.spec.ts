// Connections over TLS, in a process of its own: which certificates are trusted is decided when a process starts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';

const CERTIFICATE = fileURLToPath(new URL('../support/tls/cert.pem', import.meta.url));
const KEY = fileURLToPath(new URL('../support/tls/key.pem', import.meta.url));

interface Seen {
  readonly name: TLSSocket['servername'];
  readonly protocol: TLSSocket['alpnProtocol'];
  readonly isResumed: boolean;
}

/** A provider over TLS that answers each request and keeps the connection, or closes it. */
async function startSecure(t: Test, closes = false): Promise<{ readonly port: number; readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer({ cert: readFileSync(CERTIFICATE), key: readFileSync(KEY), ALPNProtocols: ['h2', 'http/1.1'] }, (socket: TLSSocket) => {
    seen.push({ name: socket.servername, protocol: socket.alpnProtocol, isResumed: socket.isSessionReused() });
    socket.on('error', () => undefined); // the other side may leave
    socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\n${closes ? 'connection: close\r\n' : ''}content-length: 2\r\n\r\nok`));
  });
  server.on('tlsClientError', () => undefined); // who does not trust the certificate leaves
  server.listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, seen };
}

/** What each of the calls, one after the other, ends with: its status, or the code and the message of its error. */
async function callsOf(url: string, { count = 1, trusts = true }: { readonly count?: number; readonly trusts?: boolean } = {}): Promise<string[]> {
  const script = `
    import { setTimeout } from 'node:timers/promises';
    import { Upstream } from ${JSON.stringify(new URL('../../adapters/http.ts', import.meta.url).href)};
    const egress = { trustedOrigins: new Set(), allowedOrigins: new Set(), ownKey: true };
    const call = { settings: { values: {}, sources: {} }, egress, timeouts: { connectMs: 20000, firstByteMs: 20000, idleMs: 20000 }, signal: new AbortController().signal };
    const upstream = new Upstream();
    for (let index = 0; index < ${count}; index += 1) {
      let status = 0;
      const handler = { complete: false, head: (given) => { status = given; }, data: () => true, onceWritable() {}, end() {} };
      await upstream.send(call, { method: 'POST', url: new URL(${JSON.stringify(url)}), headers: {}, body: Buffer.from('{}') }, handler).then(
        () => console.log(status),
        (error) => console.log(error.code, error.message),
      );
      await setTimeout(50); // the ticket of a session comes after the answer
    }
    await upstream.close();
  `;
  const env = { ...process.env, ...(trusts && { NODE_EXTRA_CA_CERTS: CERTIFICATE }) };
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (bytes) => {
    said += bytes;
  });
  await once(child, 'close');
  return said.trim().split('\n');
}

t.test('a provider is asked by its name in HTTP/1.1, and its connection is kept', async (t) => {
  const { port, seen } = await startSecure(t);
  t.same(await callsOf(`https://localhost:${port}/`, { count: 3 }), ['200', '200', '200']);
  t.same(seen, [{ name: 'localhost', protocol: 'http/1.1', isResumed: false }]);
});

t.test('the next connection goes on with the session of the one before', async (t) => {
  const { port, seen } = await startSecure(t, true);
  t.same(await callsOf(`https://localhost:${port}/`, { count: 3 }), ['200', '200', '200']);
  t.same(
    seen.map(({ isResumed }) => isResumed),
    [false, true, true],
  );
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
