// `npm run screenshots`: the pictures of docs/dashboard.md, made of a real server with a stand-in provider.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { closeBrowser, openWorld } from './browser.ts';

const IMAGES = resolve(import.meta.dirname, '../../docs/images');
const ANSWER = [
  'Four do. All of them import a CSV written by Excel on Windows, and all fail on the first row:',
  '- `#4811` and `#4816`: the header begins with a byte order mark, so the column is named `\\ufeffemail`.\n- `#4822`: the same, and **semicolons** instead of commas.\n- `#4830`: no detail given, but the attached file starts with `EF BB BF`.',
  'Stripping the mark before the header is read would settle three of the four:',
  "```js\nconst text = decode(bytes).replace(/^\\uFEFF/, '');\nconst separator = guessSeparator(text, [',', ';', '\\t']);\n```",
].join('\n\n');
const BLOCKS = [
  ['support', 'Answers mail of the small team', { budget: { dailyUsd: 5 } }],
  ['release-notes', 'Turns merged changes into notes', { budget: { dailyUsd: 2 } }],
  ['triage', 'Labels and routes new issues', {}],
  ['sql-tutor', 'Explains queries to interns', {}],
  ['standup', 'Asks three questions each morning', {}],
  ['translate-de', 'English to German', {}],
] as const;

t.teardown(closeBrowser);

t.test('pictures', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  mkdirSync(IMAGES, { recursive: true });
  world.standIn.onMessage(/./, { content: ANSWER });
  for (const [name, description, config] of BLOCKS) await world.block(name, { description, ...config });
  for (const [name, description] of [
    ['crm-sync', 'Keeps the customer list in step'],
    ['night-digest', 'Sums up the day at 22:00'],
  ])
    await world.api('POST', '/api/blocks', { name, config: { description } });
  for (const [name] of BLOCKS.slice(0, 5))
    await world.api('POST', `/api/blocks/${name}/chat?wait=30`, { message: 'Which of this week’s tickets mention the import failing?' });
  const fleet = await world.page('/ui/', { theme: 'light', width: 1280, height: 800 });
  await fleet.getByText('8 blocks').waitFor();
  await fleet.screenshot({ path: join(IMAGES, 'fleet-light.png') });
  await world.api('POST', '/api/blocks/support/chat', { message: 'Write the two-line fix for the importer.' });
  const chat = await world.page('/ui/blocks/support', { theme: 'dark', width: 1280, height: 800 });
  await chat.locator('[aria-busy="true"]').waitFor();
  await chat.waitForTimeout(300);
  await chat.screenshot({ path: join(IMAGES, 'chat-dark.png') });
});
