import t, { type Test } from 'tap';
import type { ToolOutcome } from '../../core/tools/port.ts';
import { axeFindings, closeBrowser, inWhole, looksOf } from '../support/browser.ts';
import { pay } from '../support/tools/calls.ts';
import { type ToolWorld, toolWorld } from '../support/tools/tool-world.ts';
import type { Seen } from '../support/tools/tool-model.ts';
import { until } from '../support/until.ts';

t.teardown(closeBrowser);
t.setTimeout(120_000);

/** Pays whom the message names, then tells how it went. */
const say = ({ results, question }: Seen) => (results.length === 0 ? [pay(question)] : `Result: ${results.at(-1)}`);

const effects = ({ host }: ToolWorld) => host.calls.map(({ arguments: { to } }) => to);

t.test('the bell counts the calls that wait, and the inbox decides about them by key and by button', async (t) => {
  const one = await toolWorld(t, { say });
  if (one === undefined) return;
  const { world } = one;
  const page = await world.page('/ui/');
  await one.add('ada');
  await one.add('bob', { servers: ['bank'], ask: ['*'], approvals: { timeoutMs: 3_600_000 } });
  await one.post('ada', 'carl');
  await one.post('bob', 'dora');
  await page.locator('.side .nav', { hasText: 'Inbox' }).locator('.badge', { hasText: '2' }).waitFor();
  await page.waitForFunction(() => document.title.startsWith('(2)'));
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await page.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor();
  const cards = page.locator('[data-approval]');
  await cards.nth(1).waitFor();
  t.match(await cards.first().textContent(), /bob.*"dora".*may change things/s, 'the next deadline comes first');
  await page.keyboard.press('a');
  await page.keyboard.press('Enter');
  t.equal(await page.locator('.approval.decided').count(), 0, 'without a card in focus, no key decides');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  t.equal(await page.locator('.approval.decided').count(), 0, 'Enter decides nothing');
  await page.keyboard.press('a');
  await cards.first().getByText('Allowed once by you').waitFor();
  await page.keyboard.press('a');
  await page.keyboard.press('j');
  t.match(await page.evaluate(() => document.activeElement?.textContent), /ada/);
  await page.keyboard.press('k');
  await page.keyboard.press('j');
  await page.keyboard.press('d');
  await cards.nth(1).getByText('Denied by you').waitFor();
  await page.locator('.badge').first().waitFor({ state: 'detached' });
  await page.waitForFunction(() => !document.title.startsWith('('));
  await until('the call that was allowed has run', () => effects(one).length > 0);
  t.strictSame(effects(one), ['dora']);
  await page.keyboard.press('g');
  await page.keyboard.press('f');
  await page.getByRole('heading', { name: 'Fleet' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await page.getByText('Nothing waits for you.').waitFor();
});

/** The ids of the calls that wait, once there are so many. */
async function waiting({ core }: ToolWorld, calls: number) {
  for (;;) {
    const { approvals } = await core.blocks.approvals();
    if (approvals.length >= calls) return approvals;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

t.test('a card that somebody else decides stays and says who; a decision that comes too late is told in words', async (t) => {
  const one = await toolWorld(t, { say });
  if (one === undefined) return;
  const { world } = one;
  await one.add('ada');
  await one.post('ada', 'carl');
  const [call] = await waiting(one, 1);
  const page = await world.page('/ui/inbox', { expected: [/409/] });
  const card = page.locator('[data-approval]');
  await card.getByText('"carl"').waitFor();
  await page.route(`**/api/approvals/${call?.id}`, async (route) => {
    // Somebody is faster, just before the decision of this page arrives.
    if (route.request().method() === 'POST')
      await world.api('POST', `/api/approvals/${call?.id}`, { decision: 'deny', digest: call?.digest, note: 'not on a Friday' });
    await route.continue();
  });
  await card.getByRole('button', { name: 'Allow once' }).click();
  await card.getByText('Denied over the API').waitFor();
  await card.getByText('not on a Friday').waitFor();
  t.equal(await card.getByRole('button').count(), 0, 'nothing is left to decide');
  t.strictSame(effects(one), []);
  await one.post('ada', 'dora');
  const [later] = await waiting(one, 1);
  await page.getByText('"dora"').waitFor();
  await world.api('POST', `/api/approvals/${later?.id}`, { decision: 'approve', digest: later?.digest });
  await page.getByText('Allowed once over the API').waitFor();
  t.equal(await card.count(), 2, 'both stay where they were');
});

t.test('what was shown is what is decided: a call that has changed meanwhile is told of', async (t) => {
  const one = await toolWorld(t, { say });
  if (one === undefined) return;
  const { world, host } = one;
  await one.add('ada');
  await one.post('ada', 'carl');
  await waiting(one, 1);
  const page = await world.page('/ui/inbox', { expected: [/409/] });
  host.tools = host.tools.map((tool) => ({ ...tool, pin: `${tool.pin}-2` }));
  await page.getByRole('button', { name: 'Allow once' }).click();
  await page
    .locator('[data-approval]')
    .getByText(/APPROVAL_STALE|changed/)
    .first()
    .waitFor();
  t.strictSame(effects(one), []);
});

t.test('a call is denied with a note, and allowed from now on by a rule that was shown before', async (t) => {
  const one = await toolWorld(t, { say });
  if (one === undefined) return;
  const { world, core } = one;
  await one.add('ada');
  const first = await one.post('ada', 'carl');
  const page = await world.page('/ui/blocks/ada');
  const card = page.locator('[data-approval]');
  await card.getByRole('button', { name: 'Deny with a note…' }).click();
  await page.getByLabel('Note for the model').fill('Ask for the invoice first.');
  await page.keyboard.press('a');
  await card.getByRole('button', { name: 'Deny', exact: true }).click();
  await page.getByText('Result:').waitFor();
  t.match(
    await core.blocks.run('ada', first),
    { records: [...Array(4).fill({}), { t: 'decision', note: 'Ask for the invoice first.a' }] },
    'letters typed are no keys',
  );
  await one.post('ada', 'dora');
  await card.getByText('"dora"').waitFor();
  await card.getByRole('button', { name: 'Other decisions' }).click();
  await page.getByRole('menuitem', { name: 'Always allow this tool…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('"tool": "bank/pay"').waitFor();
  await page.keyboard.press('Enter');
  t.strictSame((await core.blocks.config('ada')).tools?.allow, undefined, 'nothing is the default under Enter');
  await dialog.getByRole('button', { name: 'Always allow this tool' }).click();
  await page.getByText('Paid 5 to dora').waitFor();
  const shown = { tool: 'bank/pay', pin: 'pin-of-pay' };
  t.match((await core.blocks.config('ada')).tools?.allow, [shown]);
  t.strictSame(effects(one), ['dora']);
});

t.test('of a call whose outcome is not known, a person says what happened', async (t) => {
  const one = await toolWorld(t, { say: ({ results }) => (results.length === 0 ? [pay('carl', { break: 'after' })] : `Result: ${results.at(-1)}`) });
  if (one === undefined) return;
  const { world } = one;
  await one.add('ada', { servers: ['bank'], allow: ['bank/*'], onUnknown: 'ask' });
  await one.post('ada', 'pay');
  const page = await world.page('/ui/inbox');
  const card = page.locator('[data-approval]');
  await card.getByText('it may have taken effect').waitFor();
  await card.focus();
  await page.keyboard.press('a');
  t.equal(await card.getByRole('button', { name: 'Allow once' }).count(), 0, 'there is nothing to allow');
  await card.getByRole('button', { name: 'It ran…' }).click();
  await page.getByLabel('Note for the model').fill('I saw it on the statement.');
  await card.getByRole('button', { name: 'It ran', exact: true }).click();
  await card.getByText('It ran by you').waitFor();
  t.equal(one.host.calls.length, 1, 'it is not called again');
});

const FORM = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name on the ticket', description: 'As in the passport', minLength: 2, maxLength: 40 },
    day: { type: 'string', format: 'date', title: 'Day of travel' },
    seats: { type: 'integer', title: 'Seats', minimum: 1, maximum: 9, default: 1 },
    class: { type: 'string', title: 'Class', enum: ['economy', 'business'], enumNames: ['Economy', 'Business'] },
    extras: {
      type: 'array',
      title: 'Extras',
      items: { type: 'string', enum: ['bag', 'meal', `insurance for ${'a very long journey there and '.repeat(3)}back`] },
    },
    terms: { type: 'boolean', title: 'I accept the terms', default: false },
  },
  required: ['name', 'seats', 'class', 'terms'],
};

/** Asks before it pays. */
async function asking(t: Test) {
  const one = await toolWorld(t, { say });
  if (one === undefined) return undefined;
  const requests = { who: { method: 'elicitation/create', params: { mode: 'form', message: 'Who travels?', requestedSchema: FORM } } };
  const answers: unknown[] = [];
  one.host.call = async ({ input }) => {
    if (input === undefined) return { kind: 'input-required', requests, requestState: 's', ms: 1 } as unknown as ToolOutcome;
    answers.push(input.responses);
    return { kind: 'result', isError: false, parts: [{ type: 'text', text: 'Booked.' }], ms: 1 };
  };
  await one.add('ada', { servers: ['bank'], allow: ['bank/*'] });
  await one.post('ada', 'carl');
  return Object.assign(one, { answers });
}

t.test('what a server asks is answered on its card; a wrong field says so, has the focus, and keeps the others as they were typed', async (t) => {
  const one = await asking(t);
  if (one === undefined) return;
  const page = await one.world.page('/ui/inbox', { expected: [/400/] });
  const card = page.locator('[data-approval]');
  const send = card.getByRole('button', { name: 'Send the answer' });
  const name = card.getByLabel('Name on the ticket (required)');
  await card.getByText('As in the passport · 2 to 40 characters').waitFor();
  await card.getByLabel('Day of travel').fill('2026-12-24');
  await card.getByRole('group', { name: 'Extras' }).getByLabel('meal').check();
  await card.getByLabel('Class').selectOption('Business');
  await card.getByLabel('I accept the terms').selectOption('Yes');
  await send.click();
  await card.getByText('Name on the ticket must be answered.').waitFor();
  t.ok(await name.evaluate((field) => field === document.activeElement), 'the focus is where the fault is');
  t.equal(await name.getAttribute('aria-invalid'), 'true');
  t.equal(await card.getByRole('alert').count(), 0, 'nothing else says it in the words of the API');
  await name.fill('Ada');
  await card.getByLabel('Seats').fill('many');
  await send.click();
  await card.getByText('Seats must be a number.').waitFor();
  t.equal(await name.getAttribute('aria-invalid'), 'false');
  await card.getByLabel('Seats').fill('2');
  await send.click();
  await card.getByText('Answered by you').waitFor();
  const content = { name: 'Ada', day: '2026-12-24', seats: 2, class: 'business', extras: ['meal'], terms: true };
  await page.goto(`${one.world.url}/ui/blocks/ada`);
  await page.getByText('Booked.').first().waitFor();
  t.strictSame(one.answers, [{ who: { action: 'accept', content } }]);
});

t.test('a form fits at each width and in both themes', inWhole, async (t) => {
  const one = await asking(t);
  if (one === undefined) return;
  const page = await one.world.page('/ui/inbox');
  const card = page.locator('[data-approval]');
  await card.getByLabel('Class').waitFor();
  for (const { width, colorScheme } of looksOf(390, 900, 1440)) {
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme });
    const within = await card.evaluate((box) =>
      [...box.querySelectorAll('*')].every((each) => each.getBoundingClientRect().right <= box.getBoundingClientRect().right),
    );
    t.ok(within, `nothing stands out at ${width}`);
    t.strictSame(await axeFindings(page), [], `${width} ${colorScheme}`);
  }
  await card.getByRole('button', { name: 'Decline' }).click();
  await card.getByText('Declined by you').waitFor();
});

t.test('what a tool or a model says is text, with a name for what nobody can see, at 390 pixels and in both themes', async (t) => {
  const evil = '<img src=x onerror=globalThis.pwned=1>\u202egnp\u200b שלום';
  const long = Array.from({ length: 40 }, (_, index) => `line ${index} ${'x'.repeat(60)}`).join('\n');
  const one = await toolWorld(t, { say: ({ results }) => (results.length === 0 ? [pay(evil, { break: long })] : 'Done.') });
  if (one === undefined) return;
  const { world } = one;
  await one.add('ada');
  await one.post('ada', evil);
  const page = await world.page('/ui/inbox');
  const card = page.locator('[data-approval]');
  await card.getByText('<img src=x onerror=globalThis.pwned=1>').waitFor();
  await card.getByText('U+202E').waitFor();
  await card.getByText('U+200B').waitFor();
  t.equal(await card.getByText('line 30').count(), 0, 'a long text is folded');
  await card.getByRole('button', { name: /^Show all/ }).click();
  await card.getByText('line 39').waitFor();
  for (const path of ['/ui/inbox', '/ui/blocks/ada'])
    for (const { width, colorScheme } of looksOf(390, 1440)) {
      await page.setViewportSize({ width, height: 844 });
      await page.emulateMedia({ colorScheme });
      await world.reach(page, path);
      await card.waitFor();
      t.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, `${path} is not wider than ${width}`);
      t.strictSame(await axeFindings(page), [], `${path} ${width} ${colorScheme}`);
    }
  t.equal(await page.evaluate(() => (globalThis as { pwned?: number }).pwned), undefined);
});
