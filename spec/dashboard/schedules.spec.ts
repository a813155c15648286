import t from 'tap';
import { axeFindings, closeBrowser, openWorld } from '../support/browser.ts';
import { passTime } from '../support/page-pool.ts';

t.teardown(closeBrowser);

/** How long a note stands. */
const NOTE_MS = 7000;

interface Listed {
  readonly schedules: readonly {
    readonly id: string;
    readonly state: string;
    readonly every?: string;
    readonly cron?: string;
    readonly window: number | string;
  }[];
}

t.test('schedules are added, changed, run, paused, resumed and removed, on a phone and in both themes', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'A brief.' });
  await world.block('ada', {});
  const listed = async () => (await world.api<Listed>('GET', '/api/blocks/ada/schedule')).schedules;
  const page = await world.page('/ui/blocks/ada/schedule', { expected: [/400/] });
  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByText('The block has no schedules.').waitFor();
  await page.getByRole('button', { name: 'Add a schedule…' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Say when it runs.').waitFor();
  await page.getByLabel('Name').fill('brief');
  await page.getByLabel('When').fill('0 0 30 2 *');
  await page.getByLabel('Time zone').fill('Asia/Tokyo');
  await page.getByLabel('Message', { exact: true }).fill('Write the brief.');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('no such day exists').waitFor();
  await page.getByLabel('When').fill('0 8 * * *');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('08:00 Asia/Tokyo').first().waitFor();
  t.equal(await page.getByText('23:00 UTC').count(), 3, 'in both zones');
  t.match(await listed(), [{ id: 'brief', state: 'active', cron: '0 8 * * *', window: 3 }]);
  t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, 'nothing is wider than the phone');
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    t.strictSame(await axeFindings(page), [], colorScheme);
  }
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByText('answered').waitFor(); // told by the server, nothing asks again and again
  t.equal(await page.getByText('0 runs').count(), 0, 'one by hand is none of its runs');
  const chat = await world.page('/ui/blocks/ada');
  await chat.getByRole('heading', { name: 'Schedule brief' }).waitFor();
  await chat.close();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Somebody has paused it.').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('08:00 Asia/Tokyo').first().waitFor();
  await page.getByRole('button', { name: 'Change…' }).click();
  await page.getByRole('button', { name: 'Every', exact: true }).click();
  await page.getByLabel('When').fill('6h');
  await passTime(page, NOTE_MS, 'no note covers the foot of the dialog', async () => (await page.locator('.toast').count()) === 0);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('every 6h').waitFor();
  t.match(await listed(), [{ id: 'brief', every: '6h' }]);
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('The block has no schedules.').waitFor();
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await page.getByText('every 6h').waitFor();
});

t.test('what holds all schedules up stands above them, texts are texts, and keys lead to the tab', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.api('POST', '/api/blocks', {
    name: 'eve',
    config: { adapter: { provider: 'ollama', model: 'stand-in' }, schedule: [{ id: 'brief', cron: '@daily', message: '<img src=x onerror=alert(1)>' }] },
  });
  const page = await world.page('/ui/blocks/eve/schedule');
  await page.getByText('The monitor is stopped, so no schedule runs').waitFor();
  await page.getByText('<img src=x onerror=alert(1)>').waitFor();
  await page.keyboard.press('1');
  await page.getByText('Nothing has been said yet').waitFor();
  await page.keyboard.press('7');
  await page.getByText('Next runs').waitFor();
});

t.test('a hook is made with a secret that is shown once with a command that works, renewed and removed', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.api('POST', '/api/blocks', { name: 'eve', config: { adapter: { provider: 'ollama', model: 'stand-in' } } });
  const page = await world.page('/ui/blocks/eve/schedule');
  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByRole('button', { name: 'Add a hook…' }).click();
  await page.getByLabel('Name').fill('issues');
  await page.getByRole('button', { name: 'GitHub' }).click();
  await page.getByLabel('What the block is to do').fill('Sort it.');
  await page.getByRole('button', { name: 'Make the hook' }).click();
  const dialog = page.getByRole('dialog', { name: 'The secret of the hook' });
  const secret = await dialog.getByText(/^whsec_/).innerText();
  await dialog.locator('pre', { hasText: secret }).waitFor();
  t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  t.strictSame(await axeFindings(page), []);
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByText('GitHub, 60 an hour at most').waitFor();
  t.notMatch(await page.content(), secret.slice(6), 'shown once');
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    t.strictSame(await axeFindings(page), [], colorScheme);
  }
  await page.getByRole('button', { name: 'New secret' }).click();
  t.not(await dialog.getByText(/^whsec_/).innerText(), secret);
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('GitHub, 60 an hour at most').waitFor({ state: 'detached' });
  t.match(await world.api('GET', '/api/blocks/eve/hooks'), { hooks: [] });
});
