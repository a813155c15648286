import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { LLMock } from '@copilotkit/aimock';
import t, { type Test } from 'tap';
import { blocksOf, GUIDES, newReader, type Reader } from './guide-blocks.ts';

/** Pages beside the guides whose commands are run, too. */
const README = '../../README.md';
const BLOCKS = '../blocks.md';

const ANSWER = 'An answer of the stand-in.';
const hasPython = spawnSync('python3', ['--version']).status === 0;

/** Each block that is not run, by its first line, with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'npm ci': 'installs packages and a link outside of the test',
  'npm ci && npm run demo   # an answer, a streamed one, a block that answers, and the dashboard':
    'installs packages; spec/cli/commands/demo.spec.ts runs the demo',
  'ollama pull gemma4': 'downloads a model',
  'echo http://192.168.1.20:11434 | blockhouse auth set ollama --field baseURL': 'names a machine of the reader',
  'blockhouse auth set openai --field baseURL': 'asks for an address and a key at a terminal',
  'blockhouse auth set anthropic': 'asks for a key at a terminal; the piped form beside it is run',
  'blockhouse chat ada': 'is a conversation at a terminal',
  'blockhouse chat --provider ollama --model gemma4': 'is a conversation at a terminal',
  'npm pack': 'installs a package outside of the test; a link to this build stands in for it',
  'systemctl --user edit blockhouse': 'opens an editor',
  '[Service]': 'is the content of a file of systemd',
  'loginctl enable-linger': 'changes the settings of the user',
  'journalctl --user -u blockhouse -f': 'reads the journal of the machine',
  'mv ~/Library/Logs/blockhouse.log ~/Library/Logs/blockhouse.old.log': 'needs launchd',
  '[boot]': 'is the content of a file of WSL',
  "nohup sh -c 'until blockhouse serve; do sleep 5; done' >> ~/blockhouse.log 2>&1 &": 'leaves a server behind',
  '@reboot until /usr/local/bin/node /usr/local/bin/blockhouse serve; do sleep 5; done >> $HOME/blockhouse.log 2>&1': 'is a line of a crontab',
  'blockhouse launch --model ollama/gemma4 claude': 'is a program of others; spec/docs/clients.spec.ts runs it',
  'git pull': 'changes this checkout',
  'docker compose up --build --detach': 'needs a container runtime',
  'mkdir -m 700 secrets': 'needs a container runtime',
  'docker compose stop': 'needs a container runtime',
  'docker compose run --rm --no-deps -T --entrypoint tar server -xz -C /data < blockhouse-backup.tar.gz': 'needs a container runtime',
};

/** Someone who reads guides, with a stand-in for Ollama and for Anthropic. */
async function reader(t: Test): Promise<Reader> {
  const standIn = new LLMock({ port: 0, logLevel: 'silent' });
  standIn.onMessage(/./, { content: ANSWER });
  await standIn.start();
  t.teardown(() => standIn.stop());
  return newReader(t, { OLLAMA_BASE_URL: standIn.url, ANTHROPIC_BASE_URL: standIn.url });
}

/** Follows a guide, and resolves with what each command printed, by the text of its block. */
async function read(guide: string, by: Reader): Promise<(start: string) => string> {
  const outputs: [text: string, output: string][] = [];
  for (const block of blocksOf(guide)) if (hasPython || !block.text.startsWith('python3 ')) outputs.push([block.text, await by.follow(block)]);
  return (start) => outputs.findLast(([text]) => text.startsWith(start))?.[1] ?? `no block starts with ${start}`;
}

const countOf = (text: string): number => text.split(ANSWER).length - 1;

t.test('the README', async (t) => {
  const output = await read(README, await reader(t));
  t.match(output('curl'), ANSWER);
  t.match(output('blockhouse new'), /Who are you\?[\s\S]+An answer of the stand-in/);
});

t.test('the walk of the page on blocks', async (t) => {
  const by = await reader(t);
  await by.follow({ language: 'sh', text: 'blockhouse serve\n' });
  t.match((await read(BLOCKS, by))('blockhouse new'), /My name is Grace[\s\S]+An answer of the stand-in/);
});

t.test('a local model in five minutes', async (t) => {
  const output = await read('local-model.md', await reader(t));
  t.match(output('blockhouse chat --provider ollama --model gemma4 "Why'), ANSWER);
  t.match(output('echo "Blockhouse keeps'), ANSWER);
  t.match(JSON.parse(output('TOKEN=')), { provider: 'ollama', message: { content: ANSWER } });
});

t.test('give it keys', async (t) => {
  const output = await read('keys.md', await reader(t));
  t.match(output('blockhouse verify'), 'The key is valid.');
  t.match(output('blockhouse auth ls'), /anthropic +apiKey +\S+ +auth\.json/);
  t.notMatch(output('blockhouse auth ls'), 'a-key-of-the-test');
  t.match(output('blockhouse chat'), ANSWER);
  t.match(output('blockhouse auth rm'), ANSWER);
});

t.test('a block that answers your messages', async (t) => {
  const output = await read('block.md', await reader(t));
  t.match(output('blockhouse send ada --wait'), ANSWER);
  t.match(output('blockhouse history ada'), /Who are you\?[\s\S]+An answer of the stand-in[\s\S]+haiku/);
  t.match(output('blockhouse ls'), 'gemma4');
  t.match(output('ls ~'), 'chat.json');
  t.match(output('blockhouse stop'), 'ada');
});

t.test('put it in your program', async (t) => {
  const output = await read('program.md', await reader(t));
  t.equal(countOf(output('node ask.mjs')), 2);
  t.match(output('node careful.mjs'), 'INVALID_REQUEST false');
  t.match(output('node ada.mjs'), ANSWER);
});

t.test('call it from Python, curl, the browser', async (t) => {
  const output = await read('call-it.md', await reader(t));
  t.match(output('TOKEN='), ANSWER);
  t.match(output('call -N'), 'event: done');
  t.match(JSON.parse(output("call 'http")), { entry: { status: 'done' }, answer: { content: ANSWER } });
  if (hasPython) t.equal(countOf(output('python3')), 3);
  else t.comment('python3 is not installed, so ask.py was not run.');
  const [, page = '', token = ''] = /Open (\S+)#(\S+)/.exec(output('node page.mjs')) ?? [];
  const response = await fetch(page);
  t.match(response.headers.get('content-type'), 'text/html');
  t.equal(await askOnPage(page, token, await response.text()), ANSWER);
});

/** Runs the script of the page with as much of a browser as it uses, and resolves with what it shows. */
async function askOnPage(page: string, token: string, html: string): Promise<string> {
  const form: { onsubmit?: (event: object) => Promise<void> } = {};
  const pre = { textContent: '' };
  const script = /<script[^>]*>([\s\S]*)<\/script>/.exec(html)?.[1] ?? '';
  class OneField {
    get(): string {
      return 'hello';
    }
  }
  runInNewContext(script, {
    location: { hash: `#${token}` },
    document: { querySelector: (name: string) => (name === 'form' ? form : pre) },
    fetch: (path: string, init: RequestInit) => fetch(new URL(path, page), init),
    FormData: OneField,
  });
  await form.onsubmit?.({ preventDefault: () => undefined, target: form });
  return pre.textContent;
}

t.test('move from LiteLLM', async (t) => {
  const by = await reader(t);
  const output = await read('litellm.md', by);
  t.match(output('blockhouse import --from litellm config.yaml --dry-run'), /left out +model_list\[0\]\.litellm_params\.rpm[\s\S]+Nothing was written/);
  t.match(
    output('blockhouse import --from litellm config.yaml\n'),
    /Wrote auth\.json and models\.json[\s\S]+the connection groq can.t be called as it is[\s\S]+set GROQ_API_KEY[\s\S]+: 1 finding\./,
  );
  t.match(output('blockhouse alias ls'), /assistant +ollama\/gemma4[\s\S]+big +groq\/llama-3\.3-70b-versatile, then ollama\/gemma4/);
  t.match(output('curl -s'), ANSWER);
});

t.test('run it as a service', async (t) => {
  const output = await read('service.md', await reader(t));
  t.match(output('blockhouse service install'), 'Listens on http://127.0.0.1:');
  t.match(output('blockhouse service status'), /state +running/);
  t.match(output('blockhouse service uninstall'), 'Stopped the service');
});

t.test('run it in a container', async (t) => {
  // Every block needs a container runtime. spec/package/container.spec.ts looks at what they run.
  await read('container.md', await reader(t));
});

t.test('upgrade and back up', async (t) => {
  const by = await reader(t);
  const block = 'blockhouse service install\nblockhouse new ada --provider ollama --model gemma4 --start\nblockhouse send ada --wait "Who are you?"\n';
  await by.follow({ language: 'sh', text: block });
  const output = await read('upgrade.md', by);
  t.match(output('blockhouse --version'), 'nothing wrong');
  const chat = readFileSync(join(by.home, '.blockhouse/blocks/ada/chat.json'), 'utf8');
  t.match(chat, ANSWER, 'the copy has the conversation');
});

t.test('upgrade and back up by hand', async (t) => {
  const by = await reader(t);
  await by.follow({ language: 'sh', text: 'blockhouse serve\n' });
  await by.follow({ language: 'sh', text: 'blockhouse new ada --provider ollama --model gemma4 --start\nblockhouse send ada --wait "Who are you?"\n' });
  const output = await read('by-hand.md', by);
  t.match(output('blockhouse status'), /server +http/);
  t.match(output('blockhouse doctor'), 'nothing wrong');
  t.match(readFileSync(join(by.home, '.blockhouse/blocks/ada/chat.json'), 'utf8'), ANSWER, 'the copy has the conversation');
});

t.test('when something is wrong', async (t) => {
  const by = await reader(t);
  await by.follow({ language: 'sh', text: 'blockhouse serve\n' });
  await by.follow({ language: 'sh', text: 'blockhouse new ada --provider ollama --model gemma4 --start\n' });
  const output = await read('trouble.md', by);
  t.match(output('curl'), '"status":"ok"');
  t.match(output('blockhouse why'), 'ada');
  t.match(output('blockhouse halt'), 'Halted');
});

t.test('a block with a command that fails is a failure, also behind a pipe and before another command', async (t) => {
  for (const text of ['blockhouse chat --no-such-option hello\n', 'blockhouse show nobody | cat\n', 'false\ntrue\n']) {
    await t.rejects((await reader(t)).follow({ language: 'sh', text }), { message: /^this block failed:/ });
  }
});

const guides = readdirSync(GUIDES);

t.test('every block that is not run is listed with its reason, and nothing else is', async (t) => {
  const firstLines = [README, BLOCKS, ...guides].flatMap(blocksOf).flatMap(({ language, text }) => (language === 'text' ? [text.split('\n')[0] ?? ''] : []));
  t.same([...new Set(firstLines)].sort(), Object.keys(NOT_RUN).sort());
});

t.test('every guide has its test, says at once what it leads to, and fits two screens', async (t) => {
  const spec = readFileSync(new URL(import.meta.url), 'utf8');
  for (const guide of guides) {
    const text = readFileSync(join(GUIDES, guide), 'utf8');
    t.ok(spec.includes(`read('${guide}'`), guide);
    t.match(text, /^# .+\n\nAt the end, /, guide);
    t.ok(text.split('\n').length <= 140, guide);
  }
});
