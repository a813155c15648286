// Everything that others write – models, their servers, clients, files by hand, bills – in every place where the page shows it.
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { closeBrowser, isWhole, openWorld, type World } from '../support/browser.ts';
import { PAGE_PATHS } from '../support/page-paths.ts';

t.teardown(closeBrowser);

/** Each that takes effect writes `pwned`, asks another place for something, or makes an element that the page never has. */
const MARKUP = [
  '<img src=x onerror=globalThis.pwned=1>',
  '<svg/onload=globalThis.pwned=1>',
  '</title></style></textarea></script><script>globalThis.pwned=1</script>',
  '<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>',
  '<style>@import "http://127.0.0.1:1/x";*{background:url(http://127.0.0.1:1/x)}</style>',
  '<link rel=stylesheet href=//127.0.0.1:1/x><base href=//127.0.0.1:1/><meta http-equiv=refresh content="0;url=http://127.0.0.1:1/">',
  '<form id=app action=//127.0.0.1:1><input name=location autofocus onfocus=pwned=1></form><a id=page name=app>',
  '<math><mtext><style><img src=x onerror=pwned=1></style></mtext></math><details open ontoggle=pwned=1>',
  '$\\href{javascript:pwned=1}{x}$ \\(\\includegraphics{http://127.0.0.1:1/x}\\)',
];
const LINKS = [
  '[x](javascript:pwned=1)',
  '[x](\u0001javascript:pwned=1)',
  '[x](JaVaScRiPt:pwned=1)',
  '[x](java\tscript:pwned=1)',
  '[x](jav&#x09;ascript:pwned=1)',
  '[x](<javascript:pwned=1>)',
  '[x](data:text/html,<script>opener.pwned=1</script>)',
  '[x](blob:http://127.0.0.1/x)',
  '[x](vbscript:x)',
  '[x](/ui/settings)',
  '[x](//127.0.0.1:1/x)',
  '<javascript:pwned=1>',
  '<a href="javascript:pwned=1">x</a>',
  '[x]: javascript:pwned=1\n[x]',
  '![x](http://127.0.0.1:1/x.png)',
  '[![x](http://127.0.0.1:1/x.png)](javascript:pwned=1)',
  '![x](data:image/svg+xml,<svg onload=pwned=1>)',
  '```html\n<img src=x onerror=pwned=1>\n```',
  '```"><img/src=x/onerror=pwned=1>\ncode\n```',
  '| <img src=x onerror=pwned=1> | [x](javascript:pwned=1) |\n| --- | --- |\n| <svg onload=pwned=1> | ![x](http://127.0.0.1:1/x) |',
  '1. <img src=x onerror=pwned=1>\n   > [x](javascript:pwned=1)',
];
const TEXT = [...MARKUP, ...LINKS].join('\n\n');
/** Pages with answers, names, and what a provider has sent. All others in `test:browser`. */
const IN_SHORT = ['/ui/', '/ui/blocks/ada', '/ui/gateway?request=tool', '/ui/gateway?request=failing', '/ui/search?find=onerror'];
/** Without blanks, for names. */
const NAME = '"><svg/onload=globalThis.pwned=1><img/src=x/onerror=pwned=1>';

/** A provider that writes markup wherever a server can. */
async function hostileProvider(t: Test): Promise<string> {
  const server: Server = createServer((req, res) => {
    if (req.url?.endsWith('/models') === true) {
      res.setHeader('content-type', 'application/json');
      res.end(
        JSON.stringify({
          object: 'list',
          data: [
            { id: `m/${NAME}`, object: 'model' },
            { id: 'good', object: 'model' },
          ],
        }),
      );
      return;
    }
    let body = '';
    req.on('data', (piece: Buffer) => {
      body += piece.toString();
    });
    req.on('end', () => {
      if (body.includes('fail please')) {
        res.writeHead(422, { 'content-type': 'application/json' });
        res.end(JSON.stringify({ error: { message: TEXT, type: NAME, code: NAME } }));
        return;
      }
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const tool = { index: 0, id: NAME, type: 'function', function: { name: NAME, arguments: JSON.stringify({ [NAME]: TEXT }) } };
      const chunk = (delta: object, end: object = {}): string =>
        `data: ${JSON.stringify({ id: NAME, object: 'chat.completion.chunk', model: NAME, choices: [{ index: 0, delta, finish_reason: null, ...end }] })}\n\n`;
      for (let at = 0; at < TEXT.length; at += 40) res.write(chunk({ content: TEXT.slice(at, at + 40) }));
      if (body.includes('use the tool')) res.write(chunk({ reasoning_content: TEXT, tool_calls: [tool] }));
      res.write(chunk({}, { finish_reason: body.includes('use the tool') ? 'tool_calls' : 'stop' }));
      res.end('data: [DONE]\n\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** Fills everything that is shown with markup. */
async function furnish(world: World): Promise<void> {
  const config = { adapter: { provider: 'evil', model: 'good' }, description: NAME, tags: ['<b>', '"><i>', `x-${MARKUP[1]}`], systemPrompt: TEXT };
  await world.block('ada', config);
  await world.api('POST', '/api/blocks/ada/chat?wait=30', { message: TEXT });
  await world.api('POST', '/api/blocks/ada/chat?wait=30', { message: `fail please ${TEXT}` });
  await world.api('POST', '/api/blocks/ada/memory/facts', { text: TEXT, pinned: true });
  await world.block('odd', { adapter: { provider: 'evil', model: `m/${NAME}` }, description: TEXT.slice(0, 400) });
  await world.api('POST', '/api/halt', { reason: NAME });
  await world.api('DELETE', '/api/halt');
  await world.api('PUT', `/api/models/${encodeURIComponent(`alias ${NAME}`)}`, { targets: [`evil/${NAME}`] });
  const { key } = await world.api<{ key: string }>('POST', '/api/keys', { name: 'web-app', models: ['*', NAME] });
  await world.api('POST', '/api/keys/web-app/debug', { minutes: 30 });
  for (const [content, model, id] of [
    [TEXT, 'evil/good', 'plain'],
    [`fail please ${TEXT}`, `evil/${NAME}`, 'failing'],
    ['use the tool', `alias ${NAME}`, 'tool'],
  ] as const) {
    const body = JSON.stringify({ model, stream: true, user: NAME, messages: [{ role: 'user', content }] });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-request-id': id, 'user-agent': NAME };
    await (await fetch(`${world.url}/v1/chat/completions`, { method: 'POST', headers, body })).text();
  }
  await world.api('PUT', `/api/prices/${encodeURIComponent(`evil/${NAME}`)}`, { price: { input: 1, output: 2 } });
  await world.api('DELETE', '/api/blocks/odd');
}

/** Elements and addresses that no text may make. */
async function planted(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    if ('pwned' in globalThis) found.push('a script has run');
    const never =
      'img, iframe, object, embed, math, base, form[action], form[id], script:not([src^="/ui/assets/"]), link:not([rel]), meta[http-equiv], style, [onerror], [onload], [srcdoc]';
    for (const element of document.querySelectorAll(never)) found.push(element.outerHTML.slice(0, 200));
    for (const link of document.querySelectorAll<HTMLAnchorElement>('[href], [src], [action]')) {
      const to = link.getAttribute('href') ?? link.getAttribute('src') ?? '';
      if (!/^(?:https?:\/\/|mailto:|\/ui\/|#|data:image\/svg\+xml)/.test(to)) found.push(`leads to ${to.slice(0, 80)}`);
      if (link.tagName === 'A' && /^https?:/.test(to) && link.rel !== 'noopener noreferrer nofollow') found.push(`knows its opener: ${to.slice(0, 80)}`);
    }
    return found;
  });
}

t.test('markup of models, servers, clients and files is text on every page, and nothing of it is fetched', async (t) => {
  const address = await hostileProvider(t);
  const world = await openWorld(t, {
    files(workspace) {
      writeFileSync(join(workspace, 'auth.json'), JSON.stringify({ evil: { adapter: 'openai', baseURL: address, auth: 'none' }, [NAME]: {} }), { mode: 0o600 });
    },
  });
  if (world === undefined) return;
  await furnish(world);
  const page = await world.page('/ui/', { expected: [/(?:422|502) \(/] });
  const tabs = ['', '/memory', '/config', '/logs', '/costs', '/history'].map((tab) => `/ui/blocks/ada${tab}`);
  const further = ['/ui/gateway?tab=programs', '/ui/gateway?request=plain', '/ui/gateway?request=failing', '/ui/gateway?request=tool', '/ui/costs?of=gateway'];
  let shown = 0;
  const paths = [...PAGE_PATHS, ...tabs, ...further, '/ui/search?find=onerror'];
  for (const path of isWhole ? paths : IN_SHORT) {
    await world.reach(page, path);
    t.same(await planted(page), [], path);
    if ((await page.locator('main').innerText()).includes('pwned')) shown += 1;
  }
  t.ok(shown >= (isWhole ? 10 : IN_SHORT.length), `${shown} pages show the markup as text`);
  await t.test('also where one has to ask for it: requests, the palette, answers of the playground', async (t) => {
    await world.show(page, '/ui/gateway');
    await page.getByRole('button', { name: 'Last 500' }).click();
    await page.locator('.opens td', { hasText: 'pwned' }).first().waitFor();
    t.same(await planted(page), [], 'the list of requests');
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('combobox').fill(NAME);
    await page.getByRole('option', { name: NAME }).first().waitFor();
    t.same(await planted(page), [], 'the palette');
    await world.show(page, '/ui/playground');
    for (const message of ['use the tool', 'fail please']) {
      await page.getByLabel('provider/model 1', { exact: true }).fill('evil/good');
      await page.getByLabel('Message').fill(message);
      await page.getByRole('button', { name: 'Ask' }).click();
      await page.locator('.answer[aria-busy=false]', { hasText: 'pwned' }).waitFor();
      t.same(await planted(page), [], `an answer to ${message}`);
    }
  });
});
