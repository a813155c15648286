import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { documentTo } from '../../cli/serve/page-link.ts';
import { closeBrowser, isWhole, openWorld } from '../support/browser.ts';
import { testFolder } from '../support/test-folder.ts';

t.teardown(closeBrowser);

t.test('at the door of one server:', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;

  await t.test('case 2: after signing in by a link, no place in the browser holds the code', async (t) => {
    const { code } = await world.api<{ readonly code: string }>('POST', '/api/session/code');
    const console: string[] = [];
    const page = await world.page(`/ui/gateway?window=90m#code=${code}`, { signedOut: true });
    page.on('console', (message) => console.push(message.text()));
    await page.getByRole('heading', { name: 'Gateway' }).waitFor();
    await page.waitForFunction(() => !performance.getEntriesByType('navigation').some(({ name }) => name.includes('#code')));
    const places = await page.evaluate(() => [
      location.href,
      JSON.stringify(history.state),
      JSON.stringify(performance.getEntries()),
      JSON.stringify(localStorage),
      JSON.stringify(sessionStorage),
    ]);
    for (const place of [...places, ...console]) t.notOk(place.includes(code), place.slice(0, 80));
    await world.leave(page);
  });

  await t.test('case 2: a wrong code leaves the address, too, and the form comes', async (t) => {
    const page = await world.page('/ui/#code=wrongwrongwrongwrong22', { signedOut: true, expected: [/401/] });
    await page.getByRole('heading', { name: 'Sign in to Blockhouse' }).waitFor();
    t.equal(new URL(page.url()).hash, '');
    await page.getByLabel('Token').fill(world.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Blockhouse runs.' }).waitFor();
    const kept = await page.evaluate(() => JSON.stringify(localStorage) + JSON.stringify(sessionStorage));
    t.notOk(kept.includes(world.token), 'the token is exchanged and forgotten');
    await world.leave(page);
  });

  await t.test('case 2: a link with a code signs in also in a tab that has the page already', async (t) => {
    const page = await world.page('/ui/', { signedOut: true });
    await page.getByRole('heading', { name: 'Sign in to Blockhouse' }).waitFor();
    const { code } = await world.api<{ readonly code: string }>('POST', '/api/session/code');
    await page.goto(`${world.url}/ui/#code=${code}`);
    await page.locator('.app').waitFor();
    t.notMatch(page.url(), code);
    await world.leave(page);
  });

  await t.test('the file of `blockhouse open` signs in, and the way back does not lead to it', async (t) => {
    const { code } = await world.api<{ readonly code: string }>('POST', '/api/session/code');
    const file = join(testFolder(t), 'sign-in.html');
    writeFileSync(file, documentTo(`${world.url}/ui/#code=${code}`));
    const page = await world.page('/ui/assets/none', { signedOut: true, expected: [/404/, /request to null/] });
    await page.goto('about:blank');
    const before = await page.evaluate(() => history.length);
    await page.goto(pathToFileURL(file).href, { waitUntil: 'commit' }).catch(() => undefined); // the page is left at once
    await page.locator('.app').waitFor();
    t.notMatch(page.url(), code);
    t.equal(await page.evaluate(() => history.length), before + 1, 'the file is replaced by the page');
    await world.leave(page);
  });

  await t.test('case 4: there are no cookies', async (t) => {
    const page = await world.page();
    await page.getByRole('heading', { name: 'Blockhouse runs.' }).waitFor();
    t.equal(await page.evaluate(() => document.cookie), '');
    t.same(await page.context().cookies(), []);
    await world.leave(page);
  });
});

t.test('case 5: a page of another loopback port reads nothing, sends nothing, opens no socket and finds no session beside a signed-in dashboard', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada');
  const page = await world.page();
  await page.getByRole('heading', { name: 'Fleet' }).waitFor();
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><title>Another</title>'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const other = await page.context().newPage();
  await other.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const got = await other.evaluate(async (url) => {
    const tried = async (path: string, init: RequestInit): Promise<string> => {
      try {
        const response = await fetch(url + path, init);
        return `${response.type} ${response.status} ${await response.text()}`;
      } catch {
        return 'nothing';
      }
    };
    const opened = (address: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = new WebSocket(address);
        socket.onopen = () => resolve('open');
        socket.onerror = () => resolve('nothing');
      });
    const framed = (path: string): Promise<string> =>
      new Promise((resolve) => {
        const frame = document.createElement('iframe');
        frame.onload = () => resolve(frame.contentDocument === null ? 'nothing' : 'a document');
        frame.src = url + path;
        document.body.append(frame);
      });
    const message = JSON.stringify({ message: 'from another page' });
    return {
      list: await tried('/api/blocks', { credentials: 'include' }),
      opaque: await tried('/api/blocks', { mode: 'no-cors', credentials: 'include' }),
      json: await tried('/api/blocks/ada/chat', { method: 'POST', body: message, headers: { 'content-type': 'application/json' }, credentials: 'include' }),
      simple: await tried('/api/blocks/ada/chat', { method: 'POST', body: message, mode: 'no-cors', credentials: 'include' }),
      session: await tried('/api/session', { method: 'POST', body: '{}', mode: 'no-cors', credentials: 'include' }),
      socket: await opened(`${url.replace('http', 'ws')}/api/ws`),
      frame: await framed('/ui/'),
      kept: JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie,
    };
  }, world.url);
  t.match(got, { list: 'nothing', json: 'nothing', socket: 'nothing', frame: 'nothing', kept: '{}{}' });
  for (const answer of [got.opaque, got.simple, got.session]) t.ok(answer === 'nothing' || answer === 'opaque 0 ', answer);
  const { messages } = await world.api<{ readonly messages: readonly unknown[] }>('GET', '/api/blocks/ada/chat');
  t.same(messages, []);
  t.match(await page.evaluate(() => Object.keys(localStorage)), ['blockhouse.session'], 'the dashboard is signed in');
});

t.test('case 8: what an address says is shown and never done', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada');
  const page = await world.page('/ui/', { expected: [/404/] });
  await page.getByRole('heading', { name: 'Fleet' }).waitFor();
  const changing: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET' && !request.url().includes('/api/session')) changing.push(`${request.method()} ${request.url()}`);
  });
  const paths = [
    '/ui/blocks/ada?write=javascript:alert(1)&at=javascript:alert(1)',
    '/ui/blocks/..%2f..%2fapi%2fhalt',
    '/ui/?show=javascript:alert(1)&sort=__proto__&find=<img src=x onerror=alert(1)>',
    '/ui/?gatewayUrl=https://evil.example&token=x',
    '/ui/#/api/halt',
    '/ui/settings?key=javascript:alert(1)',
    '/ui/constructor',
  ];
  for (const path of isWhole ? paths : paths.slice(0, 3)) {
    await page.goto(world.url + path);
    await page.locator('main').waitFor();
  }
  t.same(changing, []);
  t.equal((await world.api<{ readonly halted: boolean }>('GET', '/api/halt')).halted, false);
});

t.test('case 14: when the session ends, the form comes over the page, and everything behind it is kept', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada', { expected: [/401/, /WebSocket/] });
  const field = page.getByRole('textbox', { name: 'Message ada…' });
  await field.fill('half a thought');
  await page.waitForFunction(() => Object.keys(localStorage).length > 1);
  const old = world.token;
  await promisify(execFile)(process.execPath, ['dist/cli/main.js', 'token', '--new-token', '--workspace', world.workspace]);
  t.not(world.token, old);
  await page.getByRole('dialog').getByRole('heading', { name: 'Sign in to Blockhouse' }).waitFor();
  t.equal(await page.locator('textarea').first().inputValue(), 'half a thought');
  await page.getByRole('dialog').getByLabel('Token').fill(world.token);
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  t.equal(await field.inputValue(), 'half a thought');
  await page.locator('.live', { hasText: 'Live' }).waitFor();
});
