import t from 'tap';
import { closeBrowser, inWhole, isWhole, openWorld } from '../support/browser.ts';

t.teardown(closeBrowser);

const paragraphs = (count: number): string => Array.from({ length: count }, (_, index) => `Paragraph ${index} has some words in it, and ends.`).join('\n\n');
const LONG = paragraphs(60);

t.test('a message is answered while one looks, and stays after a reload', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Hello **there**.\n\n- one\n- two' });
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada');
  await page.getByRole('textbox', { name: 'Message ada…' }).fill('Who are you?');
  await page.keyboard.press('Enter');
  await page.locator('article', { hasText: 'Who are you?' }).first().waitFor();
  await page.getByText('there', { exact: true }).waitFor();
  await page.getByText('two', { exact: true }).waitFor();
  t.equal(await page.locator('strong', { hasText: 'there' }).count(), 1, 'Markdown becomes elements');
  await page.reload();
  await page.getByText('two', { exact: true }).waitFor();
  await page.getByText('Who are you?').first().waitFor();
  t.equal(await page.getByText('Who are you?').count(), 1, 'once');
});

t.test('a question stands above its answer and the head says that the block answers, however late the page reads the chat and the list', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: LONG.slice(0, 900) });
  await world.block('ada');
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const page = await world.page('/ui/blocks/ada', {
    // The changes of the list never come, so that only the open block knows what it does.
    prepare: (page) =>
      page.routeWebSocket(/\/api\/ws/, (socket) => {
        const server = socket.connectToServer();
        server.onMessage((message) => {
          if (!String(message).includes('"type":"fleet"') || String(message).includes('"reset":true')) socket.send(message);
        });
      }),
  });
  await page.getByText('Nothing has been said yet.').waitFor();
  const seen = await page.evaluateHandle(() => {
    const seen = { frames: 0, wrong: [] as string[], heads: [] as string[] };
    const look = (): void => {
      const lines = [...document.querySelectorAll('[data-line]')];
      const [question, answer] = [
        lines.findIndex((line) => line.textContent.includes('Who are you?')),
        lines.findIndex((line) => line.textContent.includes('Paragraph 0 ')),
      ];
      if (answer !== -1 && (question === -1 || question > answer)) seen.wrong.push(lines.map((line) => line.textContent.slice(0, 40)).join(' | '));
      if (document.querySelector('[data-live]') !== null) seen.heads.push(document.querySelector('.top .pill')?.textContent ?? '');
      seen.frames += 1;
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    return seen;
  });
  await page.route(/\/chat(\?|$)/, async (route) => {
    if (route.request().method() !== 'POST') return void held.then(() => route.continue());
    const response = await route.fetch();
    await held;
    await route.fulfill({ response });
  });
  await page.getByRole('textbox', { name: 'Message ada…' }).fill('Who are you?');
  await page.keyboard.press('Enter');
  await page.locator('[data-live]', { hasText: 'Paragraph 3 has' }).waitFor();
  t.equal(await page.locator('.day').count(), 1, 'its day is named at once');
  letGo();
  await page.getByText('Paragraph 15 has').waitFor();
  await page.locator('.meta').waitFor();
  const { frames, wrong, heads } = await seen.jsonValue();
  t.ok(frames > 20);
  t.strictSame(wrong.slice(0, 2), []);
  t.strictSame([...new Set(heads)], ['Answering']);
  await page.locator('.top .pill', { hasText: 'Idle' }).waitFor();
});

t.test('case 15: the server is killed in the middle of an answer and started again: the reply is complete once, without a reload', async (t) => {
  const world = await openWorld(t, { isProcess: true });
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: paragraphs(isWhole ? 60 : 30) });
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada', { expected: [/./] });
  const begun = await page.evaluate(() => performance.timeOrigin);
  await page.getByRole('textbox', { name: 'Message ada…' }).fill('Tell me much');
  await page.keyboard.press('Enter');
  await page.getByText('Paragraph 3 has').waitFor();
  await world.killServer();
  await page.getByText('Paragraph 3 has').waitFor(); // nothing is emptied
  await world.startServer();
  const last = `Paragraph ${isWhole ? 59 : 29} has`;
  await page.getByText(last).waitFor({ timeout: 60_000 });
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null, undefined, { timeout: 60_000 });
  t.equal(await page.getByText(last).count(), 1);
  t.equal(await page.getByText('Tell me much').count(), 1);
  t.equal(await page.evaluate(() => performance.timeOrigin), begun, 'no reload');
});

t.test('case 19: a message that is sent while the server is away is sent once when it is back', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Here I am.' });
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada', { expected: [/./] });
  const field = page.getByRole('textbox', { name: 'Message ada…' });
  await field.waitFor();
  await world.endServer();
  await field.fill('Are you there?');
  await page.keyboard.press('Enter');
  await page.getByText('Are you there?').first().waitFor();
  await world.startServer();
  await page.getByText('Here I am.').waitFor({ timeout: 60_000 });
  const { messages } = await world.api<{ readonly messages: readonly { readonly role: string }[] }>('GET', '/api/blocks/ada/chat');
  t.equal(messages.filter(({ role }) => role === 'user').length, 1);
});

t.test('case 20: a draft survives a reload and another block, and is gone after its receipt', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Yes.' });
  await world.block('ada');
  await world.block('bob');
  const page = await world.page('/ui/blocks/ada');
  const field = page.getByRole('textbox', { name: 'Message ada…' });
  await field.fill('an unfinished');
  await page.waitForFunction(() => JSON.stringify(localStorage).includes('an unfinished'));
  await page.reload();
  await page.waitForFunction(() => document.querySelector('textarea')?.value === 'an unfinished');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('bob');
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'Message bob…' }).waitFor();
  t.equal(await page.getByRole('textbox', { name: 'Message bob…' }).inputValue(), '');
  await page.goBack();
  await page.waitForFunction(() => document.querySelector('textarea')?.value === 'an unfinished');
  await page.getByRole('textbox', { name: 'Message ada…' }).press('Enter');
  await page.getByText('Yes.').waitFor();
  await page.reload();
  await page.getByText('Yes.').waitFor();
  t.equal(await page.getByRole('textbox', { name: 'Message ada…' }).inputValue(), '');
});

t.test('case 28: a reader who scrolls up keeps the place while the answer grows', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/first/, { content: LONG }, { chunkSize: 1000, latency: 1 });
  world.standIn.onMessage(/./, { content: paragraphs(isWhole ? 60 : 30) });
  await world.block('ada');
  await world.api('POST', '/api/blocks/ada/chat?wait=30', { message: 'first' });
  const page = await world.page('/ui/blocks/ada');
  await page.getByText('Paragraph 59 has').waitFor();
  await world.api('POST', '/api/blocks/ada/chat', { message: 'again' });
  await page.locator('[aria-busy="true"]').waitFor();
  const log = page.getByRole('log', { name: /onversation|Chat/ }).first();
  await log.hover();
  await page.mouse.wheel(0, -900);
  const topOf = (): Promise<number> =>
    page.evaluate(() => {
      const scroller = document.querySelector('[role="log"]') as HTMLElement;
      const line = [...scroller.querySelectorAll('p')].find((each) => each.getBoundingClientRect().top >= scroller.getBoundingClientRect().top);
      (globalThis as unknown as { line: Element | undefined }).line ??= line;
      return ((globalThis as unknown as { line: Element }).line as HTMLElement).getBoundingClientRect().top;
    });
  // The wheel has turned: two frames are at one place, away from the end.
  await page.waitForFunction(() => {
    const { scrollTop, scrollHeight, clientHeight } = document.querySelector('[role="log"]') as HTMLElement;
    const isStill = (globalThis as unknown as { place?: number }).place === scrollTop;
    (globalThis as unknown as { place: number }).place = scrollTop;
    return isStill && scrollHeight - clientHeight - scrollTop > 500;
  });
  const before = await topOf();
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null, undefined, { timeout: 60_000 });
  t.ok(Math.abs((await topOf()) - before) <= 1, `the line moved by ${(await topOf()) - before} px`);
});

t.test('case 41: halting from the page ends calls, every page says so, and a release by the command is seen', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada');
  await page.getByRole('button', { name: 'Halt all model calls' }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('looking closer');
  await page.getByRole('dialog').getByRole('button', { name: 'Halt all model calls' }).click();
  await page.getByText('All model calls are halted.').waitFor();
  t.match(await world.api('GET', '/api/halt'), { halted: true, reason: 'looking closer' });
  await page.keyboard.press('g');
  await page.keyboard.press('e');
  await page.getByRole('heading', { name: 'Events' }).waitFor();
  await page.getByText('All model calls are halted.').waitFor();
  await world.api('DELETE', '/api/halt');
  await page.getByText('All model calls are halted.').waitFor({ state: 'detached' });
});

t.test('while model calls are halted, only a block that needs something else needs a person', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada');
  await world.block('tight', { budget: { dailyTokens: 1 } });
  await world.block('odd');
  await world.api('PUT', '/api/blocks/odd/config', { adapter: null });
  await world.api('POST', '/api/blocks/odd/chat', { message: 'Who answers?' });
  const page = await world.page('/ui/');
  const needs = page.locator('.need li');
  await needs.filter({ hasText: 'odd' }).waitFor();
  t.equal(await page.locator('.stat', { hasText: 'Blocks with failures' }).locator('dd').textContent(), '1', 'a block that has failed is counted');
  await world.api('POST', '/api/halt', { reason: 'looking closer' });
  await page.getByText('All model calls are halted.').waitFor();
  for (const name of ['ada', 'tight']) await page.locator(`[data-name="${name}"]`).getByRole('img', { name: 'Paused' }).waitFor();
  t.same(await needs.locator('a.b').allTextContents(), ['odd']);
  t.match(await page.title(), /^\(1\) /);
});

t.test('case 11: markup in answers, names and logs runs nothing and is read as text', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const payloads = [
    '<script>globalThis.pwned=1</script>',
    '<img src=x onerror="globalThis.pwned=1">',
    '<svg/onload=globalThis.pwned=1>',
    '<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>',
    '[x](javascript:globalThis.pwned=1)',
    '[x](JaVaScRiPt:globalThis.pwned=1)',
    '[x](java\nscript:globalThis.pwned=1)',
    '[x](data:text/html,<script>pwned=1</script>)',
    '![x](https://evil.example/steal.png)',
    '<a href="javascript:pwned=1">x</a>',
    '{{constructor.constructor("pwned=1")()}}',
    '<math><mtext><style><img src=x onerror=pwned=1></style></mtext></math>',
  ];
  world.standIn.onMessage(/./, { content: payloads.join('\n\n') });
  await world.block('ada', { description: '<img src=x onerror=globalThis.pwned=1>', tags: ['<b>'] });
  await world.api('POST', '/api/blocks/ada/chat?wait=30', { message: payloads.join('\n\n') });
  const page = await world.page('/ui/blocks/ada');
  await page.getByText('globalThis.pwned=1', { exact: false }).first().waitFor();
  for (const path of ['/ui/', '/ui/blocks/ada', '/ui/blocks/ada/logs', '/ui/blocks/ada/config', '/ui/events']) {
    await world.reach(page, path);
  }
  t.equal(await page.evaluate(() => (globalThis as unknown as { pwned?: number }).pwned), undefined);
  await world.reach(page, '/ui/blocks/ada');
  await page.getByText('evil.example').first().waitFor();
  t.equal(await page.locator('article img, article iframe, article script, article a[href^="java"]').count(), 0);
});

t.test('case 12: HTML that is forced into the page is stopped by its policy', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const page = await world.page('/ui/', { expected: [/TrustedHTML|Trusted Type|innerHTML/i] });
  await page.getByRole('heading', { name: 'Blockhouse runs.' }).waitFor();
  const thrown = await page.evaluate(() => {
    try {
      document.body.innerHTML = '<p>planted</p>';
      return 'nothing';
    } catch (error) {
      return (error as Error).name;
    }
  });
  t.equal(thrown, 'TypeError');
});
