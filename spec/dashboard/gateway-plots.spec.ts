import t from 'tap';
import { closeBrowser, openWorld } from '../support/browser.ts';

t.teardown(closeBrowser);

const POINTS = 180;

t.test('the plots of the gateway count a few requests, and show the rate of many', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Good.' });
  const body = { adapter: 'ollama', model: 'stand-in', messages: [{ role: 'user', content: 'Hello' }] };
  for (let turn = 0; turn < 3; turn += 1) await world.api('POST', '/v1/chat', body);
  let factor = 1;
  const page = await world.page('/ui/gateway', {
    prepare: (opened) =>
      opened.route('**/api/gateway?*', async (route) => {
        const response = await route.fetch();
        const figures = (await response.json()) as { adapters: { series: { requests: number; input: number; output: number }[] }[] };
        for (const { series } of figures.adapters) for (const point of series) point.requests *= factor;
        await route.fulfill({ response, json: figures });
      }),
  });
  const plot = page.locator('.plots section').first();
  const head = plot.locator('h2');
  await head.getByText('in steps of 5 s').waitFor();
  t.match(await head.innerText(), /^Requests, in steps of 5 s\s+3$/);
  await plot.locator('.drawn text.up').first().waitFor();
  const marks = await plot.locator('.drawn text.up').allTextContents();
  t.ok(
    marks.every((mark) => Number.isInteger(Number(mark))),
    `no part of a request: ${marks.join()}`,
  );
  t.match(await page.locator('.plots section').nth(2).locator('h2').innerText(), /^Tokens, in steps of 5 s\s+\d+$/);
  await page.keyboard.press('t');
  const cells = await plot.locator('.plot-table td:nth-child(2)').allInnerTexts();
  t.ok(cells.length < POINTS, 'the table has fewer rows than there are points');
  t.equal(
    cells.reduce((sum, cell) => sum + Number(cell), 0),
    3,
    'and none of the requests is missing in it',
  );
  factor = 100;
  await page.reload();
  await head.getByText('Requests a minute').waitFor();
  t.notMatch(await head.innerText(), /steps/);
});
