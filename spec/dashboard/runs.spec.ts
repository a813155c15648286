import t from 'tap';
import type { ToolCallRequest, ToolOutcome } from '../../core/index.ts';
import { axeFindings, closeBrowser, inWhole, looksOf } from '../support/browser.ts';
import { passTime } from '../support/page-pool.ts';
import { pay } from '../support/tools/calls.ts';
import { toolWorld } from '../support/tools/tool-world.ts';
import { until } from '../support/until.ts';

t.teardown(closeBrowser);
t.setTimeout(120_000);

/** Longer than any page waits between two readings. */
const IDLE_MS = 15_000;

t.test('below an answer stand its calls, which unfold to a line of time with results, costs and who has approved', async (t) => {
  const one = await toolWorld(t, {
    say: ({ results }) => {
      if (results.length === 0)
        return {
          text: 'I look first.',
          calls: [
            { name: 'bank__list', arguments: {} },
            { name: 'bank__fail', arguments: {} },
          ],
        };
      if (results.length === 2) return [pay('carl'), { name: 'bank__long', arguments: { characters: 60_000 } }];
      return results.length === 4 ? [pay('dora', { break: 'after' })] : 'All done.';
    },
  });
  if (one === undefined) return;
  const { world } = one;
  await one.add('ada', { servers: ['bank'], ask: ['bank/pay'], allow: ['bank/*'] });
  await one.post('ada', 'Pay them.');
  const page = await world.page('/ui/blocks/ada');
  for (const who of ['"carl"', '"dora"']) {
    await page.locator('[data-approval]').getByText(who).waitFor();
    await page.getByRole('button', { name: 'Allow once' }).click();
  }
  await page.getByText('All done.').waitFor();
  const run = page.locator('.steps');
  await run.getByText('5 calls of tools').waitFor();
  t.equal(await run.locator('.outcome-of').count(), 2, 'folded, only what did not end well is named');
  const unknown = run.locator('.outcome-of', { hasText: 'outcome not known' });
  const colourOf = (node: Element): string => getComputedStyle(node).color;
  t.not(await unknown.evaluate(colourOf), await run.locator('.outcome-of', { hasText: 'with an error' }).evaluate(colourOf), 'unknown has a colour of its own');
  await run.getByRole('button', { name: /5 calls/ }).click();
  await run.getByText('Allowed once on the page').nth(1).waitFor();
  t.equal(await run.getByText('Asked the model').count(), 4);
  for (const text of ['I look first.', 'The bank is closed.', 'Paid 5 to carl.', '"dora"', 'In all: $0.00'])
    await run.getByText(text, { exact: true }).waitFor();
  await run.getByRole('button', { name: 'Whole result' }).click();
  await run.getByRole('button', { name: /60,000 characters/ }).click();
  await page.waitForFunction(() => (document.querySelector('.steps')?.textContent?.match(/x/g) ?? []).length >= 60_000);
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 844 });
    t.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    t.strictSame(await axeFindings(page), [], String(width));
  }
});

t.test('a call that runs is seen while it runs, and nothing asks for it again and again', async (t) => {
  const one = await toolWorld(t, { say: ({ results }) => (results.length === 0 ? [pay('carl', { delayMs: 60_000 })] : 'Done.') });
  if (one === undefined) return;
  const { world } = one;
  await one.add('ada', { servers: ['bank'], allow: ['bank/*'] });
  const page = await world.page('/ui/blocks/ada');
  await page.getByText('Nothing has been said yet.').waitFor();
  await one.post('ada', 'Pay.');
  const live = page.locator('.log .acc', { hasText: 'bank/pay' });
  await live.waitFor();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  const ran = async (): Promise<number> => Number.parseFloat((await live.getByText(/^\d+(?:\.\d)? s$/).textContent()) ?? '');
  // What the call has changed may be read late. A page that asks again and again asks in each turn.
  for (let turn = 0; turn < 5 && (turn === 0 || asked.length > 0); turn += 1) {
    asked.length = 0;
    const from = await ran();
    await passTime(page, IDLE_MS, 'its time goes on', async () => (await ran()) > from);
    await world.rest(page);
  }
  t.strictSame(asked, []);
  await one.host.close();
  await live.waitFor({ state: 'detached' });
  await page.getByText('Done.').waitFor();
});

t.test('a call that goes on says how far it is, in the words of its server, and so does one that began before the page', inWhole, async (t) => {
  const one = await toolWorld(t, { say: ({ results }) => (results.length === 0 ? [pay('carl')] : 'All done.') });
  if (one === undefined) return;
  let made: ToolCallRequest | undefined;
  let end = (): void => undefined;
  one.host.call = async (call) => {
    made = call;
    await call.onTask?.({ taskId: 'task-1', ttlMs: null, pollMs: 1000 });
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    return { kind: 'result', isError: false, parts: [{ type: 'text', text: 'Booked.' }], ms: 1 };
  };
  await one.add('ada', { servers: ['bank'], allow: ['bank/*'] });
  await one.post('ada', 'Book.');
  await until('the call runs', () => made !== undefined);
  const page = await one.world.page('/ui/blocks/ada');
  const events = await one.world.page('/ui/events');
  const live = page.locator('.log .acc', { hasText: 'bank/pay' });
  await page.waitForLoadState('networkidle');
  let step = 0;
  const says = setInterval(() => {
    step += 1;
    made?.onProgress?.({ isTask: true, progress: step, total: 100_000, message: 'Looking <b>up</b>\u200b seats' });
  }, 20);
  t.teardown(() => clearInterval(says));
  await live.getByText(/\d+ of 100000 Looking <b>up<\/b> seats/).waitFor();
  clearInterval(says);
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 844 });
    t.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    t.strictSame(await axeFindings(page), [], String(width));
  }
  const said = events.locator('tr', { hasText: 'tool.progressed' });
  await said.first().waitFor();
  t.equal(await said.count(), 1, 'of all that it has said, the events show the newest');
  if (process.env['SHOTS'] !== undefined) await events.screenshot({ path: `${process.env['SHOTS']}/events.png` });
  end();
  await page.getByText('All done.').waitFor();
  t.equal(await live.count(), 0);
});

t.test(
  'what a server asks in a call, the answer of a person, and that it goes on as a task stand in the line of time, in words and at each width',
  async (t) => {
    const one = await toolWorld(t, { say: ({ results }) => (results.length === 0 ? [pay('carl')] : 'All done.') });
    if (one === undefined) return;
    const schema = { type: 'object', properties: { name: { type: 'string', title: 'Name on the ticket' } }, required: ['name'] };
    const requests = { who: { method: 'elicitation/create', params: { mode: 'form', message: 'Who <b>travels</b>?\u200b', requestedSchema: schema } } };
    one.host.call = async ({ input, onTask }) => {
      if (input === undefined) return { kind: 'input-required', requests, requestState: 's', ms: 1 } as unknown as ToolOutcome;
      await onTask?.({ taskId: 'task-1', ttlMs: null, pollMs: 1000 });
      return { kind: 'result', isError: false, parts: [{ type: 'text', text: 'Booked.' }], ms: 1 };
    };
    await one.add('ada', { servers: ['bank'], allow: ['bank/*'] });
    await one.post('ada', 'Book.');
    const page = await one.world.page('/ui/blocks/ada');
    await page.getByLabel('Name on the ticket').fill('Ada Lovelace');
    await page.getByRole('button', { name: 'Send the answer' }).click();
    await page.getByText('All done.').waitFor();
    const run = page.locator('.steps');
    await run.getByRole('button', { name: /1 call/ }).click();
    await run.getByText('The server asked: Who <b>travels</b>?').waitFor();
    await run.getByText('U+200B').waitFor();
    await run.getByText('"Ada Lovelace"').waitFor();
    await run.getByText('The server goes on with it as a task').waitFor();
    const text = (await run.textContent()) ?? '';
    const order = ['The server asked', 'Answered on the page', 'Ada Lovelace', 'goes on with it as a task', 'Booked.'].map((part) => text.indexOf(part));
    t.ok(
      order.every((at, index) => at > (order[index - 1] ?? -1)),
      `in their order: ${order}`,
    );
    for (const { width, colorScheme } of looksOf(390, 900, 1440)) {
      await page.setViewportSize({ width, height: 844 });
      await page.emulateMedia({ colorScheme });
      t.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
      t.strictSame(await axeFindings(page), [], `${width} ${colorScheme}`);
      const shots = process.env['SHOTS'];
      if (shots !== undefined) await page.screenshot({ path: `${shots}/run-${width}-${colorScheme}.png` });
    }
  },
);
