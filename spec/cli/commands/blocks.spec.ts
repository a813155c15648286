import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openDesk, runHere } from '../run.ts';

// AWS's chain reads the environment of the process, and must look at no folder and no service of this machine.
Object.assign(process.env, { AWS_EC2_METADATA_DISABLED: 'true', HOME: '/nonexistent' });
for (const name of Object.keys(process.env).filter((one) => /^AWS_(?!EC2)/.test(one))) delete process.env[name];

t.test('without a server each command says so in one line, with the cure, and ends with 6', async (t) => {
  const workspace = t.testdir();
  const commands = [
    ['ls'],
    ['show', 'x'],
    ['start', 'x', 'y'],
    ['send', 'x', 'hi'],
    ['attach', 'x'],
    ['logs', 'x', '-f'],
    ['config', 'get', 'x'],
    ['rm', 'x', '--yes'],
  ];
  await Promise.all(
    commands.map(async (args) => {
      const { code, stdout, stderr } = await runHere(t, [...args, '--workspace', workspace]);
      t.equal(code, 6, args.join(' '));
      t.equal(stdout, '');
      t.match(stderr, /^blockhouse: No server is running for the workspace .*; start one with `.* serve --workspace .*`\.\n$/);
    }),
  );
  t.match(await runHere(t, ['ls', '--workspace', `${workspace}/none`]), { code: 5, stderr: /^blockhouse: There is no workspace .*\n$/ });
  const { stdout } = await runHere(t, ['ls', '--json', '--workspace', workspace]);
  t.match(JSON.parse(stdout), { error: /^No server is running/ });
});

t.test('a block is made, listed, shown and explained', async (t) => {
  const { on, workspace } = await openDesk(t);
  t.match(await on(['ls']), { code: 0, stdout: '', stderr: /^There are no blocks yet; `.* new <block> .*`/ });
  const made = await on([
    'new',
    'one',
    '--provider',
    'ollama',
    '--model',
    'm',
    '--description',
    'The\x1b[2J first',
    '--system',
    'Be brief.',
    '--goal',
    'g1',
    '--goal',
    'g2',
    '--tag',
    'a',
  ]);
  t.match(made, { code: 0, stdout: 'one\n', stderr: /^Created\. `.* start one .*` starts it\.\n$/ });
  t.match(await on(['new', 'two', '--provider', 'ollama', '--start', '--json']), { code: 0, stdout: /^\{"success":true,"name":"two","pulse":\{/ });
  t.match(await on(['ls']), {
    code: 0,
    stderr: '',
    stdout: /^NAME +STATE +MODEL +QUEUE +FAILED +TODAY +LAST\none +○ stopped +ollama\/m +0 +0 .*\ntwo +● idle +ollama\/\S+ +0 +0 .*\n$/,
  });
  t.same(await on(['ls', '-q']), { code: 0, stdout: 'one\ntwo\n', stderr: '' });
  const { blocks } = JSON.parse((await on(['ls', '--json'])).stdout) as { blocks: object[] };
  t.match(blocks, [{ name: 'one', state: 'stopped' }, { name: 'two' }]);
  const shown = await on(['show', 'one']);
  t.match(shown, { code: 0, stdout: /^one {2}○ stopped\nThe first\n[\s\S]*Model +ollama\/m\n[\s\S]*Goals +g1; g2\nTags +a\n/ });
  const { config } = JSON.parse((await on(['show', 'one', '--json'])).stdout) as { config: object };
  t.match(config, { systemPrompt: 'Be brief.', goals: ['g1', 'g2'], adapter: { provider: 'ollama', model: 'm' } });
  t.match(await on(['why', 'one']), { code: 0, stdout: new RegExp(`Why +\\S[\\s\\S]*Fix +blockhouse start one --workspace ${workspace}\n`) });
  t.match(JSON.parse((await on(['why', 'one', '--json'])).stdout), { name: 'one', state: 'stopped' });
  writeFileSync(join(workspace, 'blocks', 'one', 'memory.json'), '{');
  t.match(await on(['why', 'one']), { code: 0, stdout: "memory.json can't be used", stderr: `The block is in ${join(workspace, 'blocks', 'one')}; \`` });
});

t.test('a configuration is taken from a file or a pipe, and options change it', async (t) => {
  const { on, workspace } = await openDesk(t);
  writeFileSync(join(workspace, 'c.json'), JSON.stringify({ name: 'other', rev: 9, tags: ['x'], adapter: { provider: 'ollama', model: 'm', maxTokens: 7 } }));
  await on(['new', 'one', '--from', join(workspace, 'c.json'), '--model', 'n', '--tag', 'y']);
  const { stdout } = await on(['config', 'get', 'one']);
  t.match(JSON.parse(stdout), { name: 'one', tags: ['y'], adapter: { model: 'n', maxTokens: 7 } });
  t.equal((await on(['new', 'two', '--from', '-'], { input: stdout })).code, 0);
  t.match(JSON.parse((await on(['config', 'get', 'two', '--json'])).stdout), { name: 'two', adapter: { model: 'n' } });
  t.match(await on(['new', 'odd', '--from', '-'], { input: '{"systmPrompt":"x"}' }), {
    code: 0,
    stdout: 'odd\n',
    stderr: /^note: config\.systmPrompt: .*Did you mean config\.systemPrompt\?\nCreated\./,
  });
  t.match(await on(['new', 'three', '--from', '-'], { input: '{"apiKey": sk-canary' }), {
    code: 2,
    stderr: /^blockhouse: Standard input is not valid JSON: line 1, column \d+\.\n$/,
  });
  t.match(await on(['new', 'three', '--model', 'm']), { code: 2, stderr: /--model also needs --provider/ });
  t.match(await on(['new', 'three', '--provider', 'nobody']), { code: 2, stderr: /There is no provider nobody\. Use one of .*ollama/ });
  t.match(await on(['auth', 'set', 'gpu', '--provider', 'openai', '--base-url', 'http://127.0.0.1:9/v1', '--no-key']), { code: 0 });
  t.match(await on(['new', 'three', '--provider', 'gpu']), { code: 2, stderr: /The connection gpu has no default model; .*`.* models gpu.*` lists them\.\n$/ });
  t.match(await on(['new', 'three', '--provider', 'nobody']), { code: 2, stderr: /Use one of .*ollama, gpu\.\n$/ });
});

t.test('what is refused is told in one line, with the code of its kind', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama']);
  t.match(await on(['new', 'one']), { code: 2, stdout: '', stderr: /^blockhouse: .*one.*\n$/ });
  t.match(await on(['new', 'Bad\x1b[2J']), { code: 2, stderr: /^blockhouse: name .*\n$/ });
  t.match(await on(['show', '../one']), { code: 2, stderr: /^blockhouse: .*\n$/ });
  t.match(JSON.parse((await on(['show', 'none', '--json'])).stdout), { code: 'BLOCK_NOT_FOUND', status: 404 });
  t.match(await on(['new', 'keyless', '--provider', 'anthropic', '--start']), {
    code: 2,
    stdout: 'keyless\n',
    stderr: /^blockhouse: keyless was created, but could not be started: .*\n$/,
  });
});

t.test('a damaged block is listed, and named as one that needs a person', async (t) => {
  const { on, workspace } = await openDesk(t);
  mkdirSync(join(workspace, 'blocks', 'torn'));
  writeFileSync(join(workspace, 'blocks', 'torn', 'config.json'), '{bad');
  t.match(await on(['ls']), { code: 0, stdout: /\ntorn +! failed/, stderr: /! torn: config\.json.*\n`.* doctor .*` says what to do\.\n/ });
});

t.test('--watch shows each change until Ctrl-C', async (t) => {
  const { on, begin } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama']);
  const { child, printed, ended } = begin(['ls', '--watch']);
  await printed('○ stopped');
  await on(['start', 'one']);
  await printed('● idle');
  child.kill('SIGINT');
  const { code, stderr, stdout } = await ended;
  t.equal(code, 130);
  t.equal(stderr, '');
  t.notMatch(stdout, '\x1b');
});

t.test('a token that the server does not take is 3, one that can not be read is 5, and neither is shown', async (t) => {
  const { on, workspace } = await openDesk(t);
  const file = join(workspace, '.api-token');
  writeFileSync(file, 'nonsense-canary');
  const unreadable = await on(['ls']);
  t.match(unreadable, { code: 5, stdout: '', stderr: /^blockhouse: .*\.api-token.*\n$/ });
  t.notMatch(unreadable.stderr, 'canary');
});

t.test('a reader that leaves (head -1) is no failure', async (t) => {
  const { begin, on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama']);
  const { child, ended } = begin(['ls', '--watch']);
  child.stdout.destroy();
  t.match(await ended, { code: 0, stderr: '' });
});

t.test('new says what a block lacks, and names its start only when the block could answer', async (t) => {
  const { on } = await openDesk(t);
  const bare = await on(['new', 'bare']);
  t.match(bare, {
    code: 0,
    stdout: 'bare\n',
    stderr: /^Created\. It can't answer yet, because no model is set; `.* config set bare adapter\.provider=<id> adapter\.model=<model> .*` sets one\.\n$/,
  });
  const keyless = await on(['new', 'keyless', '--provider', 'openai']);
  t.match(keyless, { code: 0, stdout: 'keyless\n', stderr: /Created\. It can't answer yet: .*OPENAI_API_KEY/ });
  t.notMatch(keyless.stderr, 'starts it');
  const chained = await on(['new', 'chained', '--provider', 'bedrock']);
  t.match(chained, { code: 0, stderr: /Created\. It can't answer yet: No AWS credentials were found/ });
  t.match(await on(['new', 'good', '--provider', 'ollama']), { code: 0, stderr: /^Created\. `.* start good .*` starts it\.\n$/ });
});

t.test('a provider that does not exist is refused with the names of the five, with a model and without', async (t) => {
  const { on } = await openDesk(t);
  const five = /foo.*bedrock, openai, google, anthropic, ollama/;
  t.match(await on(['new', 'x', '--provider', 'foo']), { code: 2, stdout: '', stderr: five });
  t.match(await on(['new', 'x', '--provider', 'foo', '--model', 'm']), { code: 2, stdout: '', stderr: five });
  t.same(await on(['ls', '-q']), { code: 0, stdout: '', stderr: '' });
});
