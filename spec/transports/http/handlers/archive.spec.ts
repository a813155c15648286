import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createBlock, historyOf, RUNNABLE } from '../../../support/block-calls.ts';
import { responseOf, startServer, type TestServer } from '../../../support/server.ts';

async function archived(server: TestServer, name: string): Promise<string> {
  return (await server.call('DELETE', `/api/blocks/${name}`)).json['archiveName'] as string;
}

async function bytesOf(server: TestServer, name: string): Promise<{ readonly headers: Record<string, unknown>; readonly bytes: Buffer }> {
  const response = await responseOf(server.open('GET', `/api/blocks/${name}/export`));
  return { headers: response.headers, bytes: Buffer.concat(await response.toArray()) };
}

t.test('an archived block is listed, restored under its own or another name, and stopped', async (t) => {
  const server = await startServer(t);
  t.strictSame((await server.call('GET', '/api/archive')).json, { archives: [] });
  await createBlock(server, 'a', { ...RUNNABLE, description: 'kept' });
  await server.call('POST', '/api/blocks/a/chat', { body: { message: 'kept, too' } });
  const first = await archived(server, 'a');
  t.match((await server.call('GET', '/api/archive')).json, { archives: [{ archiveName: first, originalName: 'a', archivedAt: String, description: 'kept' }] });
  t.match(await server.call('POST', '/api/archive/a/restore'), { status: 200, json: { success: true, message: /a was restored/, name: 'a' } });
  t.match(await historyOf(server, 'a'), [{ content: 'kept, too' }]);
  t.strictSame((await server.call('GET', '/api/archive')).json, { archives: [] });

  const second = await archived(server, 'a');
  t.match(await server.call('POST', `/api/archive/${second}/restore`, { body: { name: 'b' } }), { status: 200, json: { name: 'b' } });
  t.match((await server.call('GET', '/api/blocks')).json, { blocks: [{ name: 'b', state: 'stopped', config: { description: 'kept' } }] });
});

t.test('a name that several archives share, or a block has, is a 409', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  const first = await archived(server, 'a');
  await createBlock(server, 'a');
  t.match(await server.call('POST', '/api/archive/a/restore'), { status: 409, json: { code: 'NAME_TAKEN' } });
  const second = await archived(server, 'a');
  for (const [method, rest] of [
    ['POST', '/restore'],
    ['DELETE', ''],
  ] as const) {
    const answer = await server.call(method, `/api/archive/a${rest}`);
    t.match(answer, { status: 409, json: { code: 'AMBIGUOUS_ARCHIVE' } }, method);
    for (const name of [first, second]) t.match(answer.json['error'], name);
  }
  t.match(await server.call('DELETE', `/api/archive/${first}`), { status: 200, json: { success: true, message: new RegExp(first) } });
  t.match(await server.call('DELETE', '/api/archive/a'), { status: 200, json: { message: new RegExp(second) } });
  t.strictSame((await server.call('GET', '/api/archive')).json, { archives: [] });
});

t.test('a bad name to restore under is a 400, an unknown archive a 404, and nothing else is touched', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  const name = await archived(server, 'a');
  for (const body of [{ name: '../x' }, { name: 'Upper' }, { name: 1 }, { as: 'x' }, []])
    t.match(await server.call('POST', `/api/archive/${name}/restore`, { body }), { status: 400, json: { code: 'INVALID_REQUEST' } }, JSON.stringify(body));
  const climbing = [
    '..',
    '.',
    '%2e%2e%2f',
    '..%2F..%2Fauth.json',
    '%2Fetc',
    '__proto__',
    'constructor',
    `${name}x`,
    'b_2020-01-01T00-00-00-000Z',
    '%00',
    'x'.repeat(300),
  ];
  for (const other of climbing) {
    t.match(await server.call('POST', `/api/archive/${other}/restore`), { status: 404, json: { code: 'ARCHIVE_NOT_FOUND' } }, other);
    t.match(await server.call('DELETE', `/api/archive/${other}`), { status: 404, json: { code: 'ARCHIVE_NOT_FOUND' } }, other);
  }
  t.match(await server.call('DELETE', '/api/archive/%zz'), { status: 404 });
  t.strictSame(readdirSync(join(server.workspace, 'archive')), [name]);
  t.ok(existsSync(join(server.workspace, '.api-token')));
});

t.test('a block leaves as a tar.gz and comes back under another name', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a', { description: 'travels' });
  await server.call('POST', '/api/blocks/a/chat', { body: { message: 'hi' } });
  const { headers, bytes } = await bytesOf(server, 'a');
  t.match(headers, {
    'content-type': 'application/gzip',
    'content-disposition': 'attachment; filename="a.tar.gz"',
    'content-length': String(bytes.length),
    'cache-control': 'no-store',
  });
  t.strictSame([...bytes.subarray(0, 2)], [0x1f, 0x8b]);

  const take = (query: string, body: Buffer | undefined = bytes, type = 'application/gzip') =>
    server.call('POST', `/api/import${query}`, { body, headers: { 'content-type': type } });
  t.match(await take(''), { status: 409, json: { code: 'NAME_TAKEN' } });
  t.strictSame((await take('?name=b')).json, { success: true, name: 'b' });
  t.match((await server.call('GET', '/api/blocks/b')).json, { config: { name: 'b', description: 'travels' }, pulse: { state: String } });
  t.match(await historyOf(server, 'b'), [{ content: 'hi' }]);
  await server.call('DELETE', '/api/blocks/a');
  t.match(await take(''), { status: 200, json: { name: 'a' } });

  for (const query of ['?name=', '?name=..', '?name=%2e%2e%2f', '?name=Upper', '?name=x&name=y'])
    t.match(await take(query), { status: 400, json: { code: 'INVALID_REQUEST' } }, query);
  t.match(await take('?name=c', Buffer.from('not a gzip')), { status: 400, json: { code: 'INVALID_REQUEST' } });
  t.match(await take('?name=c', bytes.subarray(0, bytes.length / 2)), { status: 400, json: { code: 'INVALID_REQUEST' } });
  t.match(await take('?name=c', bytes, 'application/json'), { status: 415, json: { error: /application\/gzip/ } });
  t.match(await server.call('POST', '/api/import?name=c'), { status: 400, json: { error: /empty/ } });
  t.strictSame(readdirSync(join(server.workspace, 'blocks')).sort(), ['a', 'b']);
});

t.test('an import takes 64 MiB at most', async (t) => {
  const server = await startServer(t);
  const request = server.open('POST', '/api/import', {
    headers: { 'content-type': 'application/gzip', 'content-length': String(64 * 1024 * 1024 + 1), expect: '100-continue' },
  });
  t.equal((await responseOf(request)).statusCode, 413);
  request.destroy();
});
