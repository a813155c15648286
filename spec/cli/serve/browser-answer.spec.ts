// Where a browser comes back at the end of a sign-in.
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { browserAnswer } from '../../../cli/serve/browser-answer.ts';

const ever = new AbortController().signal;

async function listening(t: Test) {
  const place = await browserAnswer();
  t.teardown(() => place.close());
  return place;
}

t.test('only an answer with the state of this sign-in is taken, and nothing of it is shown', async (t) => {
  const place = await listening(t);
  t.match(place.redirectURI, /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  t.equal((await fetch(`${place.redirectURI}?state=s`)).status, 404, 'before anything is waited for');
  const answer = place.wait('s', ever);
  for (const [path, init] of [
    ['?state=x', {}],
    ['', {}],
    ['/more?state=s', {}],
    ['?state=s', { method: 'POST' }],
  ] as const)
    t.equal((await fetch(place.redirectURI + path, init)).status, 400, path);
  const { port } = new URL(place.redirectURI);
  const foreign = await new Promise((resolve) => {
    request({ port, host: '127.0.0.1', path: '/callback?state=s', headers: { host: `evil.example:${port}` } }, ({ statusCode }) => resolve(statusCode)).end();
  });
  t.equal(foreign, 400, 'a name that was made to lead here');
  const taken = await fetch(`${place.redirectURI}?code=CODE&state=s&iss=%3Cb%3E`);
  t.equal(taken.status, 200);
  t.notMatch(await taken.text(), /CODE|<b>/);
  t.match(Object.fromEntries(taken.headers), {
    'content-security-policy': /default-src 'none'/,
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
  t.equal(await answer, 'code=CODE&state=s&iss=%3Cb%3E');
});

t.test('a wait ends with its signal, and a port that is taken is an error', async (t) => {
  const place = await listening(t);
  const leaving = new AbortController();
  const answer = place.wait('s', leaving.signal);
  leaving.abort(new Error('left'));
  await t.rejects(answer, { message: 'left' });
  await t.rejects(browserAnswer(Number(new URL(place.redirectURI).port)), { code: 'EADDRINUSE' });
});

t.test('a half request of another program does not keep the place open: the command would not end for a minute', async (t) => {
  const place = await listening(t);
  const socket = connect(Number(new URL(place.redirectURI).port), '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.on('error', () => undefined); // it is reset
  const ended = once(socket, 'close').then(() => 'ended');
  await new Promise((resolve) => socket.write('GET /callback HTTP/1.1\r\n', resolve));
  const answer = place.wait('s', ever);
  await fetch(`${place.redirectURI}?state=s`).then((response) => response.text());
  await answer;
  place.close();
  t.equal(await Promise.race([ended, delay(20_000, 'open', { ref: false })]), 'ended');
});
