import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { axeFindings, closeBrowser, inWhole, openWorld } from '../support/browser.ts';

t.teardown(closeBrowser);

t.test('case 42: memory is summarised, compared and undone, and its bar says what the server says', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'A summary of what was said.' });
  await world.block('ada', { memory: { keepMessages: 1 } });
  for (const message of ['one', 'two', 'three']) await world.api('POST', '/api/blocks/ada/chat?wait=30', { message });
  const page = await world.page('/ui/blocks/ada/memory');
  await page.getByRole('button', { name: 'Summarise now' }).click();
  await page.getByText('A summary of what was said.').first().waitFor();
  await page.getByText('asked for').waitFor();
  const { memory } = await world.api<{ readonly memory: { readonly window: { readonly tokens: number } } }>('GET', '/api/blocks/ada');
  await page.getByText(memory.window.tokens.toLocaleString('en-US'), { exact: false }).first().waitFor();
  await page.getByRole('button', { name: 'Undo the last summary' }).click();
  await page.getByText('Nothing was summarised yet.').waitFor();
  await page.getByLabel('Add a fact').fill('The team is small.');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('The team is small.').waitFor();
  await page.getByRole('button', { name: 'Unpin it' }).click();
  await page.getByText('not in prompts').waitFor();
  await page.getByRole('button', { name: 'Unpin it' }).waitFor({ state: 'detached' }); // the new fact is there before the old one goes
  const facts = async () => (await world.api<{ readonly memory: { readonly facts: readonly object[] } }>('GET', '/api/blocks/ada')).memory.facts;
  t.match(await facts(), [{ text: 'The team is small.', pinned: false }]);
  t.equal((await facts()).length, 1);
  await page.getByRole('button', { name: 'Pin it' }).click();
  await page.getByText('not in prompts').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await page.getByText('The team is small.').waitFor();
  t.match(await facts(), [{ pinned: true }]);
  await world.api('PUT', '/api/blocks/ada/config', { memory: { keepMessages: 40 } });
  await page.getByRole('button', { name: 'Summarise now' }).click();
  await page.locator('.toast', { hasText: 'There is nothing to summarise' }).waitFor();
});

t.test('the window over time is what the answers say: a plot with a mark for each summary, its sentence, and its table', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'A summary of what was said.' });
  // Without a monitor, which would look at each change of the file and refuse a summary meanwhile.
  await world.api('POST', '/api/blocks', { name: 'ada', config: { adapter: { provider: 'ollama', model: 'stand-in' }, memory: { keepMessages: 1 } } });
  const entry = (id: string, role: string, minutes: number, usage?: object): object => {
    const timestamp = new Date(Date.now() - minutes * 60_000).toISOString();
    return { id, role, content: `What ${id} says.`, timestamp, processed: true, status: 'done', channel: 'web', model: 'm', ...(usage && { usage }) };
  };
  const counts = [100, 1200, 0, 2600, 40];
  const history = counts.flatMap((inputTokens, index) => {
    const minutes = 60 - index;
    const usage = { inputTokens, outputTokens: 1, totalTokens: inputTokens + 1 };
    return [entry(`m${index}`, 'user', minutes), { ...entry(`a${index}`, 'assistant', minutes, usage), replyTo: `m${index}` }];
  });
  // As if the last answer came from a clock that is ahead: the summary is made before it.
  const ahead = { ...history.at(-1), timestamp: new Date(Date.now() + 3_600_000).toISOString() };
  const write = (entries: readonly object[]): void => writeFileSync(join(world.workspace, 'blocks/ada/chat.json'), JSON.stringify(entries));
  write(history.slice(0, 2));
  const page = await world.page('/ui/blocks/ada/memory');
  await page.getByText('The plot begins with the second answer.').waitFor();
  const plot = (answers: number, range: string, times: string) =>
    page.getByRole('img', { name: `of the last ${answers} answers: ${range} for the last. Older messages were summarised ${times} meanwhile.` });
  write(history.slice(0, 8));
  await plot(3, 'between 100 and 2,600, 2,600', '0 times').waitFor();
  await page.getByRole('button', { name: 'Summarise now' }).click();
  await plot(3, 'between 100 and 2,600, 2,600', '1 time').waitFor();
  write([...history.slice(0, -1), ahead]);
  await plot(4, 'between 40 and 2,600, 40', '1 time').waitFor();
  t.equal(await page.locator('.over-time line.mark').count(), 1);
  t.same(await axeFindings(page), []);

  await page.keyboard.press('t');
  const table = page.getByRole('group', { name: 'What it has seen for each answer' });
  const cells = await table.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.lastElementChild?.textContent ?? ''));
  t.match(cells, ['40', /^Older messages were summarised/, '2,600', '1,200', '100'], 'an answer without a count is left out');
  t.same(await axeFindings(page), []);
  await page.getByRole('button', { name: 'As a plot' }).click();
  await plot(4, 'between 40 and 2,600, 40', '1 time').waitFor();
});

t.test('case 43: a field can be set, made wrong and told beside itself; form and JSON agree', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada/config');
  const cap = page.getByLabel('Cap a day, in USD');
  await cap.fill('many');
  await page.getByText('This must be a number.').waitFor();
  t.ok(await page.getByRole('button', { name: 'Save' }).isDisabled());
  await cap.fill('2.5');
  t.equal(await cap.evaluate((field) => field.parentElement?.querySelector('.fact')?.textContent), 'Spent today: $0.00.', 'a cap says what is spent of it');
  const json = page.getByRole('textbox', { name: 'As JSON' });
  t.match(JSON.parse(await json.inputValue()), { budget: { dailyUsd: 2.5 } });
  const values = JSON.parse(await json.inputValue()) as Record<string, unknown>;
  await json.fill(JSON.stringify({ ...values, description: 'from the JSON' }));
  await page.waitForFunction(() => [...document.querySelectorAll('input')].some(({ value }) => value === 'from the JSON'));
  await page.keyboard.press('Control+s');
  await page.getByText('Saved.').first().waitFor();
  const { config } = await world.api<{ readonly config: Record<string, unknown> }>('GET', '/api/blocks/ada/config');
  t.match(config, { description: 'from the JSON', budget: { dailyUsd: 2.5 } });
});

t.test('what is typed and can’t be saved is not left without a question, is undone, and says why nothing is saved', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada', { budget: { dailyTokens: 500 } });
  const page = await world.page('/ui/blocks/ada/config?field=budget');
  const cap = page.getByLabel('Cap a day, in tokens');
  const json = page.getByRole('textbox', { name: 'As JSON' });
  await page.waitForFunction(() => document.activeElement?.closest('[data-path="budget.dailyTokens"]') !== null);
  t.equal(await page.evaluate(() => document.scrollingElement?.scrollTop), 0, 'the form scrolls, and not the page around it');
  t.ok(await json.evaluate((field) => field.getBoundingClientRect().bottom <= innerHeight && field.getBoundingClientRect().top > 0), 'the JSON stays in view');
  const questions: string[] = [];
  page.on('dialog', (dialog) => {
    questions.push(dialog.message());
    void dialog.dismiss();
  });
  for (const [field, typed] of [
    [cap, '10 000'],
    [json, '{ "description": "x", '],
  ] as const) {
    const before = await field.inputValue();
    await field.fill(typed);
    await page.getByText('1 value can’t be saved as it is.').waitFor();
    await page.getByRole('link', { name: 'Memory', exact: true }).click();
    t.equal(await field.inputValue(), typed, 'it is still there');
    await page.keyboard.press('Control+s');
    t.ok(await field.evaluate((element) => element === document.activeElement), 'saving leads to it');
    await page.getByRole('button', { name: 'Undo my changes' }).click();
    t.equal(await field.inputValue(), before);
  }
  t.equal(questions.length, 2);
  await page.getByRole('link', { name: 'Memory', exact: true }).click();
  await page.getByText('What the model sees').waitFor();
});

t.test('case 22: each field that two have changed can be taken from either side', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada', { description: 'before', goals: ['old'], budget: { dailyUsd: 1 } });
  const page = await world.page('/ui/blocks/ada/config');
  await page.getByLabel('What it is for').fill('mine');
  await page.getByLabel('Cap a day, in USD').fill('2');
  await world.api('PUT', '/api/blocks/ada/config', { description: 'theirs', goals: ['new'], budget: { dailyUsd: 3 } });
  const row = (name: string) => page.locator('.conflict tbody tr', { hasText: name });
  await row('What it is for').waitFor();
  const rows = await page.locator('.conflict tbody tr').evaluateAll((all) => all.map((each) => [...each.children].map(({ textContent }) => textContent)));
  t.same(
    [...rows].sort(),
    [
      ['Cap a day, in USD', '1', '2', '3'],
      ['Goals, one a line', '["old"]', '["old"]', '["new"]'],
      ['What it is for', '"before"', '"mine"', '"theirs"'],
    ],
    'both are shown beside what was before',
  );
  t.same(
    await page.locator('.conflict input:checked').evaluateAll((all) => all.map(({ parentElement }) => parentElement?.textContent).sort()),
    ['"mine"', '2', '["new"]'],
    'what I changed is mine at first, the rest theirs',
  );
  await row('What it is for').getByRole('radio').nth(1).check();
  await row('Goals').getByRole('radio').nth(0).check();
  await page.getByRole('button', { name: 'Go on with these' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').first().waitFor();
  const { config } = await world.api<{ readonly config: Record<string, unknown> }>('GET', '/api/blocks/ada/config');
  t.match(config, { description: 'theirs', goals: ['old'], budget: { dailyUsd: 2 } });
});

t.test('a save that fails says so beside its button, with the focus, and names the fields; one that is late shows both versions there', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada', { description: 'before' });
  const page = await world.page('/ui/blocks/ada/config', { expected: [/ 4(00|09|12|22) /] });
  const trouble = page.locator('.save-trouble');
  const isInView = (): Promise<boolean> => trouble.evaluate((each) => each === document.activeElement && each.getBoundingClientRect().bottom <= innerHeight);
  const zone = page.getByLabel('Time zone of the day');
  await zone.fill('Mars/Olympus');
  await page.getByRole('button', { name: 'Save' }).click();
  await trouble.getByRole('button', { name: 'Time zone of the day' }).waitFor();
  t.ok(await isInView());
  t.same(await axeFindings(page), []);
  await trouble.getByRole('button', { name: 'Time zone of the day' }).click();
  t.ok(await zone.evaluate((field) => field === document.activeElement), 'its name leads to the field');
  await zone.fill('Europe/Berlin');
  await page.getByLabel('What it is for').fill('mine');
  await page.route(/\/api\/blocks\/ada\/config$/, async (route) => {
    if (route.request().method() === 'PUT') await world.api('PUT', '/api/blocks/ada/config', { description: 'theirs' });
    await route.continue();
  });
  await page.getByRole('button', { name: 'Save' }).click();
  await trouble.locator('.conflict tbody tr', { hasText: 'What it is for' }).waitFor();
  t.ok(await isInView());
  await page.unroute(/\/api\/blocks\/ada\/config$/);
  await page.getByRole('button', { name: 'Go on with these' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').first().waitFor();
  t.match(await world.api('GET', '/api/blocks/ada/config'), { config: { description: 'mine', budget: { timezone: 'Europe/Berlin' } } });
});

t.test('what a block has spent names the calls without a price, beside its chat and with its costs', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Hello.' });
  await world.block('ada', { adapter: { provider: 'ollama', model: 'big:cloud' } });
  await world.api('POST', '/api/blocks/ada/chat?wait=30', { message: 'Hello' });
  const page = await world.page('/ui/blocks/ada');
  await page.locator('.spent', { hasText: 'Today' }).getByText('$0.00 + 1 not priced').waitFor();
  await page.locator('.tabs').getByRole('link', { name: 'Costs' }).click();
  await page.locator('.stat', { hasText: 'This month' }).getByText('$0.00 + 1 not priced').waitFor();
  t.equal(await page.locator('.stat', { hasText: 'Altogether' }).locator('dd').textContent(), '1 not priced1 call', 'no call has a known price');
  await page
    .getByRole('link', { name: /^Fleet/ })
    .first()
    .click();
  t.equal(
    await page
      .locator('.stat', { hasText: /^Spent/ })
      .locator('dd')
      .textContent(),
    '–',
  );
});

t.test('the caps of a block are lines in its plots: of the day, and of the sum of the month', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Hello.' });
  await world.block('ada', { budget: { dailyUsd: 2, monthlyUsd: 40 } });
  await world.api('POST', '/api/blocks/ada/chat?wait=30', { message: 'Hello' });
  const page = await world.page('/ui/blocks/ada/costs');
  await page.getByRole('img', { name: '$0.00 of $40.00 this month' }).waitFor();
  t.equal(await page.locator('.days .limit').count(), 1, 'the day has its line');
  t.same(await page.locator('.cap-line title').allTextContents(), ['$40.00'], 'and the month its own');
  t.same(await page.locator('.cap-key').allTextContents(), ['Cap: $2.00', 'Cap: $40.00'], 'and each is named');
});

t.test('case 40: what stops a block is said in the words of the command, and its button leads to the cure', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.api('POST', '/api/blocks', { name: 'ada', config: { adapter: { provider: 'openai', model: 'gpt-6' } } });
  const page = await world.page('/ui/blocks/ada/history');
  const { why } = await world.api<{ readonly why: string }>('GET', '/api/blocks/ada/why');
  await page.getByText(why).first().waitFor();
  await page.getByRole('button', { name: 'Set the openai key…' }).click();
  await page.getByLabel('OpenAI: Key').waitFor();
  await world.api('POST', '/api/blocks', { name: 'bob', config: { adapter: { provider: 'ollama', model: 'stand-in' } } });
  await world.reach(page, '/ui/blocks/bob/history');
  await page.getByRole('button', { name: 'Start' }).last().click();
  await page.locator('.pill', { hasText: 'Idle' }).waitFor();
});

t.test('case 23: a block that goes while its page is open is told, with what is possible', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada/memory', { expected: [/404/] });
  await page.getByRole('button', { name: 'Summarise now' }).waitFor();
  await world.api('DELETE', '/api/blocks/ada');
  await page.getByText('There is no block of this name any more.').waitFor();
  await page.getByRole('link', { name: 'Look in the archive' }).click();
  await page.getByRole('button', { name: 'Restore' }).first().click();
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await page.getByRole('heading', { name: 'ada', level: 1 }).waitFor();
});

t.test('case 44: the playground asks, shows usage, and its end closes the request', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/long/, { content: 'word '.repeat(4000) });
  world.standIn.onMessage(/./, { content: 'Played.' });
  const page = await world.page('/ui/playground');
  await page.getByLabel('provider/model 1', { exact: true }).fill('ollama/stand-in');
  await page.getByLabel('Message').fill('Play');
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.getByText('Played.').waitFor();
  await page.getByText('end_turn').waitFor();
  await page.getByLabel('Message').fill('long');
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.getByText('word word').waitFor();
  const live = async (): Promise<number> => (await world.api<{ readonly live: readonly unknown[] }>('GET', '/api/gateway/requests')).live.length;
  t.equal(await live(), 1);
  await page.getByRole('button', { name: 'Stop' }).click();
  for (let tries = 0; tries < 100 && (await live()) > 0; tries += 1) await page.waitForTimeout(50);
  t.equal(await live(), 0);
  await page.reload();
  t.equal(await page.getByLabel('provider/model 1', { exact: true }).inputValue(), 'ollama/stand-in', 'the last request stays in the tab');
});
