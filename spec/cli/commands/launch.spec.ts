// Programs of others are small scripts here, which say what they got; docs/clients.md says which real ones were run.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { testFolder } from '../../support/test-folder.ts';
import { type Desk, openDesk, runHere, start } from '../run.ts';
import { noTerminal, openTerminal } from '../terminal.ts';

/** Where a program writes what it has to say whose launch runs in the process of the test: its standard output is that of the test. */
const SAYS_TO = 'SAYS_TO';
/** Writes what a program gets of its owner and of `launch`: its variables and its arguments. Shells start ten times as fast as Node. */
const SHOWS = `#!/bin/sh
  { env -0; printf 'args\\0'; for word in "$@"; do printf '%s\\0' "$word"; done; } > "$${SAYS_TO}"`;
/** One call of the server with what it got: the status, and what it does when it has that. */
const ASKS = `#!${process.execPath}
  const ask = (model, done) => process.getBuiltinModule('node:http').request(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY, 'content-type': 'application/json' },
  }, (response) => response.resume().once('end', () => done(response.statusCode))).end(JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }));`;

/** A folder of programs on the path. */
function programs(t: Test, scripts: Readonly<Record<string, string>>): { readonly PATH: string; readonly [SAYS_TO]: string } {
  const folder = join(testFolder(t), 'bin');
  mkdirSync(folder);
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder, name), `${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return { PATH: `${folder}:${process.env['PATH']}`, [SAYS_TO]: join(folder, 'said') };
}

const keysOf = async ({ on }: Desk): Promise<string[]> => (await on(['key', 'ls', '-q'])).stdout.split('\n').filter(Boolean);
/** Starts `blockhouse launch` on the workspace of the desk. */
const launchOf =
  (t: Test, desk: Desk, env: Record<string, string>, input?: null) =>
  (...args: string[]) =>
    start(t, ['launch', '--workspace', desk.workspace, ...args], { env, ...(input === null && { input }) });
/** The same in this process, for a command that starts no program, or one that reads no input and writes no output. */
const launchHere =
  (t: Test, desk: Desk, env: Record<string, string>) =>
  (...args: string[]) =>
    runHere(t, ['launch', '--workspace', desk.workspace, ...args], { env });

t.test('each known program gets the address, a key and a model where it looks for them, and no key of its owner', async (t) => {
  const desk = await openDesk(t);
  const env = {
    ...programs(t, Object.fromEntries(['claude', 'codex', 'opencode', 'aider', 'llm', 'other'].map((name) => [name, SHOWS]))),
    ANTHROPIC_API_KEY: 'sk-of-the-owner',
    OPENAI_API_KEY: 'sk-of-the-owner',
  };
  const shown = async (...args: string[]): Promise<{ env: Record<string, string>; args: string[] }> => {
    const { code, stderr } = await launchHere(t, desk, env)(...args);
    t.equal(code, 0, stderr);
    t.match(stderr, /^launch: \w+ asks \S+ at http:\S+, with at most \$5\.00 and 10,000,000 tokens a day \(key launch-\w+\)\.\n/);
    t.match(stderr, /launch: 0 calls, 0 tokens in, 0 out, \S+ \(key launch-\w+, revoked\)\.\n$/);
    const [variables = [], words = []] = readFileSync(env[SAYS_TO], 'utf8')
      .split('\0args\0')
      .map((part) => part.split('\0').filter((each, index, all) => index < all.length - 1 || each !== ''));
    return { env: Object.fromEntries(variables.map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)])), args: words };
  };
  const key = /^bhk_/;
  const origin = /^http:\/\/127\.0\.0\.1:\d+$/;
  const v1 = /^http:\/\/127\.0\.0\.1:\d+\/v1$/;
  const claude = await shown('-m', 'ollama/gemma4', 'claude', '-p', 'hello', '--model', 'x');
  t.match(claude, {
    env: { ANTHROPIC_BASE_URL: origin, ANTHROPIC_AUTH_TOKEN: key, ANTHROPIC_MODEL: 'ollama/gemma4', ANTHROPIC_DEFAULT_HAIKU_MODEL: 'ollama/gemma4' },
    args: ['-p', 'hello', '--model', 'x'],
  });
  t.notOk('ANTHROPIC_API_KEY' in claude.env, 'it would be sent in place of the token');
  const codex = await shown('-m', 'ollama/gemma4', 'codex', 'exec', '--', '--help');
  t.match(codex.env, { OPENAI_BASE_URL: v1, OPENAI_API_KEY: key });
  t.same(codex.args.slice(-5), ['-c', 'model="ollama/gemma4"', 'exec', '--', '--help']);
  const opencode = await shown('-m', 'ollama/gemma4', 'opencode', 'run', 'hello');
  t.match(JSON.parse(opencode.env['OPENCODE_CONFIG_CONTENT'] ?? ''), {
    model: 'blockhouse/ollama/gemma4',
    provider: { blockhouse: { options: { baseURL: v1 } } },
  });
  t.match(await shown('-m', 'ollama/gemma4', 'aider'), { env: { OPENAI_API_BASE: v1, OPENAI_API_KEY: key, AIDER_MODEL: 'openai/ollama/gemma4' } });
  t.match(await shown('-m', 'ollama/gemma4', '--', 'other', '--json'), {
    env: {
      OPENAI_BASE_URL: v1,
      OPENAI_API_KEY: key,
      ANTHROPIC_BASE_URL: origin,
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_API_KEY: key,
      OPENAI_MODEL: 'ollama/gemma4',
    },
    args: ['--json'],
  });
  t.same(await keysOf(desk), [], 'no key is left');
});

t.test('the key of a run and what it sends do not go through a proxy of its owner', async (t) => {
  const desk = await openDesk(t);
  const env = { ...programs(t, { other: SHOWS }), HTTP_PROXY: 'http://proxy.example:3128', no_proxy: 'a.example' };
  const { code, stderr } = await launchHere(t, desk, env)('-m', 'ollama/gemma4', '--', 'other');
  t.equal(code, 0, stderr);
  const got = readFileSync(env[SAYS_TO], 'utf8').split('\0');
  t.same(got.filter((each) => /proxy=/i.test(each)).sort(), [
    'HTTP_PROXY=http://proxy.example:3128',
    'NO_PROXY=a.example,127.0.0.1',
    'no_proxy=a.example,127.0.0.1',
  ]);
});

t.test('a program that takes certain names only gets an alias, which no later run changes', async (t) => {
  const desk = await openDesk(t);
  const env = programs(t, { llm: SHOWS });
  const launch = launchHere(t, desk, env);
  t.match(await launch('-m', 'ollama/gemma4', 'llm'), {
    code: 0,
    stderr: /note: gpt-4o-mini means ollama\/gemma4 from now on, for every program; `.*alias rm gpt-4o-mini.*` removes it\./,
  });
  t.match(await launch('-m', 'ollama/gemma4', 'llm'), { code: 0, stderr: /^launch: / }, 'the alias is there');
  t.match(await launch('-m', 'ollama/other', 'llm'), {
    code: 2,
    stderr: /gpt-4o-mini means ollama\/gemma4 for every program\. .*alias set gpt-4o-mini ollama\/other/,
  });
  t.match((await desk.on(['alias', 'ls'])).stdout, /gpt-4o-mini +ollama\/gemma4/);
  t.same(await keysOf(desk), []);
});

t.test('a program whose model is a block may talk to that block, and to no other', async (t) => {
  const desk = await openDesk(t);
  for (const name of ['ada', 'bob']) t.match(await desk.on(['new', name, '--provider', 'ollama', '--model', 'gemma4', '--start']), { code: 0 });
  t.match(await desk.on(['alias', 'set', 'helper', 'block/ada']), { code: 0 });
  const says = `process.getBuiltinModule('node:fs').writeFileSync(process.env.${SAYS_TO}, ada + ' ' + bob)`;
  const env = programs(t, { agent: `${ASKS} ask('block/ada', (ada) => ask('block/bob', (bob) => ${says}));` });
  const launch = (...args: string[]) => launchHere(t, desk, env)(...args, 'agent');
  for (const [model, statuses] of [
    ['block/ada', '200 403'],
    ['helper', '200 403'],
    ['ollama/gemma4', '403 403'],
  ] as const) {
    t.match(await launch('-m', model), { code: 0 });
    t.equal(readFileSync(env[SAYS_TO], 'utf8'), statuses, model);
  }
  t.match(await launch('-m', 'block/eve'), { code: 2, stderr: /no block "eve"/ }, 'a block that is not there');
  t.same(await keysOf(desk), []);
});

t.test('what a run costs is said at its end, its caps hold, and two at the same time have a key each', async (t) => {
  const desk = await openDesk(t);
  const env = programs(t, {
    agent: `${ASKS} process.stdin.once('data', () => ask('ollama/gemma4', (status) => { console.log(status); process.exit(3); })); console.log('ready');`,
  });
  const begin = (...args: string[]) => launchOf(t, desk, env, null)(...args, 'agent');
  const [one, two] = [begin(), begin()];
  await Promise.all([one.printed('ready'), two.printed('ready')]);
  t.same((await keysOf(desk)).sort(), ['launch-agent', 'launch-agent-2']);
  one.child.stdin.end('go');
  t.match(await one.ended, { code: 3, stdout: 'ready\n200\n', stderr: /launch: 1 call, \d+ tokens in, \d+ out, .* \(key launch-agent(-2)?, revoked\)\.\n$/ });
  t.equal((await keysOf(desk)).length, 1, 'the other one goes on');
  two.child.stdin.end('go');
  t.match(await two.ended, { code: 3, stdout: 'ready\n200\n' });
  const capped = begin('--tokens-per-day', '0');
  await capped.printed('ready');
  capped.child.stdin.end('go');
  t.match(await capped.ended, {
    code: 3,
    stdout: 'ready\n429\n',
    stderr: /note: launch-agent has spent that already today[\s\S]+launch: 0 calls, 0 tokens in, 0 out, \$0 /,
  });
  t.match((await desk.on(['costs', '--gateway'])).stdout, /launch-agent[\s\S]+launch-agent-2/);
});

t.test('signals and the end by one reach the program and come back', async (t) => {
  const desk = await openDesk(t);
  const env = programs(t, {
    kind: `#!/bin/sh\ntrap 'echo saved; exit 7' TERM; echo ready; while :; do sleep 0.05; done`,
    hard: `#!/bin/sh\necho ready; exec sleep 1000`,
  });
  for (const [program, signal, code] of [
    ['kind', 'SIGTERM', 7],
    ['hard', 'SIGHUP', 129],
    ['hard', 'SIGINT', 130],
  ] as const) {
    const started = launchOf(t, desk, env)(program);
    await started.printed('ready');
    started.child.kill(signal);
    t.match(await started.ended, { code, stderr: /revoked\)\.\n$/ }, signal);
  }
  t.same(await keysOf(desk), []);
});

t.test('a launch that is killed leaves a key that ends by itself, and the program of another run is not touched', async (t) => {
  const desk = await openDesk(t);
  const env = programs(t, { agent: `#!/bin/sh\necho ready; exec cat > /dev/null` });
  const killed = launchOf(t, desk, env, null)('agent');
  await killed.printed('ready');
  killed.child.kill('SIGKILL');
  await once(killed.child, 'exit');
  const { keys } = JSON.parse((await desk.on(['key', 'ls', '--json'])).stdout);
  const left = Date.parse(keys[0].expiresAt) - Date.now();
  t.ok(left > 23 * 3_600_000 && left <= 24 * 3_600_000);
  let end = 0;
  // The end must be later than the command needs, which is longer on a busy machine.
  for (let leftMs = 250, code: number | null = 2; code !== 0; leftMs *= 2) {
    end = Date.now() + leftMs;
    ({ code } = await desk.on(['key', 'set', 'launch-agent', '--expires', new Date(end).toISOString()]));
    t.ok(leftMs < 60_000, 'an end is taken');
  }
  await delay(end - Date.now() + 1);
  t.match(await launchOf(t, desk, env)('agent').ended, { code: 0, stderr: /key launch-agent, revoked/ }, 'its name is free again');
  killed.child.stdin.end();
  t.same(await keysOf(desk), []);
});

t.test('what is missing is said, with the command that helps, and no key is made', async (t) => {
  const desk = await openDesk(t);
  const env = programs(t, { agent: SHOWS });
  const launch = (...args: string[]) => launchHere(t, desk, env)(...args);
  t.match(await launch('no-such-program'), {
    code: 2,
    stdout: '',
    stderr: /There is no program no-such-program on the PATH\. Those that launch knows are claude, codex/,
  });
  t.match(await launchHere(t, desk, { PATH: '/nowhere' })('codex'), {
    code: 2,
    stderr: /codex is not installed\. To install it: npm install -g @openai\/codex/,
  });
  t.match(await launch('--json', 'agent'), { code: 2, stderr: /costs --gateway --json/ });
  t.match(await launch('--tokens-per-day', 'many', 'agent'), { code: 2, stderr: /--tokens-per-day must be/ });
  t.match(await launch('-m', 'nobody/m', 'agent'), { code: 2, stderr: /nobody/ });
  t.match(await runHere(t, ['launch', '--workspace', testFolder(t), 'agent'], { env }), {
    code: 6,
    stderr: /No server is running for .*start one with `.* serve/,
  });
  t.same(await keysOf(desk), []);
});

t.test('without a provider that is ready, nothing starts', async (t) => {
  const desk = await openDesk(t, (_req, res) => void res.writeHead(500).end());
  const env = programs(t, { agent: SHOWS, opencode: SHOWS });
  for (const program of ['agent', 'opencode'])
    t.match(
      await launchHere(t, desk, env)(program),
      { code: 3, stdout: '', stderr: /^blockhouse: No provider is ready\. `.*providers.*` says what is missing/ },
      program,
    );
  t.same(await keysOf(desk), []);
});

t.test('at a terminal, the program has it, and Ctrl-C reaches the program once', { skip: noTerminal }, async (t) => {
  const desk = await openDesk(t);
  const env = programs(t, {
    agent: `#!${process.execPath}
      let interrupts = 0;
      process.on('SIGINT', () => console.log('interrupted ' + (interrupts += 1)));
      process.stdin.once('data', (text) => { console.log('got', String(text).trim(), interrupts, process.stdin.isTTY); process.exit(4); });
      console.log('ready');`,
  });
  const terminal = openTerminal(t, ['launch', '--workspace', desk.workspace, 'agent'], env);
  await terminal.shows(/^ready/m);
  terminal.press('C-c');
  await terminal.shows(/interrupted 1/);
  terminal.type('hello');
  terminal.press('Enter');
  await terminal.shows(/got hello 1 true[\s\S]+revoked\)\.\nended with 4/);
});
