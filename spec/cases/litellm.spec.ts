// The import of a configuration of LiteLLM. The numbers are those of the cases in the design.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createAdapters } from '../../adapters/index.ts';
import { CLI, run, runHere } from '../cli/run.ts';
import { startServer } from '../support/server.ts';
import { ask, noPostgres, postgresStore } from '../support/postgres.ts';
import { sample, sweep } from '../support/sweep.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** Each row of the table in docs/guides/litellm.md at least once. */
const CONFIG = `
model_list:
  - model_name: gpt-4o
    litellm_params: { model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY, rpm: 500 }
  - model_name: fast
    litellm_params: { model: groq/llama, api_key: os.environ/GROQ_API_KEY, weight: 2 }
  - model_name: fast
    litellm_params: { model: groq/llama, api_key: gsk-canary-0123456789abc, weight: 1, max_parallel_requests: 4 }
  - model_name: spread
    litellm_params: { model: openai/m, api_base: "http://10.0.0.8:8000/v1", order: 2 }
  - model_name: spread
    litellm_params: { model: hosted_vllm/qwen3, api_base: "http://10.0.0.7:8000/v1", order: 1, timeout: 30, extra_headers: { x-team: header-canary, authorization: header-canary } }
    model_info: { max_input_tokens: 32768, input_cost_per_token: 5.9e-07, output_cost_per_token: 0.00000079, mode: chat }
  - model_name: prod
    litellm_params: { model: azure/deployed, api_base: "https://acme.openai.azure.com/", api_key: os.environ/AZURE_API_KEY, api_version: "2024-10-21" }
    model_info: { base_model: azure/gpt-4o }
  - model_name: claude
    litellm_params: { model: claude-sonnet-4-5, api_key: os.environ/CLAUDE_KEY }
  - model_name: aws
    litellm_params: { model: bedrock/converse/anthropic.claude-sonnet-4-5-20250929-v1:0, aws_region_name: eu-west-1, aws_access_key_id: os.environ/AWS_ACCESS_KEY_ID }
  - model_name: vertex
    litellm_params: { model: vertex_ai/gemini-2.5-pro, vertex_project: p-canary }
  - model_name: "*"
    litellm_params: { model: "openrouter/*" }
litellm_settings:
  fallbacks: [{ fast: [gpt-4o, claude] }, { gone: [fast] }]
  context_window_fallbacks: [{ fast: [aws] }]
  success_callback: [langfuse]
  cache: true
router_settings: { routing_strategy: simple-shuffle, model_group_alias: { gpt-4: gpt-4o } }
general_settings: { master_key: sk-canary-master, database_url: "postgres://canary" }
environment_variables: { FOO: env-canary }
`;

function desk(t: Test, files: Readonly<Record<string, string>> = {}) {
  const folder = t.testdir({ 'config.yaml': CONFIG, workspace: files });
  const [file, workspace] = [join(folder, 'config.yaml'), join(folder, 'workspace')];
  const stored = (name: string) => JSON.parse(readFileSync(join(workspace, name), 'utf8')) as Record<string, unknown>;
  return { file, workspace, stored, on: (...more: string[]) => runHere(t, ['import', '--from', 'litellm', file, '--workspace', workspace, ...more]) };
}

interface Report {
  readonly taken: { path: string; note: string }[];
  readonly changed: { path: string; note: string }[];
  readonly left: { path: string; note: string }[];
}

t.test('51: models become connections and aliases, and each setting is taken, changed or left out with a reason', async (t) => {
  const { on, stored } = desk(t);
  const outcome = await on('--json');
  t.equal(outcome.code, 0, outcome.stderr);
  t.same(stored('auth.json'), {
    groq: {
      keys: [
        { apiKeyEnv: 'GROQ_API_KEY', weight: 2 },
        { apiKey: 'gsk-canary-0123456789abc', weight: 1, inFlight: 4 },
      ],
    },
    'at-10-0-0-8': { adapter: 'openai', baseURL: 'http://10.0.0.8:8000/v1', auth: 'none' },
    vllm: {
      baseURL: 'http://10.0.0.7:8000/v1',
      timeouts: { firstByteMs: 30_000 },
      headers: { 'x-team': 'header-canary' },
      models: { qwen3: { price: { input: 0.59, output: 0.79 }, contextWindow: 32_768 } },
    },
    azure: { baseURL: 'https://acme.openai.azure.com/openai/v1', apiKeyEnv: 'AZURE_API_KEY', models: { deployed: { price: 'azure/gpt-4o' } } },
    anthropic: { apiKeyEnv: 'CLAUDE_KEY' },
    bedrock: { region: 'eu-west-1' },
    openrouter: {},
  });
  const aws = 'bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0';
  t.same(stored('models.json'), {
    defaultProvider: 'openrouter',
    aliases: {
      'gpt-4o': 'openai/gpt-4o',
      fast: ['groq/llama', 'openai/gpt-4o', 'anthropic/claude-sonnet-4-5', aws],
      spread: ['vllm/qwen3', 'at-10-0-0-8/m'],
      prod: 'azure/deployed',
      claude: 'anthropic/claude-sonnet-4-5',
      aws,
      'gpt-4': 'openai/gpt-4o',
    },
  });
  const { taken, changed, left } = JSON.parse(outcome.stdout) as Report;
  const paths = (lines: Report['left']) => lines.map(({ path }) => path);
  t.same(paths(changed), [
    'model_list[3].litellm_params.api_base',
    'model_list[4].litellm_params.timeout',
    'model_list[5].litellm_params.api_base',
    'litellm_settings.context_window_fallbacks[0].fast',
  ]);
  t.same(paths(left), [
    'model_list[0].litellm_params.rpm',
    'model_list[4].litellm_params.extra_headers.authorization',
    'model_list[4].model_info.mode',
    'model_list[5].litellm_params.api_version',
    'model_list[8]',
    'litellm_settings.fallbacks[1].gone',
    'litellm_settings.success_callback[0]',
    'litellm_settings.cache',
    'general_settings.master_key',
    'general_settings.database_url',
    'environment_variables.FOO',
  ]);
  t.match(left.find(({ path }) => path === 'model_list[8]')?.note, /no preset or provider for vertex_ai/);
  for (const { path, note } of [...taken, ...changed, ...left]) t.ok(note.length > 2, path);
});

t.test('51: what is imported answers: a request by an old name reaches its server with its key', async (t) => {
  const upstream = await startUpstream(t, (_request, res) =>
    sendJson(res, {
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'x' } }],
      usage: { prompt_tokens: 999_999, completion_tokens: 1 },
    }),
  );
  const server = await startServer(t, { adapters: createAdapters(), env: { MINE: 'key-of-mine-0123456789' }, retries: 0 });
  const file = join(server.workspace, 'config.yaml');
  const params = `{ model: openai/m, api_base: "${upstream.url}/v1", api_key: os.environ/MINE, input_cost_per_token: 1e-6, output_cost_per_token: 1e-6 }`;
  writeFileSync(file, `model_list: [{ model_name: old-name, litellm_params: ${params} }]`);
  t.match(await runHere(t, ['import', '--from', 'litellm', file, '--workspace', server.workspace]), { code: 0, stderr: /Wrote auth\.json and models\.json/ });
  const called = await server.call('POST', '/v1/chat/completions', { body: { model: 'old-name', messages: [{ role: 'user', content: 'hi' }] } });
  t.match(called, { status: 200, headers: { 'x-blockhouse-model': '127-0-0-1/m' } }, called.text) || t.comment(called.text);
  t.equal(upstream.requests[0]?.headers.authorization, 'Bearer key-of-mine-0123456789');
  t.match((await server.call('GET', '/api/costs?source=gateway&by=model')).json, { total: { costUsd: 1 } });
});

t.test(
  '51: several models of one name are drawn by their weights, else by their rpm, else as often as each other; those of a later order follow',
  async (t) => {
    const model = (name: string, model: string, more = '') => `  - { model_name: ${name}, litellm_params: { model: ${model}${more} } }\n`;
    const folder = t.testdir({
      'config.yaml': `model_list:\n${model('a', 'groq/x', ', weight: 3')}${model('a', 'mistral/y', ', weight: 0.5')}${model('b', 'groq/x', ', rpm: 5000')}${model('b', 'mistral/y', ', rpm: 1250')}${model(
        'c',
        'groq/x',
        ', order: 2',
      )}${model('c', 'mistral/y', ', order: 2')}${model('c', 'cerebras/z', ', order: 1')}${model('c', 'xai/v', ', order: 3')}`,
      workspace: {},
    });
    const workspace = join(folder, 'workspace');
    const outcome = await runHere(t, ['import', '--from', 'litellm', join(folder, 'config.yaml'), '--workspace', workspace, '--json']);
    t.equal(outcome.code, 0, outcome.stderr);
    const drawn = (...weights: number[]) => ['groq/x', 'mistral/y'].map((name, index) => ({ model: name, weight: weights[index] }));
    t.same(JSON.parse(readFileSync(join(workspace, 'models.json'), 'utf8')), {
      aliases: { a: drawn(1000, 167), b: drawn(1000, 250), c: ['cerebras/z', ...drawn(1, 1), 'xai/v'] },
    });
    const { taken, changed } = JSON.parse(outcome.stdout) as Report;
    t.ok(taken.some(({ path, note }) => path === 'model_list[0].litellm_params.weight' && note === 'the weight in the alias'));
    t.ok(changed.some(({ path }) => path === 'model_list[2].litellm_params.rpm'));
  },
);

t.test('52: a kill at any moment of the writes leaves whole files, and no name without its connection', async (t) => {
  const { file, workspace, stored } = desk(t);
  const isBegun = (): boolean => readdirSync(workspace).length > 0;
  for (const laterMs of sample([0, 0, 1, 2, 4, 8], 2, 0)) {
    for (const name of readdirSync(workspace)) rmSync(join(workspace, name));
    const child = spawn(process.execPath, [CLI, 'import', '--from', 'litellm', file, '--workspace', workspace], {
      stdio: 'ignore',
      env: { PATH: process.env['PATH'] },
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    while (!isBegun() && child.exitCode === null) await delay(0);
    if (laterMs > 0) await delay(laterMs);
    child.kill('SIGKILL');
    await ended;
    const found = ['auth.json', 'models.json'].filter((name) => existsSync(join(workspace, name)));
    for (const name of found) t.ok(Object.keys(stored(name)).length > 0, `${name} is whole`);
    t.not(found.join(), 'models.json', 'connections are there before the names that lead to them');
  }
  const whole = await run(t, ['import', '--from', 'litellm', file, '--workspace', workspace]);
  t.match(whole, { code: 0, stderr: /auth\.json|models\.json|Nothing changes/ }, 'the program as it is installed reads YAML');
  t.same([Object.keys(stored('auth.json')).includes('groq'), Object.keys(stored('models.json'))], [true, ['defaultProvider', 'aliases']]);
});

t.test('53: no key, header or other value is printed, also not for a file that can not be read', async (t) => {
  const { file, workspace, on } = desk(t);
  for (const more of [['--dry-run'], ['--dry-run', '--json'], [], ['--replace']]) {
    const { code, stdout, stderr } = await on(...more);
    t.equal(code, 0);
    t.notMatch(stdout + stderr, /canary/);
  }
  t.equal(statSync(join(workspace, 'auth.json')).mode & 0o777, 0o600);
  for (const broken of ['model_list: [sk-canary-0123', 'model_list: sk-canary', 'sk-canary: *sk-canary', '"sk-canary": "\\xZZ"', 'a: 1\na: sk-canary']) {
    writeFileSync(file, broken);
    const { code, stdout, stderr } = await on();
    t.equal(code, 2, broken);
    t.notMatch(stdout + stderr, /canary/);
  }
  writeFileSync(file, 'model_list: [{ model_name: x, litellm_params: { model: groq/x, api_key: "sk canary with blanks" } }]');
  const { stdout } = await on();
  t.match(stdout, /left out +model_list\[0\]\.litellm_params\.api_key: It is no key/);
  t.notMatch(stdout, /canary/);
});

t.test('54: a second import changes nothing, what exists stays, and --dry-run writes nothing', async (t) => {
  const { workspace, file, on, stored } = desk(t, {
    'auth.json': JSON.stringify({ vllm: { baseURL: 'http://10.9.9.9:8000/v1' }, anthropic: { apiKey: 'own' }, other: { a: 'b' } }),
    'models.json': JSON.stringify({ aliases: { claude: 'ollama/own' }, native: { openai: false } }),
  });
  const files = () => ['auth.json', 'models.json'].map((name) => readFileSync(join(workspace, name), 'utf8'));
  const before = files();
  t.match(await on('--dry-run'), { code: 0, stderr: /Nothing was written/ });
  t.same(files(), before);
  const { left } = JSON.parse((await on('--json')).stdout) as Report;
  t.match(stored('auth.json'), { vllm: { baseURL: 'http://10.9.9.9:8000/v1' }, anthropic: { apiKey: 'own' }, other: { a: 'b' }, groq: { keys: [{}, {}] } });
  t.match(stored('models.json'), { aliases: { claude: 'ollama/own', 'gpt-4': 'openai/gpt-4o' }, native: { openai: false }, defaultProvider: 'openrouter' });
  t.equal(
    Object.hasOwn((stored('models.json') as { aliases: object }).aliases, 'spread'),
    false,
    'a name never leads to another address than it was meant for',
  );
  t.same(
    left.filter(({ path }) => path.includes('.json')).map(({ path }) => path),
    ['auth.json: vllm', 'auth.json: anthropic', 'models.json: spread', 'models.json: claude'],
  );
  const [once, times] = [files(), ['auth.json', 'models.json'].map((name) => statSync(join(workspace, name)).mtimeMs)];
  t.match(await on(), { code: 0, stderr: /Nothing changes/ });
  t.same([files(), ['auth.json', 'models.json'].map((name) => statSync(join(workspace, name)).mtimeMs)], [once, times]);
  await on('--replace');
  t.match(stored('auth.json'), { vllm: { headers: {} }, anthropic: { apiKeyEnv: 'CLAUDE_KEY' }, other: { a: 'b' } });
  t.match(stored('models.json'), { aliases: { claude: 'anthropic/claude-sonnet-4-5', spread: ['vllm/qwen3', 'at-10-0-0-8/m'] }, native: { openai: false } });
  t.match(await on('--replace'), { stderr: /Nothing changes/ });
  writeFileSync(join(workspace, 'auth.json'), '{');
  t.match(await on(), { stderr: /auth\.json can't be used/ }, 'a damaged file is not replaced');
  t.same(readdirSync(workspace).sort(), ['auth.json', 'models.json']);
  t.ok(existsSync(file));
});

t.test('a workspace in PostgreSQL gets the aliases, and keeps its own', { skip: noPostgres }, async (t) => {
  const store = await postgresStore(t);
  const { file, workspace, stored } = desk(t);
  const on = (...more: string[]) => runHere(t, ['import', '--from', 'litellm', file, '--workspace', workspace, ...more], { env: { BLOCKHOUSE_STORE: store } });
  const kept = async () => (await ask(store, "select value from bh.setting where key = 'models'"))[0]?.['value'] as string | null | undefined;
  const schemas = async () => (await ask(store, "select 1 from pg_class where oid = to_regclass('bh.setting')")).length;
  writeFileSync(join(workspace, 'models.json'), JSON.stringify({ aliases: { prod: 'openai/gpt-4o' } }));
  const trial = await on('--dry-run');
  t.match(trial, { code: 0, stderr: /Nothing was written/ });
  t.notMatch(trial.stdout, /left out +[^\n]*prod:/, 'what a folder has is not in the database');
  t.equal(await schemas(), 0, 'an empty database gets no schema');
  rmSync(join(workspace, 'models.json'));
  t.match(await on(), { code: 0, stderr: /Wrote auth\.json and aliases in the database/ });
  t.match(stored('auth.json'), { groq: {} });
  t.notOk(existsSync(join(workspace, 'models.json')));
  t.match(JSON.parse((await kept()) ?? '{}'), { defaultProvider: 'openrouter', aliases: { spread: ['vllm/qwen3', 'at-10-0-0-8/m'], prod: 'azure/deployed' } });
  t.match(await on(), { code: 0, stderr: /Nothing changes/ });
  writeFileSync(file, CONFIG.replace('deployed', 'other'));
  t.match(await on(), { stdout: /left out {2}aliases in the database: prod: .*--replace replaces it/ });
  t.match(JSON.parse((await kept()) ?? '{}'), { aliases: { prod: 'azure/deployed' } });
  await on('--replace');
  t.match(JSON.parse((await kept()) ?? '{}'), { aliases: { prod: 'azure/other' } });
});

t.test('an alias that names itself is named with the cure, in YAML and among names', async (t) => {
  const { file, on } = desk(t);
  writeFileSync(file, CONFIG.replace('gpt-4: gpt-4o', 'gpt-4: gpt-4').replace('{ gone: [fast] }', '{ prod: [prod] }'));
  const { left } = JSON.parse((await on('--json')).stdout) as Report;
  for (const [path, name] of [
    ['router_settings.model_group_alias.gpt-4', 'gpt-4'],
    ['litellm_settings.fallbacks[1].prod', 'prod'],
  ])
    t.equal(left.find((line) => line.path === path)?.note, `${name} names itself. Give the name of another model in model_list, or remove the line.`);
  for (const text of ['model_list: &mine [*mine]\n', 'model_list: &mine\n  - model_name: a\n    litellm_params: *mine\n']) {
    writeFileSync(file, text);
    t.match(await on(), {
      code: 2,
      stdout: '',
      stderr: /line [13] has the alias \*mine inside of &mine, so it names itself; write there what is meant, or remove it/,
    });
  }
});

t.test('55: YAML that grows, nests or is no configuration is refused at once', async (t) => {
  const { file, workspace, on } = desk(t);
  const laughs = [
    'a0: &a0 [x, x, x, x, x, x, x, x, x]',
    ...Array.from({ length: 12 }, (_, index) => `a${index + 1}: &a${index + 1} [${Array.from({ length: 9 }, () => `*a${index}`).join(', ')}]`),
  ];
  for (const [content, problem] of [
    [laughs.join('\n'), /uses more than 100 aliases/],
    [`model_list: ${'['.repeat(sweep(200_000, 20_000))}`, /nests too deeply|no valid YAML/],
    [`a: ${'x'.repeat(1024 * 1024)}`, /larger than 1048576 bytes/],
    ['a: &a [*a]', /no model_list|aliases|names itself/],
    ['', /no model_list/],
    ['- 1', /no model_list/],
    ['model_list:\n\t- x', /line \d+ is no valid YAML/],
    ['a: !!js/function "x"', /no model_list/],
  ] as const) {
    writeFileSync(file, content);
    const from = performance.now();
    t.match(await on(), { code: 2, stderr: problem }, content.slice(0, 40));
    t.ok(performance.now() - from < 20_000);
  }
  t.same(readdirSync(workspace), []);
});
