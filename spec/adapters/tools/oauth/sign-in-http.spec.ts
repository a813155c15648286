// What a sign-in takes over HTTP, and where it does not go.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { SignInFault } from '../../../../adapters/tools/oauth/places.ts';
import { SignInHttp } from '../../../../adapters/tools/oauth/sign-in-http.ts';
import { closedPort } from '../../../support/adapter-call.ts';

const signal = new AbortController().signal;

async function serving(t: Test, answer: { status?: number; headers?: Record<string, string>; body: string }) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const http = new SignInHttp();
  t.teardown(() => http.close());
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/x`);
  return { http, url, asked, get: () => http.get(url, new Set([url.origin]), signal) };
}

t.test('an answer is an object of JSON of a bounded size', async (t) => {
  t.strictSame(await (await serving(t, { body: '{"a":1}' })).get(), { status: 200, body: { a: 1 } });
  for (const body of ['[1]', 'no', '', '{"a":', `{"a":"${'x'.repeat(300_000)}"}`, `{"a":${'['.repeat(30)}${']'.repeat(30)}}`])
    t.strictSame(await (await serving(t, { body })).get(), { status: 200, body: undefined }, body.slice(0, 30));
});

t.test('no redirect is followed', async (t) => {
  const { get, asked } = await serving(t, { status: 302, headers: { location: '/elsewhere' }, body: '{}' });
  t.match(await get(), { status: 302 });
  t.strictSame(asked, ['/x']);
});

t.test('what nobody has named is not reached on this machine, and what is not there is said', async (t) => {
  const { http, url, asked } = await serving(t, { body: '{}' });
  await t.rejects(http.get(url, new Set(), signal), { message: /^its sign-in leads to http:\/\/127\.0\.0\.1:\d+, .*name it yourself as the issuer$/ });
  await t.rejects(http.post(url, {}, {}, new Set(), signal), { message: /^its sign-in leads to/ });
  t.strictSame(asked, []);
  const gone = new URL(`http://127.0.0.1:${await closedPort()}/`);
  const error = await http.get(gone, new Set([gone.origin]), signal).catch((fault: unknown) => fault);
  t.ok(error instanceof SignInFault);
  t.match(error, { message: /can't be reached \(UPSTREAM_UNREACHABLE\)$/ });
  await t.rejects(http.get(url, new Set([url.origin]), AbortSignal.abort()), { message: /has not answered in time/ });
  await t.rejects(http.get(new URL('http://auth.example/'), new Set(['http://auth.example']), signal), { message: /is not over https/ });
  await t.rejects(http.get(new URL('https://169.254.169.254/'), new Set(['https://169.254.169.254']), signal), { message: /where no call may go$/ });
});
