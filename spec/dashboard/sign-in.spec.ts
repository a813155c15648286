import t from 'tap';
import { closeBrowser, openWorld } from '../support/browser.ts';

t.teardown(closeBrowser);

t.test('case 2: after signing in by a link, no place in the browser holds the code', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
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
});

t.test('case 2: a wrong code leaves the address, too, and the form comes', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const page = await world.page('/ui/#code=wrongwrongwrongwrong22', { signedOut: true, expected: [/401/] });
  await page.getByRole('heading', { name: 'Sign in to Blockhouse' }).waitFor();
  t.equal(new URL(page.url()).hash, '');
  await page.getByLabel('Token').fill(world.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Fleet' }).waitFor();
  const kept = await page.evaluate(() => JSON.stringify(localStorage) + JSON.stringify(sessionStorage));
  t.notOk(kept.includes(world.token), 'the token is exchanged and forgotten');
});

t.test('case 4: there are no cookies', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const page = await world.page();
  await page.getByRole('heading', { name: 'Fleet' }).waitFor();
  t.equal(await page.evaluate(() => document.cookie), '');
  t.same(await page.context().cookies(), []);
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
  for (const path of [
    '/ui/?gatewayUrl=https://evil.example&token=x',
    '/ui/#/api/halt',
    '/ui/blocks/ada?write=javascript:alert(1)&at=javascript:alert(1)',
    '/ui/blocks/..%2f..%2fapi%2fhalt',
    '/ui/settings?key=javascript:alert(1)',
    '/ui/?show=javascript:alert(1)&sort=__proto__&find=<img src=x onerror=alert(1)>',
    '/ui/constructor',
  ]) {
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
  const { execFileSync } = await import('node:child_process');
  execFileSync(process.execPath, ['dist/cli/main.js', 'token', '--new-token', '--workspace', world.workspace]);
  t.not(world.token, old);
  await page.getByRole('dialog').getByRole('heading', { name: 'Sign in to Blockhouse' }).waitFor();
  t.equal(await page.locator('textarea').first().inputValue(), 'half a thought');
  await page.getByRole('dialog').getByLabel('Token').fill(world.token);
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  t.equal(await field.inputValue(), 'half a thought');
  await page.locator('.live', { hasText: 'Live' }).waitFor();
});
