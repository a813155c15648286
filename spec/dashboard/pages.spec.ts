import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { axeFindings, closeBrowser, inWhole, isWhole, openWorld, type World } from '../support/browser.ts';
import { PAGE_PATHS } from '../support/page-paths.ts';
import { passTime } from '../support/page-pool.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

t.teardown(closeBrowser);

/** How long the first steps wait between two looks for a provider. */
const LOOK_MS = 3000;
const BLOCK_TABS = ['', '/memory', '/config', '/logs', '/costs', '/history'].map((tab) => `/ui/blocks/ada${tab}`);
const PATHS = [...PAGE_PATHS, ...BLOCK_TABS, '/ui/nothing'];

async function furnish(world: World, config: object = {}): Promise<void> {
  world.standIn.onMessage(/./, { content: 'Some *words*, `code`, and\n\n```js\nconst a = 1;\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2 |' });
  await world.block('ada', { description: 'Answers', budget: { dailyUsd: 2 }, ...config });
  await world.api('POST', '/api/blocks/ada/chat?wait=30', { message: 'Hello' });
  await world.api('POST', '/api/blocks/ada/memory/facts', { text: 'The team is small.' });
  await world.api('POST', '/api/blocks', { name: 'zoe', config: { description: 'Has no model' } });
  await world.api('POST', '/api/blocks', { name: 'old' });
  await world.api('DELETE', '/api/blocks/old');
}

t.test('of a furnished server:', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await furnish(world);

  await t.test('case 48: axe finds nothing on any page, in either theme, wide and narrow', async (t) => {
    for (const theme of ['light', 'dark'] as const) {
      for (const [width, height] of [
        [1440, 900],
        [390, 844],
      ] as const) {
        if (!isWhole && (theme === 'dark') === (width === 1440)) continue;
        const page = await world.page('/ui/', { theme, width, height });
        // Some of the pages wide and light, others narrow and dark; all of them both ways in `test:browser`.
        for (const path of PATHS.filter((_path, index) => isWhole || index % 5 === (width === 1440 ? 0 : 2))) {
          await world.reach(page, path);
          for (const finding of await axeFindings(page)) t.fail(`${path} ${theme} ${width}: ${finding}`);
        }
        await world.leave(page);
      }
    }
    t.pass('each page was examined');
  });

  await t.test('case 49: no page scrolls sideways at 390 or 1024 px, and what is touched is large enough', async (t) => {
    const page = await world.page('/ui/', { width: 390, height: 844 });
    for (const path of PATHS.filter((_path, index) => isWhole || index % 3 === 0)) {
      await world.reach(page, path);
      t.notOk(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), `${path} scrolls sideways`);
      const small = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>('main button, .phone-tabs a, .tabs a, .phone-tabs button')]
          .filter((element) => element.offsetParent !== null)
          .map((element) => ({ text: element.textContent.slice(0, 30), height: element.getBoundingClientRect().height }))
          .filter(({ height }) => height < 24),
      );
      t.same(small, [], path);
    }
    await page.setViewportSize({ width: 1024, height: 768 });
    for (const path of PATHS.slice(0, 2)) {
      await world.reach(page, path);
      t.notOk(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), `${path} scrolls sideways at 1024 px`);
    }
    await world.leave(page);
  });

  await t.test('case 47: every page is reached by keys, and `?` lists the keys that work', async (t) => {
    const page = await world.page();
    await page.getByRole('heading', { name: 'Fleet' }).waitFor();
    for (const [key, title] of [
      ['g', 'Gateway'],
      ['p', 'Playground'],
      ['c', 'Costs'],
      ['e', 'Events'],
      ['a', 'Archive'],
      ['s', 'Settings'],
      ['f', 'Fleet'],
    ] as const) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    }
    await page.keyboard.press('j');
    await page.waitForFunction(() => document.activeElement?.textContent === 'ada');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'ada', level: 1 }).waitFor();
    for (const [key, tab] of [
      ['2', 'Memory'],
      ['3', 'Config'],
      ['4', 'Logs'],
      ['5', 'Costs'],
      ['6', 'History'],
      ['1', 'Chat'],
    ] as const) {
      await page.keyboard.press(key);
      await page.locator('.tabs [aria-current="page"]', { hasText: tab }).waitFor();
    }
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keys' });
    await dialog.waitFor();
    t.match(await dialog.textContent(), /Find or do…/);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    t.not(await page.evaluate(() => document.activeElement?.tagName), undefined);
    await world.leave(page);
  });
});

t.test('case 21: what one page does is in another within a moment', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada');
  const one = await world.page();
  const other = await world.page();
  await other.getByRole('link', { name: 'ada' }).waitFor();
  await one.getByRole('button', { name: 'New block' }).first().click();
  await one.getByRole('dialog').getByLabel('Name').fill('new-one');
  await one.getByRole('dialog').getByLabel('What it is for').fill('made in a page');
  await one.getByRole('button', { name: 'Create the block' }).click();
  await one.getByRole('heading', { name: 'new-one', level: 1 }).waitFor();
  await other.getByRole('link', { name: 'new-one' }).waitFor();
  await world.api('DELETE', '/api/blocks/ada');
  await other.getByRole('link', { name: 'ada', exact: true }).waitFor({ state: 'detached' });
});

t.test('case 39: a first run goes from an empty workspace to an answer, and a provider that is started meanwhile ticks its step', async (t) => {
  const world = await openWorld(t, { isAlone: true });
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Hello, I am here.' });
  const page = await world.page('/ui/');
  await page.getByText('Nothing can answer yet.').waitFor();
  await page.getByRole('link', { name: 'Fleet' }).click();
  await page.getByText('There is no block yet.').waitFor();
  await page.getByRole('link', { name: 'First steps' }).click();
  await page.getByText('Nothing can answer yet.').waitFor();
  t.equal(await page.locator('.steps .done').count(), 1);
  await world.standIn.start();
  await passTime(page, LOOK_MS, 'the step is ticked', () => page.getByText('A provider is ready').isVisible());
  await page.getByRole('button', { name: 'New block' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('ada');
  await page.getByRole('dialog').getByLabel('Model').fill('ollama/stand-in');
  await page.getByRole('button', { name: 'Create the block' }).click();
  await page.getByRole('textbox', { name: 'Message ada…' }).fill('Hi');
  await page.keyboard.press('Enter');
  await page.getByText('Hello, I am here.').waitFor();
});

t.test(
  'case 39: without a provider, the echo provider answers and says so; one button takes it away, after a question about its messages, and all is as before',
  inWhole,
  async (t) => {
    const world = await openWorld(t, { isAlone: true });
    if (world === undefined) return;
    const page = await world.page('/ui/start');
    const offer = page.getByRole('button', { name: 'Look around with an echo block first' });
    await offer.waitFor();
    await page.locator('.providers li').nth(4).waitFor();
    const before = await page.locator('.first-run').innerText();
    await offer.click();
    await page.getByRole('heading', { name: 'stand-in', level: 1 }).waitFor();
    const strip = page.getByRole('region', { name: 'Echo block' });
    await strip.getByText('No model answers here.').waitFor();
    await page.waitForFunction(() => document.activeElement?.tagName === 'TEXTAREA');
    await page.keyboard.type('Are you there?');
    await page.keyboard.press('Enter');
    await page.getByText(/^No model has answered: this is the echo provider of this server. You wrote: “Are you there\?”/).waitFor();
    await page.getByText('choose its model in the Config of this block.').waitFor();
    t.same(await axeFindings(page), []);

    await page.goto(`${world.url}/ui/start`);
    await page.getByRole('link', { name: 'Open the echo block' }).waitFor();
    t.equal(await page.locator('.steps .done').count(), 1, 'the steps are those to a model');
    t.same(await axeFindings(page), []);
    await page.getByRole('button', { name: 'Remove the echo block for good' }).click();
    await page.getByRole('dialog', { name: 'Remove the echo block?' }).getByRole('button', { name: 'Remove stand-in' }).click();
    await page.locator('.toast', { hasText: 'The echo block is gone' }).waitFor();
    await offer.waitFor();
    t.not(await page.evaluate(() => document.activeElement?.tagName), 'BODY');
    t.equal(await page.locator('.first-run').innerText(), before);
    t.same(await world.api('GET', '/api/blocks'), { blocks: [] });
    t.same(await world.api('GET', '/api/archive'), { archives: [] });
  },
);

t.test('an echo block that has been given a model meanwhile is not removed', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const page = await world.page('/ui/start');
  await page.getByRole('button', { name: 'Look around with an echo block first' }).click();
  const remove = page.getByRole('region', { name: 'Echo block' }).getByRole('button', { name: 'Remove the echo block for good' });
  await remove.waitFor();
  // The page has the old configuration until it is told of the new one.
  const adapter = { provider: 'ollama', model: 'stand-in' };
  await page.route('**/config', async (route) => {
    await world.api('PUT', '/api/blocks/stand-in/config', { adapter });
    await route.continue();
  });
  await remove.click();
  await page.locator('.toast', { hasText: 'has been given a model' }).waitFor();
  await remove.waitFor({ state: 'detached' });
  t.match(await world.api('GET', '/api/blocks'), { blocks: [{ name: 'stand-in' }] });
});

t.test('case 13: a refused key is told in the words of the provider, and is nowhere afterwards', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const key = 'sk-test-0123456789-secret-key';
  const page = await world.page('/ui/settings?key=openai', { expected: [/400/] });
  await page.getByLabel('OpenAI: Key').fill(key);
  await page.getByRole('button', { name: 'Check and store' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByRole('button', { name: 'Store it unchecked' }).click();
  await page.getByText('with the key in auth.json').waitFor();
  const places = await page.evaluate(() => document.documentElement.outerHTML + JSON.stringify(localStorage) + JSON.stringify(sessionStorage));
  t.notOk(places.includes(key));
  t.notOk(JSON.stringify(await world.api('GET', '/api/credentials')).includes(key));
  t.notOk(JSON.stringify(await world.api('GET', '/api/settings')).includes(key));
});

t.test('a stored key does not follow an address that is changed on the page: it has to be typed again', async (t) => {
  const world = await openWorld(t, {
    env: { OLLAMA_BASE_URL: '' },
    files: (workspace, baseURL) => writeFileSync(join(workspace, 'auth.json'), JSON.stringify({ ollama: { baseURL, apiKey: 'canary-of-the-daemon' } })),
  });
  if (world === undefined) return;
  const thief = await startUpstream(t, (_request, res) => sendJson(res, { models: [] }));
  const page = await world.page('/ui/settings?key=ollama', { expected: [/400/] });
  await page.getByLabel('Ollama: Address').fill(thief.url);
  await page.getByRole('button', { name: 'Check and store' }).click();
  await page.getByRole('alert').getByText('apiKey is needed again with the new baseURL').waitFor();
  const refused = page.waitForResponse((response) => response.status() === 400);
  await page.getByRole('button', { name: 'Store it unchecked' }).click();
  await refused;
  await page.locator('.key-form:not(:has([aria-busy="true"]))').waitFor(); // until then, a press does nothing
  await page.getByRole('alert').getByText('apiKey is needed again').waitFor();
  t.same(thief.requests, []);
  await page.getByLabel('Ollama: Key').fill('a-key-for-there');
  await page.getByRole('button', { name: 'Check and store' }).click();
  await page.locator('.toast', { hasText: 'is stored' }).waitFor();
  t.same([...new Set(thief.requests.map(({ headers }) => headers['authorization']))], ['Bearer a-key-for-there']);
});

t.test('case 22: a change by hand is told while one edits, and nothing is lost', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada', { description: 'before' });
  const page = await world.page('/ui/blocks/ada/config');
  const instructions = page.getByLabel('Instructions');
  await instructions.fill('Be brief.');
  await world.api('PUT', '/api/blocks/ada/config', { description: 'changed elsewhere' });
  await page.getByText('Somebody else has changed the configuration meanwhile.').waitFor();
  await page.getByRole('button', { name: 'Go on with these' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').first().waitFor();
  const { config } = await world.api<{ readonly config: Record<string, unknown> }>('GET', '/api/blocks/ada/config');
  t.match(config, { description: 'changed elsewhere', systemPrompt: 'Be brief.' });
});

t.test('case 45: a block is archived, restored under another name, and deleted for good after its name was typed', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada', { expected: [/404/] }); // the page may read the block a last time when it hears that it is gone
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  await page.getByRole('heading', { name: 'Archive', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'More about ada' }).click();
  await page.getByRole('menuitem', { name: 'Restore as…' }).click();
  await page.getByLabel('Name of the restored block').fill('eve');
  await page.getByRole('button', { name: 'Restore as eve' }).click();
  await page.getByText('eve is restored.').first().waitFor();
  await world.api('DELETE', '/api/blocks/eve');
  await page.reload();
  await page.getByRole('button', { name: /More about/ }).click();
  await page.getByRole('menuitem', { name: 'Delete for good…' }).click();
  const dialog = page.getByRole('dialog');
  const remove = dialog.getByRole('button', { name: /^Delete / });
  t.ok(await remove.isDisabled());
  await dialog.getByLabel('Type the name to confirm').fill((await remove.textContent())?.replace('Delete ', '') ?? '');
  await remove.click();
  await page.getByText('Nothing is archived.').waitFor();
});

t.test('case 34: of a thousand blocks few are in the document, and a change draws its own row', async (t) => {
  const world = await openWorld(t, {
    files(workspace) {
      for (let index = 0; index < 1000; index += 1) {
        const folder = `${workspace}/blocks/b${String(index).padStart(4, '0')}`;
        mkdirSync(folder, { recursive: true });
        writeFileSync(`${folder}/config.json`, JSON.stringify({ name: `b${String(index).padStart(4, '0')}`, description: `Block ${index}` }));
      }
    },
  });
  if (world === undefined) return;
  const page = await world.page();
  await page.getByText('1,000 blocks').waitFor();
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
  t.ok(nodes <= 600, `${nodes} nodes`);
  await page.keyboard.press('End');
  await page.getByRole('link', { name: 'b0999' }).waitFor();
  t.ok((await page.evaluate(() => document.querySelectorAll('*').length)) <= 600);
  await page.getByRole('searchbox').fill('b0500');
  await page.getByText('1 of 1,000 blocks').waitFor();
  t.equal(await page.locator('.tr').count(), 1);
});

t.test('a server without blocks shows the gateway first, no page of blocks and no kill switch, and asks for none', async (t) => {
  const world = await openWorld(t, { gatewayOnly: true });
  if (world === undefined) return;
  const page = await world.page();
  await page.getByRole('heading', { name: 'Gateway' }).waitFor();
  const menu = page.getByRole('navigation', { name: 'Main' });
  t.same(await menu.locator('a').allTextContents(), [' Gateway', ' Playground', ' Costs', ' Events', ' Settings']);
  t.equal(await menu.locator('a[aria-current]').textContent(), ' Gateway');
  await page.locator('.live', { hasText: 'Live' }).waitFor();
  for (const [path, heading] of Object.entries({ '/ui/costs': 'Costs', '/ui/settings': 'Settings', '/ui/events': 'Events', '/ui/playground': 'Playground' })) {
    await world.reach(page, path);
    t.equal(await page.locator('main h1').textContent(), heading);
  }
  t.equal(await page.getByRole('button', { name: /halt/i }).count(), 0);
  for (const path of ['/ui/archive', '/ui/start', '/ui/blocks/ada']) {
    await page.goto(world.url + path);
    await page.locator('main a.btn').waitFor();
  }
});

t.test('what was said is searched from the palette, and each find leads to its block', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await furnish(world);
  await world.api('POST', '/api/blocks/zoe/chat', { message: 'Where is the <b>Needle</b>?' });
  const page = await world.page('/ui/');
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('combobox').fill('needle');
  await page.getByRole('option', { name: 'Search in what was said: needle' }).click();
  await page.getByRole('status').filter({ hasText: '1 text' }).waitFor();
  t.equal(await page.locator('.search mark').textContent(), 'Needle');
  t.match(await page.locator('.search li p').textContent(), 'Where is the <b>Needle</b>?', 'a text is never markup');
  t.equal(new URL(page.url()).search, '?find=needle');
  await page.getByRole('searchbox').fill('words');
  await page.locator('.search li', { hasText: 'Some *words*' }).waitFor();
  for (const finding of await axeFindings(page)) t.fail(finding);
  await page.getByRole('searchbox').fill('no such text');
  await page.getByText('Nothing that was said has all these words.').waitFor();
  await page.getByRole('searchbox').fill('needle');
  await page.locator('.search li a').click();
  await page.waitForURL('**/ui/blocks/zoe?at=*');
  await page.locator('.m.linked', { hasText: 'Needle' }).waitFor();
  if (!isWhole) return;
  await world.api('POST', '/api/blocks/ada/memory/facts', { text: 'The thimble is blue.' });
  await world.show(page, '/ui/search?find=thimble');
  await page.locator('.search li a', { hasText: 'Fact' }).click();
  await page.locator('.facts-list li.linked:focus', { hasText: 'thimble' }).waitFor();
  await world.api('DELETE', '/api/blocks/zoe');
  await world.reach(page, '/ui/search?find=needle');
  await page.locator('.search li a', { hasText: 'archived' }).click();
  await page.locator('.archive tr.linked:focus', { hasText: 'zoe' }).waitFor();
});

t.test('the palette knows the parts of the settings, keys, the doctor and the themes', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada');
  const choose = async (text: string, name: string): Promise<void> => {
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('combobox', { name: 'Find or do…' }).fill(text);
    await page.getByRole('option', { name }).first().click();
  };
  await choose('doctor', 'Doctor');
  await page.locator('#part-doctor:focus', { hasText: 'Examine the workspace' }).waitFor();
  await choose('keys prov', 'Keys of the providers');
  await page.locator('#part-providers:focus').waitFor();
  await choose('alias', 'Programs');
  await page.getByRole('button', { name: 'New key…' }).waitFor();
  await choose('dark', 'Dark theme');
  t.equal(await page.evaluate(() => document.documentElement.dataset['theme']), 'dark');
  await world.reach(page, '/ui/blocks/ada');
  await choose('memory', 'ada: Memory');
  await page.waitForURL('**/ui/blocks/ada/memory');
});

t.test('Escape asks before it throws away what was typed into a dialog, and closes one without', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada');
  const page = await world.page('/ui/');
  const dialog = page.getByRole('dialog', { name: 'New block' });
  const question = page.getByRole('dialog', { name: 'Throw away what you have typed?' });
  await page.keyboard.press('n');
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.keyboard.press('n');
  const field = dialog.getByRole('textbox', { name: 'Name' });
  await field.fill('bob');
  await page.keyboard.press('Escape');
  await question.waitFor();
  for (const finding of await axeFindings(page)) t.fail(finding);
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  t.equal(await field.inputValue(), 'bob');
  t.ok(await field.evaluate((element) => element === document.activeElement), 'and one types on');
  await page.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Throw it away' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.keyboard.press('n');
  await field.fill('bob');
  await field.fill('');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

t.test('costs are of a range of days, with figures, a plot that says why it is empty, and a file', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await furnish(world, { adapter: { provider: 'ollama', model: 'big:cloud' } });
  const page = await world.page('/ui/costs?by=model');
  await page.getByText('1 call, none with a known price, so there is no cost to draw.').waitFor();
  const figures = page.locator('.cost-figures');
  t.match(await figures.innerText(), /Answers, today\s+1\s[\s\S]*Without a price, today\s+1\s+calls, /);
  t.notMatch(await figures.locator('.stat').first().innerText(), /\$0/, 'what has no price is no zero');
  await page.getByRole('button', { name: 'Own' }).click();
  await page.getByLabel('From', { exact: true }).fill('2020-01-01');
  await page.getByLabel('To', { exact: true }).fill('2020-01-31');
  await page.getByText('There was no call on these days.').waitFor();
  t.equal(new URL(page.url()).search, '?by=model&from=2020-01-01&to=2020-01-31');
  await page.getByRole('button', { name: '7 days' }).click();
  await page.locator('.costs-page table').first().waitFor();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()]);
  t.match(file.suggestedFilename(), /^costs-model-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/);
});
