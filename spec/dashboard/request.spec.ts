// One request of the gateway: its own address, its attempts, and what was sent and answered as text.
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { axeFindings, closeBrowser, looksOf, openWorld, type World } from '../support/browser.ts';

t.teardown(closeBrowser);

const HOSTILE = '<img src="/x" onerror="document.title=1"><b>bold</b>';

async function ask(world: World, key: string, id: string, content: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-request-id': id };
  const body = JSON.stringify({ adapter: 'ollama', model: 'stand-in', messages: [{ role: 'user', content }] });
  await (await fetch(`${world.url}/v1/chat`, { method: 'POST', headers, body })).text();
}

/** A key that is debugged, with one request that was repeated once. */
async function furnish(t: Test): Promise<{ readonly world: World; readonly key: string } | undefined> {
  const world = await openWorld(t);
  if (world === undefined) return undefined;
  world.standIn.onMessage(/./, { content: `An answer with ${HOSTILE}` });
  const { key } = await world.api<{ key: string }>('POST', '/api/keys', { name: 'web-app' });
  await world.api('POST', '/api/keys/web-app/debug', { minutes: 30 });
  world.standIn.nextRequestError(503, { message: 'overloaded' });
  await ask(world, key, 'one-request', `Why ${HOSTILE}?`);
  return { world, key };
}

async function overflows(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
}

t.test('a click on a request leads to it: attempts with their causes, times, tokens, caller, and the bodies as text', async (t) => {
  const furnished = await furnish(t);
  if (furnished === undefined) return;
  const { world } = furnished;
  const page = await world.page('/ui/gateway');
  await page.getByRole('button', { name: 'Last 500 1' }).click();
  await page.locator('.opens td', { hasText: 'stand-in' }).click();
  await page.getByRole('heading', { name: 'one-request' }).waitFor();
  t.match(page.url(), /\/ui\/gateway\?request=one-request$/, 'a link that can be sent');
  const main = page.locator('main');
  await main.getByText('UPSTREAM_FAILED, 503 · again after').waitFor();
  t.equal(await main.locator('.attempts li').count(), 2);
  for (const text of ['web-app', 'ollama/stand-in', '/v1/chat (chat)', '2 attempts', '$0.00']) t.ok((await main.innerText()).includes(text), text);
  t.equal(await main.locator('.attempts li').nth(1).locator('.bars i').count(), 3);
  const bodies = await main.locator('.bodies pre').allInnerTexts();
  t.match(bodies[0], /^\{\n {2}"adapter": "ollama",/, 'readable JSON');
  for (const body of bodies) t.ok(body.includes('onerror='), 'what was written, as text');
  t.equal(await main.locator('.bodies img, .bodies b').count(), 0);
  t.not(await page.title(), '1');
  await page.getByRole('link', { name: 'All requests' }).click();
  await page.getByRole('button', { name: 'Last 500 1' }).waitFor();
});

t.test('its address opens it, in every width and theme; one that is not known is said to be so', async (t) => {
  const furnished = await furnish(t);
  if (furnished === undefined) return;
  const { world } = furnished;
  for (const { width, colorScheme: theme } of looksOf(390, 768, 1440)) {
    const page = await world.page('/ui/gateway?request=one-request', { width, theme });
    await page.locator('.bodies pre').first().waitFor();
    t.notOk(await overflows(page), `${width} ${theme}`);
    t.same(await axeFindings(page), [], `${width} ${theme}`);
    const folder = process.env['BLOCKHOUSE_SHOTS'];
    if (folder !== undefined) await page.screenshot({ path: `${folder}/request-${width}-${theme}.png`, fullPage: true });
    await world.leave(page);
  }
  const page = await world.page('/ui/gateway?request=other', { expected: [/404/] });
  await page.getByText('not known any more').waitFor();
});

t.test('a request that is debugged no longer says how to debug one; the list of keys says until when, and ends it', async (t) => {
  const furnished = await furnish(t);
  if (furnished === undefined) return;
  const { world, key } = furnished;
  const page = await world.page('/ui/gateway?tab=programs');
  await page.getByText(/What it sends and gets is kept until \d\d:\d\d/).waitFor();
  t.same(await axeFindings(page), []);
  await page.getByRole('button', { name: 'Stop keeping bodies' }).click();
  await page.getByText(/kept until/).waitFor({ state: 'detached' });
  await ask(world, key, 'later', 'x');
  await world.show(page, '/ui/gateway?request=later');
  await page.getByText('blockhouse key debug').waitFor();
  t.equal(await page.locator('.bodies').count(), 0);
});
