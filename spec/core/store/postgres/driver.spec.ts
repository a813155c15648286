import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { openClient, openPool } from '../../../../core/store/postgres/driver.ts';
import { noPostgres, postgresStore } from '../../../support/postgres.ts';

t.test('without the package, the command that installs it is named', async (t) => {
  const missing = () => Promise.reject(Object.assign(new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' }));
  await t.rejects(openPool({}, missing), { code: 'INVALID_REQUEST', message: /`npm install pg`/ });
  await t.rejects(
    openPool({}, () => Promise.reject(new Error('broken'))),
    { message: 'broken' },
  );
});

t.test('counts and sums of money are numbers, times are dates', { skip: noPostgres }, async (t) => {
  const url = new URL(await postgresStore(t));
  url.search = '';
  const pool = await openPool({ connectionString: url.href });
  t.teardown(() => pool.end());
  const { rows } = await pool.query(
    "select 5::bigint as count, 0.000000001::numeric(18, 9) as usd, timestamptz '2026-01-02T03:04:05.678Z' as at, '[1]'::jsonb as list",
  );
  t.strictSame(rows, [{ count: 5, usd: 1e-9, at: new Date('2026-01-02T03:04:05.678Z'), list: [1] }]);
});

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f]);

/** Asks each client for its password in clear, as any program on the port of a database can. With `tls`, it encrypts first where it is asked to. */
async function askerInClear(t: Test, { socket, tls }: { readonly socket?: string; readonly tls?: SecureContext } = {}) {
  let heard = '';
  const answer = (client: Socket): void => {
    client
      .on('error', () => undefined)
      .on('data', (bytes) => {
        heard += bytes.toString('latin1');
        if (bytes.equals(SSL_REQUEST)) {
          client.removeAllListeners('data').write('S');
          answer(new TLSSocket(client, { isServer: true, ...(tls !== undefined && { secureContext: tls }) }));
        } else if (bytes[0] === 0x70)
          client.end(); // the password
        else client.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
      });
  };
  const server = createServer(answer);
  server.listen(socket ?? { port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { port: socket === undefined ? (server.address() as AddressInfo).port : 5432, heard: () => heard };
}

t.test('a password goes in clear over no connection that is not encrypted', async (t) => {
  const { port, heard } = await askerInClear(t);
  const connectionString = `postgres://ada:not-in-clear@127.0.0.1:${port}/db`;
  const refused = { code: 'STORE_UNREACHABLE', retryable: false, message: /wants the password in clear.*sslmode=verify-full/ };
  const pool = await openPool({ connectionString });
  t.teardown(() => pool.end());
  await t.rejects(pool.connect(), refused);
  const client = await openClient({ connectionString });
  await t.rejects(client.connect(), refused);
  t.match(heard(), /ada.*ada/s);
  t.notMatch(heard(), /not-in-clear/);
});

t.test('the system keeps others away from a socket in a folder', { skip: process.platform === 'win32' }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bh-')); // the name of a socket is short
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const { heard } = await askerInClear(t, { socket: join(folder, '.s.PGSQL.5432') });
  const client = await openClient({ host: folder, port: 5432, user: 'ada', password: 'in-clear', database: 'db' });
  await t.rejects(client.connect());
  t.match(heard(), /in-clear/);
});

t.test('over TLS it goes as the database asks for it', async (t) => {
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(resolve(import.meta.dirname, '../../../support/tls', name)));
  const { port, heard } = await askerInClear(t, { tls: createSecureContext({ key, cert }) });
  const client = await openClient({ host: '127.0.0.1', port, user: 'ada', password: 'encrypted', database: 'db', ssl: { rejectUnauthorized: false } });
  await t.rejects(client.connect());
  t.match(heard(), /encrypted/);
});
