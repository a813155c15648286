// What is seen: nothing is cut off, covered or out of line at the sizes that people use.
import type { Page } from 'playwright-core';
import t from 'tap';
import { axeFindings, closeBrowser, inWhole, openWorld, type World } from '../support/browser.ts';
import { passTime } from '../support/page-pool.ts';

t.teardown(closeBrowser);

/** The longest name that a block may have. */
const LONG = 'invoice-sorter-of-accounts-north';
const CODE = "```js\nconst text = decode(bytes).replace(/^\\uFEFF/, '').split(separator).map(trimmed).filter(isFilled);\n```";

async function furnish(world: World): Promise<void> {
  world.standIn.onMessage(/./, { content: CODE });
  await world.block(LONG, { description: 'Sorts what comes in at the accounts office', budget: { dailyUsd: 12.5 } });
  await world.api('POST', `/api/blocks/${LONG}/chat?wait=30`, { message: 'Hello' });
}

/** Of what the selector finds and is shown: sizes and places. */
function boxes(
  page: Page,
  selector: string,
): Promise<readonly { readonly text: string; readonly x: number; readonly y: number; readonly w: number; readonly h: number; readonly isCut: boolean }[]> {
  return page.locator(selector).evaluateAll((elements) =>
    elements
      .map((element) => ({ element, rect: element.getBoundingClientRect() }))
      .filter(({ rect }) => rect.width > 0)
      .map(({ element, rect }) => ({
        text: element.textContent.trim(),
        x: Math.round(rect.x),
        y: Math.round(rect.y),
        w: Math.round(rect.width),
        h: Math.round(rect.height),
        isCut: element.scrollWidth > element.clientWidth,
      })),
  );
}

/** How long the page waits between two looks at the gateway. */
const FIGURES_MS = 5000;

const distinct = (values: readonly number[]): number => new Set(values).size;

t.test('of a block with the longest name, on one server:', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await furnish(world);

  await t.test('at 1024 px the list keeps one line of commands, its figures on one line, and what is spent of each cap', async (t) => {
    const page = await world.page('/ui/', { width: 1024, height: 768 });
    await page.getByRole('row').filter({ hasText: LONG }).waitFor();
    const [head] = await boxes(page, '.top');
    t.ok((head?.h ?? 99) <= 49, 'the head is one line');
    t.equal(distinct((await boxes(page, '.stat dd')).map(({ y }) => y)), 1, 'the figures stand on one line');
    t.same(
      (await boxes(page, '.stat dt, .stat dt span')).filter(({ isCut }) => isCut),
      [],
      'no label is cut off',
    );
    t.match(await page.locator('.tr .c-today').innerText(), /\$0\.00\s*\$12\.50/);
    await world.leave(page);
  });

  await t.test('at 390 px a long name gives way to the commands of its block, and no button covers code', async (t) => {
    const page = await world.page(`/ui/blocks/${LONG}`, { width: 390, height: 844 });
    await page.locator('.prose pre').waitFor();
    const [menu] = await boxes(page, '.top .square:last-child');
    t.equal(menu?.w, 44, 'the menu is as wide as a finger');
    const [code] = await boxes(page, '.prose pre');
    const [copy] = await boxes(page, '.prose .code-head');
    t.ok((code?.x ?? 999) + (code?.w ?? 999) <= (copy?.x ?? 0), 'the code ends before its button');
    await world.leave(page);
  });

  await t.test('spending by day is drawn over the last thirty days, with what the heights and ends mean', async (t) => {
    const page = await world.page(`/ui/blocks/${LONG}/costs`, { width: 1440, height: 900 });
    const plot = page.locator('.days').first();
    await plot.waitFor();
    t.equal(await plot.locator('.day-bar').count(), 1);
    const [drawn] = await boxes(page, '.days svg');
    t.ok((drawn?.w ?? 0) > 700, 'also a single day takes the place of a month');
    t.match(await plot.locator('.x').innerText(), /\d+ \w+|\w+ \d+/);
    t.match(await plot.locator('.y').innerText(), /\$0/);
    t.match(await plot.locator('[role="img"]').getAttribute('aria-label'), /1 call/);
    await world.leave(page);
  });

  await t.test('a wide window has the summaries of a memory beside what the model sees, a narrow one below it', async (t) => {
    const page = await world.page(`/ui/blocks/${LONG}/memory`, { width: 1440, height: 900 });
    await page.locator('.memory').waitFor();
    const columns = async (): Promise<number> => distinct((await boxes(page, '.memory > div')).map(({ x }) => x));
    t.equal(await columns(), 2);
    await page.setViewportSize({ width: 1024, height: 768 });
    t.equal(await columns(), 1);
    await world.leave(page);
  });

  await t.test('at 390 px the first command stands at the edge, and the search has the whole width', async (t) => {
    const page = await world.page('/ui/', { width: 390, height: 844 });
    await page.getByRole('row').filter({ hasText: LONG }).waitFor();
    const [command] = await boxes(page, '.top .btn.primary');
    t.equal((command?.x ?? 0) + (command?.w ?? 0), 390 - 16);
    await world.reach(page, '/ui/search');
    const [field] = await boxes(page, '.top .filter');
    t.equal(field?.w, 390 - 32);
    await world.leave(page);
  });

  await t.test('at 390 px a note of what was done covers nothing of the dialog that is opened next', async (t) => {
    const page = await world.page('/ui/', { width: 390, height: 844 });
    await page.getByRole('button', { name: 'Select', exact: true }).click();
    await page.locator(`[data-name="${LONG}"]`).click();
    await page.getByRole('group', { name: '1 block selected' }).getByRole('button', { name: 'Stop' }).click();
    await page.locator('.toast', { hasText: 'Stopped' }).waitFor();
    await page.locator('.top .btn.primary').click();
    await page.locator('.dialog footer').waitFor();
    const [note] = await boxes(page, '.toast');
    const [dialog] = await boxes(page, '.dialog');
    t.ok((note?.y ?? 999) + (note?.h ?? 0) <= (dialog?.y ?? 0), 'it stands above the dialog');
    await world.leave(page);
  });
});

t.test('at 390 px two changes of a configuration are read and chosen without scrolling sideways, and saved from one line', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada', { description: 'Answers mail of the small team' });
  const page = await world.page('/ui/blocks/ada/config', { width: 390, height: 844 });
  await page.getByLabel('What it is for').fill('Answers mail of the whole house');
  await world.api('PUT', '/api/blocks/ada/config', { description: 'Answers letters of the small team' });
  const table = page.locator('.conflict table');
  await table.waitFor();
  t.same(
    await page
      .locator('.conflict, .conflict *, .save-strip')
      .evaluateAll((all) => all.filter((each) => each.getBoundingClientRect().right > innerWidth).length),
    0,
    'nothing is cut off',
  );
  t.equal(await page.locator('.conflict .check').count(), 2);
  const words = await page.locator('.conflict td').evaluateAll((all) => all.map((each) => getComputedStyle(each, '::before').content));
  t.same(words, ['"Before"', '"Yours"', '"Theirs"']);
  t.same(await axeFindings(page), []);
  const strip = await boxes(page, '.save-strip > :not(:first-child)');
  t.ok(Math.max(...strip.map(({ y }) => y)) - Math.min(...strip.map(({ y }) => y)) < 44, 'the strip is one line');
});

t.test('at 390 px each line of a log stands apart from the next, below its own time', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada/logs', { width: 390, height: 844 });
  await page.locator('.line').nth(1).waitFor();
  const [lines, times, texts] = [await boxes(page, '.line'), await boxes(page, '.line time'), await boxes(page, '.line .what')];
  const [own, next] = [(texts[0]?.y ?? 0) - (times[0]?.y ?? 0) - (times[0]?.h ?? 0), (times[1]?.y ?? 0) - (texts[0]?.y ?? 0) - (texts[0]?.h ?? 0)];
  t.ok(lines.length >= 2 && own >= 0 && next > own + 8, `${own} px to its own time, ${next} px to the next one`);
  t.equal(
    await page
      .locator('.line')
      .nth(1)
      .evaluate((each) => getComputedStyle(each).borderTopWidth),
    '1px',
  );
});

t.test('names of providers stand on one line, names of capped blocks are whole, and states stand beneath each other', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await furnish(world);
  const page = await world.page('/ui/settings', { width: 1440, height: 900 });
  await page.locator('.provider').first().waitFor();
  t.equal(distinct((await boxes(page, '.provider > b')).map(({ h }) => h)), 1);
  t.equal(distinct((await boxes(page, '.provider > .t2')).map(({ x }) => x)), 1, 'what is said about them begins at one edge');
  await world.reach(page, '/ui/costs');
  await page.locator('.caps li').first().waitFor();
  t.same(
    (await boxes(page, '.caps a')).filter(({ isCut }) => isCut),
    [],
  );
  await world.reach(page, `/ui/blocks/${LONG}/history`);
  await page.locator('.transitions li').nth(1).waitFor();
  t.equal(distinct((await boxes(page, '.transitions .to')).map(({ x }) => x)), 1);
  t.equal(distinct((await boxes(page, '.transitions .to + span')).map(({ x }) => x)), 1);
});

t.test('the form of a configuration has its labels at one edge and its fields at another, and its sections are reached by name', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await furnish(world);
  const page = await world.page(`/ui/blocks/${LONG}/config`, { width: 1440, height: 900 });
  const cap = page.getByLabel('Cap a day, in USD');
  await cap.waitFor();
  t.equal(distinct((await boxes(page, '.config-form .field > label')).map(({ x }) => x)), 1);
  t.equal(distinct((await boxes(page, '.config-form .field > .input')).map(({ x }) => x)), 1);
  await cap.fill('3');
  const sections = page.getByRole('navigation', { name: 'Sections' });
  await sections.getByRole('button', { name: 'Budget changed' }).waitFor();
  await sections.getByRole('button', { name: 'Logs' }).click();
  t.ok(await page.getByLabel('Size of a log file, in bytes').evaluate((field) => field === document.activeElement));
  t.same(await axeFindings(page), []);
  await page.setViewportSize({ width: 390, height: 844 });
  await sections.waitFor({ state: 'hidden' });
});

const MIXED =
  '### Plan\n\nSee [the notes](https://example.com/notes).\n\n\u0647\u0630\u0647 \u0625\u062c\u0627\u0628\u0629 in Arabic.\n\n- \u05e4\u05e8\u05d9\u05d8\n- \u05e9\u05e0\u05d9\n\nAn English end.';

t.test(
  'in an answer links are underlined, each part reads from its own side, and headings come after that of the message, in both themes',
  inWhole,
  async (t) => {
    const world = await openWorld(t);
    if (world === undefined) return;
    world.standIn.onMessage(/./, { content: MIXED });
    await world.block('ada');
    await world.api('POST', '/api/blocks/ada/chat?wait=30', { message: '\u05e9\u05dc\u05d5\u05dd' });
    for (const theme of ['light', 'dark'] as const) {
      const page = await world.page('/ui/blocks/ada', { theme });
      await page.getByText('An English end.').waitFor();
      t.same(await axeFindings(page), [], theme);
      const sides = await page.locator('.prose :is(p, ul), .prose.typed').evaluateAll((all) => all.map((each) => getComputedStyle(each).direction));
      t.same(sides, ['rtl', 'ltr', 'rtl', 'rtl', 'ltr']);
      t.equal(await page.locator('.prose a').evaluate((link) => getComputedStyle(link).textDecorationLine), 'underline');
      t.same(
        await page
          .getByRole('heading', { level: 2 })
          .filter({ hasText: /^(You|ada)$/ })
          .allTextContents(),
        ['You', 'ada'],
      );
      t.same(await page.getByRole('heading', { level: 3 }).filter({ hasText: 'Plan' }).count(), 1);
    }
  },
);

/** Changes an answer of the server on its way to the page. */
async function rewrite(page: Page, path: RegExp, change: (text: string) => string): Promise<void> {
  await page.route(
    (url) => path.test(url.pathname),
    async (route) => {
      const { 'if-none-match': _known, ...headers } = route.request().headers();
      const response = await route.fetch({ headers });
      await route.fulfill({ response, body: change(await response.text()) });
    },
  );
}

t.test('what has no known price is told beside the sums, and covers nothing at 900 px', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await furnish(world);
  await world.block('bob');
  await world.api('POST', '/api/blocks/bob/chat?wait=30', { message: 'Hello' });
  const page = await world.page('/ui/', {
    width: 900,
    async prepare(page) {
      await rewrite(page, /^\/api\/blocks$/, (text) => {
        const { blocks } = JSON.parse(text) as { readonly blocks: readonly { readonly name: string; readonly costs: object }[] };
        return JSON.stringify({ blocks: blocks.map((each) => (each.name === LONG ? { ...each, costs: { ...each.costs, today: null } } : each)) });
      });
      await rewrite(page, /^\/api\/blocks\/[^/]+$/, (text) => text.replaceAll(/"unpricedCalls":\d+/g, '"unpricedCalls":4'));
    },
  });
  await page.getByRole('row').filter({ hasText: LONG }).waitFor();
  t.match(await page.locator('.stat').first().innerText(), /\$0\.00\s*\+ not priced/);
  await world.reach(page, `/ui/blocks/${LONG}`);
  await page.locator('.spent .warn').first().waitFor();
  const [[label], [spent]] = [await boxes(page, '.spent .grow'), await boxes(page, '.spent .num')];
  const isBeside = (label?.x ?? 0) + (label?.w ?? 0) <= (spent?.x ?? 0);
  t.notOk(label?.isCut, 'the label is whole');
  t.ok(isBeside || (label?.y ?? 0) + (label?.h ?? 0) <= (spent?.y ?? 0), 'the sum stands beside its label or below it');
});

t.test('an event tells its figures in words', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const page = await world.page('/ui/events');
  await page.getByText('No event yet.').waitFor();
  await furnish(world);
  const row = page.getByRole('row', { name: /message\.finished/ });
  await row.waitFor();
  t.match(await row.innerText(), /usage inputTokens \d+, outputTokens \d+/);
});

t.test('a local server that does not run is not called ready, until it has answered', async (t) => {
  const world = await openWorld(t, { isAlone: true });
  if (world === undefined) return;
  const page = await world.page('/ui/gateway');
  const row = page.getByRole('row', { name: /^Ollama/ });
  await row.getByRole('link', { name: 'Not ready' }).waitFor();
  await page.getByText('0 providers', { exact: false }).waitFor();
  world.standIn.onMessage(/./, { content: 'Yes.' });
  await world.standIn.start();
  await world.api('POST', '/v1/chat', { adapter: 'ollama', model: 'stand-in', messages: [{ role: 'user', content: 'Hello' }] });
  await passTime(page, FIGURES_MS, 'the provider is ready', () => row.getByText('Ready', { exact: true }).isVisible());
});

t.test('at 390 px an answer of the playground comes into view, and a wrong field stands above what covers the foot', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await furnish(world);
  const page = await world.page('/ui/playground', { width: 390, height: 700 });
  await page.getByLabel('provider/model 1').fill('ollama/stand-in');
  await page.getByLabel('Message').fill('Hello');
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.locator('.answer').waitFor();
  const [[answer], [foot]] = [await boxes(page, '.answer'), await boxes(page, '.phone-tabs')];
  t.ok((answer?.y ?? 999) + 60 <= (foot?.y ?? 0), `its first lines are in view: ${answer?.y}, ${foot?.y}`);
  await world.reach(page, `/ui/blocks/${LONG}/config`);
  await page.getByLabel('Cap a day, in USD').focus();
  await page.keyboard.type('x');
  const [[field], [strip]] = [await boxes(page, '.input:focus'), await boxes(page, '.save-strip')];
  t.ok((field?.y ?? 999) + (field?.h ?? 0) <= (strip?.y ?? 0), 'the field is whole above the strip');
});
