import t from 'tap';
import { axeFindings, closeBrowser, openWorld } from '../support/browser.ts';
import { ok } from '../support/notify/receiver.ts';
import { startUpstream } from '../support/upstream.ts';

t.teardown(closeBrowser);
t.setTimeout(120_000);

t.test('an address is told of what needs a person: added, tried and removed, with a secret that is shown once', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const receiver = await startUpstream(t, ok);
  const page = await world.page('/ui/settings?part=notifications', { expected: [/400/] });
  await page.getByRole('button', { name: 'Add an address…' }).click();
  const form = page.getByRole('dialog');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('1 to 32 characters').waitFor();
  await form.getByLabel('Name').fill('pager');
  await form.getByLabel('Address', { exact: true }).fill('ftp://somewhere');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.locator('.problem').waitFor();
  await form.getByLabel('Address', { exact: true }).fill(receiver.url);
  await form.getByLabel('a message is answered').check();
  await form.getByRole('button', { name: 'Save' }).click();
  const secret = (await page.getByRole('dialog').locator('.mono').textContent()) ?? '';
  t.match(secret, /^whsec_/);
  t.strictSame(await axeFindings(page), []);
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
  const part = page.locator('#part-notifications');
  await part.getByText('pager').waitFor();
  t.notMatch(await page.content(), secret, 'and nowhere else');
  t.match(await world.api('GET', '/api/notify'), {
    targets: [{ name: 'pager', events: ['approval.asked', 'message.failed', 'cap.reached', 'message.done'], blocks: null, links: false }],
  });
  await part.getByRole('button', { name: 'Test' }).click();
  await page.getByText('It has arrived.').first().waitFor();
  t.equal(receiver.requests.length, 1);
  await page.setViewportSize({ width: 390, height: 844 });
  t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  t.strictSame(await axeFindings(page), []);
  for (const answer of ['Cancel', 'Remove pager']) {
    await part.getByRole('button', { name: 'Remove' }).click();
    t.match(await world.api('GET', '/api/notify'), { targets: [{ name: 'pager' }] }, 'it asks first');
    await page.getByRole('dialog').getByRole('button', { name: answer }).click();
  }
  await part.getByText('pager').waitFor({ state: 'detached' });
});
