// Follows the page on clients as printed: a real server, real clients, and a stand-in for Ollama.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { chromium } from 'playwright-core';
import t, { type Test } from 'tap';
import { knownProgram } from '../../cli/input/programs.ts';
import { ROOT } from '../cli/run.ts';
import { findChromium, type Startable } from '../support/find-chromium.ts';
import { type Block, blocksOf, newReader, type Reader } from './guide-blocks.ts';

const PAGE = '../clients.md';
const ANSWER = 'An answer of the stand-in.';
const SDKS = ['openai', '@anthropic-ai', 'ollama'];

/** False, or why a program in Python can't run. */
function lacksPython(module: string): string | false {
  const { status } = spawnSync('python3', ['-c', `import ${module}`]);
  return status === 0 ? false : `python3 with the package ${module} is not installed`;
}

/** Someone with the SDKs installed, whose models are those of a stand-in. */
async function reader(t: Test, env: Record<string, string> = {}): Promise<Reader> {
  const standIn = new LLMock({ port: 0, logLevel: 'silent' });
  standIn.onMessage(/./, { content: ANSWER });
  await standIn.start();
  t.teardown(() => standIn.stop());
  const one = await newReader(t, { OLLAMA_BASE_URL: standIn.url, ...env });
  for (const sdk of SDKS) symlinkSync(join(ROOT, 'node_modules', sdk), join(one.home, 'project/node_modules', sdk));
  return one;
}

const sections = readFileSync(join(ROOT, 'docs/clients.md'), 'utf8')
  .split('\n## ')
  .slice(1)
  .map((text) => text.split('\n')[0] ?? '');

function sectionOf(section: string): string {
  return readFileSync(join(ROOT, 'docs/clients.md'), 'utf8').split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '';
}

/** The blocks of a section. */
function blocksIn(section: string): Block[] {
  const text = sectionOf(section);
  return blocksOf(PAGE).filter((block) => text.includes(block.text));
}

/** A reader who has started as the page says. */
async function started(t: Test, env?: Record<string, string>): Promise<Reader> {
  const by = await reader(t, env);
  for (const block of blocksIn('Start')) await by.follow(block);
  return by;
}

/** The one who follows the sections that need nothing of their own, one after the other. */
const shared = await started(t);

/** Follows one section, and resolves with what its commands printed. */
async function follow(section: string, by = shared): Promise<string> {
  let output = '';
  for (const block of blocksIn(section)) output += await by.follow(block);
  return output;
}

const countOf = (text: string): number => text.split(ANSWER).length - 1;

/** The texts of the chunks that a stream of Chat Completions holds. */
const streamed = (text: string): string => [...text.matchAll(/"delta":\{(?:"role":"assistant",)?"content":"([^"]*)"/g)].map(([, piece = '']) => piece).join('');

t.test('curl', async (t) => {
  const output = await follow('curl');
  t.equal(countOf(output), 4, 'whole, in each protocol');
  t.equal(streamed(output), ANSWER);
  t.match(output, /"model":"gpt-4o-mini"[\s\S]+data: \[DONE\]/, 'a stream under the name of the alias');
});

t.test("OpenAI's SDK for JavaScript", async (t) => {
  t.equal(countOf(await follow("OpenAI's SDK for JavaScript")), 3);
});

t.test("OpenAI's SDK for Python", { skip: lacksPython('openai') }, async (t) => {
  t.equal(countOf(await follow("OpenAI's SDK for Python")), 3);
});

t.test("Anthropic's SDK for JavaScript", async (t) => {
  t.equal(countOf(await follow("Anthropic's SDK for JavaScript")), 2);
});

t.test("Anthropic's SDK for Python", { skip: lacksPython('anthropic') }, async (t) => {
  t.equal(countOf(await follow("Anthropic's SDK for Python")), 2);
});

t.test("Ollama's library for JavaScript", async (t) => {
  t.equal(countOf(await follow("Ollama's library for JavaScript")), 2);
});

t.test('a block as a model', async (t) => {
  const output = await follow('A block as a model');
  t.equal(countOf(output), 2, 'whole, and the same streamed');
  t.equal([...output.matchAll(/"text_delta","text":"([^"]*)"/g)].map(([, piece = '']) => piece).join(''), ANSWER, 'the same, streamed');
});

t.test('coding agents', async (t) => {
  const output = await follow('Coding agents');
  t.equal(output.match(/^gpt-4o-mini$/gm)?.length, 2, 'in either protocol');
});

/** A folder with the programs of others, which `npm run check:clients` fills: too much for every machine that runs the tests. */
const PROGRAMS = process.env['BLOCKHOUSE_CLIENTS'];
/** Pages whose commands are not run, with the reason in the page. */
const NOT_RUN = ['open-webui.md'];

for (const page of readdirSync(join(ROOT, 'docs/clients'))) {
  const skip = PROGRAMS === undefined ? '`npm run check:clients` runs it' : NOT_RUN.includes(page) && 'the page says why';
  t.test(`the page ${page}`, { skip }, async (t) => {
    const by = await reader(t, { PROGRAMS: PROGRAMS ?? '', AIDER_CHAT_HISTORY_FILE: '/dev/null', AIDER_INPUT_HISTORY_FILE: '/dev/null' });
    for (const name of ['ai', '@ai-sdk']) symlinkSync(join(PROGRAMS ?? '', 'node_modules', name), join(by.home, 'project/node_modules', name));
    await by.follow({ language: 'sh', text: 'export PATH="$PROGRAMS/bin:$PATH"\n' });
    await by.follow({ language: 'sh', text: 'blockhouse serve\n' });
    let output = '';
    for (const block of blocksOf(`../clients/${page}`)) output += await by.follow(block);
    t.match(output, ANSWER);
    t.match(output, /launch: [1-9]\d* calls?, .* revoked\)\./);
  });
}

t.test('every page of a program has it in its title, and the command that `launch` says for it', (t) => {
  for (const page of readdirSync(join(ROOT, 'docs/clients'))) {
    const text = readFileSync(join(ROOT, 'docs/clients', page), 'utf8');
    t.ok(sectionOf('Programs').includes(`[${/^# (.*)/.exec(text)?.[1]}](clients/${page})`.replace('[llm]', '[`llm`]')), page);
    t.ok(text.includes(NOT_RUN.includes(page) ? 'were not run' : 'blockhouse launch'), page);
  }
  for (const [name, page] of [
    ['claude', 'claude-code'],
    ['codex', 'codex'],
    ['opencode', 'opencode'],
    ['aider', 'aider'],
    ['llm', 'llm'],
  ] as const)
    t.ok(readFileSync(join(ROOT, `docs/clients/${page}.md`), 'utf8').includes(`\n${knownProgram(name)?.install}\n`), page);
  t.end();
});

const found = await findChromium();

t.test('a page in the browser', { skip: found === undefined && 'there is no Chromium' }, async (t) => {
  if (found === undefined) return;
  let html = '';
  const pages = createServer((_req, res) => res.writeHead(200, { 'content-type': 'text/html' }).end(html)).listen(0, '127.0.0.1');
  await once(pages, 'listening');
  t.teardown(() => pages.close());
  const origin = `http://localhost:${(pages.address() as AddressInfo).port}`;
  for (const [named, expected] of [
    [origin, ANSWER],
    ['http://localhost:1', ''],
  ] as const) {
    const by = await started(t, { BLOCKHOUSE_WEB_ORIGINS: named });
    await follow('A page in the browser', by);
    html = readFileSync(join(by.home, 'project/page.html'), 'utf8');
    const key = (await by.follow({ language: 'sh', text: 'echo "$BLOCKHOUSE_KEY"\n' })).trim();
    t.equal(await shown(t, found, `${origin}/page.html#${key}`), expected, `named is ${named === origin ? 'this origin' : 'another one'}`);
  }
});

/** What the page shows once nothing is loading any more. */
async function shown(t: Test, { executablePath, env }: Startable, url: string): Promise<string> {
  const browser = await chromium.launch({ executablePath, env: { ...process.env, ...env }, args: ['--no-sandbox', '--disable-gpu'] });
  t.teardown(() => browser.close());
  const page = await browser.newPage();
  await page.goto(url, { waitUntil: 'networkidle' });
  return page.locator('pre').innerText();
}

t.test('each section of the page has its test', async (t) => {
  const spec = readFileSync(new URL(import.meta.url), 'utf8').replaceAll("\\'", "'");
  for (const section of sections)
    t.ok(
      ['Start', 'Programs'].includes(section) || spec.toLowerCase().includes(`t.test('${section.toLowerCase()}'`) || spec.includes(`t.test("${section}"`),
      section,
    );
});
