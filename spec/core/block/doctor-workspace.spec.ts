import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createAdapters } from '../../../adapters/index.ts';
import type { DoctorReport } from '../../../core/index.ts';
import { AT } from '../../support/block-files.ts';
import { startCore } from '../../support/blocks.ts';

const problems = ({ findings }: DoctorReport, place: string): string[] => findings.filter((one) => one.place === place).map(({ problem }) => problem);

t.test('stored credentials that no adapter can use are reported without their content', async (t) => {
  const { blocks, workspace } = await startCore(t);
  for (const [content, expected] of [
    ['{}', []],
    ['{"ollama":{"baseURL":"http://127.0.0.1:1"}}', []],
    ['{"openai":{"apiKey":"canary', ['it is not valid JSON (line 1, column 28)']],
    ['["canary"]', ['it must contain a JSON object with one entry for each provider']],
    ['{"openai":"canary","google":{"apiKey":5}}', ['the entry openai must be an object', 'google.apiKey must be a string, not a number']],
  ] as const) {
    writeFileSync(join(workspace, 'auth.json'), content, { mode: 0o600 });
    const report = await blocks.check();
    t.same(problems(report, 'auth.json'), expected, content);
    t.equal(report.ok, expected.length === 0);
    t.notMatch(JSON.stringify(report), 'canary');
    for (const { fix } of report.findings.filter(({ place }) => place === 'auth.json'))
      t.match(fix, /^Repair .*`blockhouse auth (rm (openai|google)`\) and store it again|set <id>`)/, 'the commands are said');
  }
  rmSync(join(workspace, 'auth.json'));
  symlinkSync('/dev/zero', join(workspace, 'auth.json'));
  t.same(problems(await blocks.check(), 'auth.json'), ['it is not a regular file']);
  rmSync(join(workspace, 'auth.json'));
  symlinkSync('auth.json', join(workspace, 'auth.json'));
  t.same(problems(await blocks.check(), 'auth.json'), ['ELOOP'], 'a link that leads to itself');
  rmSync(join(workspace, 'auth.json'));
  writeFileSync(join(workspace, 'elsewhere.json'), '{}', { mode: 0o644 });
  symlinkSync(join(workspace, 'elsewhere.json'), join(workspace, 'auth.json'));
  t.same(problems(await blocks.check(), 'auth.json'), ['other users of this machine can read or write it'], 'a link is followed, as the server does');
});

t.test('a workspace that other users can write into is reported', async (t) => {
  const { blocks, workspace } = await startCore(t);
  for (const [mode, problem] of [
    [0o755, []],
    [0o775, ['other users of this machine can replace the files of the workspace']],
    [0o702, ['other users of this machine can replace the files of the workspace']],
  ] as const) {
    chmodSync(workspace, mode);
    t.same(problems(await blocks.check(), '.'), problem, mode.toString(8));
  }
});

t.test('entries and fields of auth.json without effect are reported with what was probably meant', async (t) => {
  const { blocks, workspace } = await startCore(t);
  const long = `canary-${'x'.repeat(40)}`;
  const content = { olama: { baseURL: 'canary' }, ollama: { baseUrl: 'canary', other: 'canary' }, elsewhere: {}, [long]: {} };
  writeFileSync(join(workspace, 'auth.json'), JSON.stringify(content), { mode: 0o600 });
  const report = await blocks.check();
  t.same(
    report.findings,
    [
      ['there is no provider olama, so the entry has no effect', 'Rename it if you meant ollama.'],
      ['ollama has no setting baseUrl, so it has no effect', 'Rename it if you meant ollama.baseURL.'],
      ['ollama has no setting other, so it has no effect', 'Remove it if no other program uses it.'],
      ['there is no provider elsewhere, so the entry has no effect', 'Remove it if no other program uses it.'],
      ['there is no provider cana…, so the entry has no effect', 'Remove it if no other program uses it.'],
    ].map(([problem, fix]) => ({ severity: 'warning', place: 'auth.json', problem, fix })),
  );
  t.ok(report.ok, 'they prevent nothing');
});

t.test('a kill switch that is set is reported', async (t) => {
  const { blocks } = await startCore(t);
  await blocks.halt();
  const report = await blocks.check();
  t.same(problems(report, 'halted.json'), ['all blocks are halted']);
  t.equal(report.ok, true, 'somebody wanted it');
});

t.test("ledger lines that can't be read are reported, because their spending is not counted", async (t) => {
  const { blocks, workspace } = await startCore(t);
  const path = join(workspace, 'ledger.jsonl');
  const line = JSON.stringify({ at: AT, block: 'ada', provider: 'ollama', model: 'm', purpose: 'reply', usage: null, costUsd: 1, messageId: null });
  writeFileSync(path, `${line}\n`);
  t.same(problems(await blocks.check(), 'ledger.jsonl'), []);
  writeFileSync(path, `${line}\n{"half\n`);
  t.match(problems(await blocks.check(), 'ledger.jsonl'), [/^line 2 can't be read, so its cost does not count towards the budgets$/]);
  writeFileSync(path, `${line}\nx\n${line}\ny\n`);
  const report = await blocks.check();
  t.match(problems(report, 'ledger.jsonl'), [/^2 lines can't be read \(the first is line 2\), so their costs do not count/]);
  t.equal(report.ok, false);
  rmSync(path);
  mkdirSync(path);
  t.match(problems(await blocks.check(), 'ledger.jsonl'), ['it is not a regular file']);
});

t.test("an archived block that can't be restored is reported", async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const { archiveName } = await one.blocks.archive('ada');
  t.same((await one.blocks.check()).findings, []);
  const path = join(one.workspace, 'archive', archiveName, 'config.json');
  for (const [content, expected] of [
    ['{"name":"ada","tags":5}', /tags must be an array/],
    ['{', /it is not valid JSON/],
    ['[]', /must be an object/],
  ] as const) {
    writeFileSync(path, content);
    const report = await one.blocks.check();
    t.match(problems(report, `archive/${archiveName}/config.json`), [expected]);
    t.equal(report.ok, false);
    await t.rejects(one.blocks.restore(archiveName), { code: 'BLOCK_DAMAGED' });
  }
  rmSync(path);
  t.same(problems(await one.blocks.check(), `archive/${archiveName}/config.json`), ['it is missing']);
});

t.test('entries of connections are checked: what they are built on, their fields, and keys that go over the network in plain text', async (t) => {
  const { blocks, workspace } = await startCore(t, { adapters: createAdapters() });
  const key = { apiKey: 'sk-canary-0123456789' };
  const write = (name: string, content: object) => writeFileSync(join(workspace, name), JSON.stringify(content), { mode: 0o600 });
  write('auth.json', {
    groq: {},
    gpu: { adapter: 'openai', baseURL: 'http://10.0.0.7:8000/v1', ...key },
    quiet: { adapter: 'openai', baseURL: 'http://10.0.0.7:8000/v1', auth: 'none' },
    local: { preset: 'vllm' },
    odd: { adapter: 'opnai' },
    wrong: { preset: 'grok' },
    half: { preset: 'groq', baseUrl: 'https://a.example' },
    opennai: key,
    bad: { preset: 'groq', limits: { inFlight: 0 } },
  });
  write('models.json', { aliases: { a: 'gpu/x', b: ['gone/x', 'ollama/x'], c: 'opnai/x' } });
  const report = await blocks.check();
  t.same(problems(report, 'auth.json').sort(), [
    'bad.limits.inFlight must be >= 1',
    'half has no setting baseUrl, so it has no effect',
    'odd.adapter must be one of bedrock, openai, google, anthropic, ollama',
    'the key of gpu goes to http://10.0.0.7:8000 without encryption',
    'there is no provider opennai, so the entry has no effect',
    'wrong.preset is none that is known; `blockhouse auth presets` lists them',
  ]);
  t.same(problems(report, 'models.json'), [
    'the alias b leads to gone, which is neither a provider nor a connection in auth.json',
    'the alias c leads to opnai, which is neither a provider nor a connection in auth.json',
  ]);
  t.notMatch(JSON.stringify(report), /canary/);
  write('presets.json', { acme: { apiKey: 'x' } });
  t.match(problems(await blocks.check(), 'presets.json'), [/acme\.apiKey is not a known field/]);
});

t.test('a key that goes over the network in plain text is reported wherever it stands, and nothing else is', async (t) => {
  const { blocks, workspace } = await startCore(t, { adapters: createAdapters() });
  const [key, plain] = [{ apiKey: 'sk-canary-0123456789' }, { baseURL: 'http://10.0.0.7:8000/v1' }];
  for (const [name, entry, place = 'http://10.0.0.7:8000'] of [
    ['openai', { ...plain, ...key }],
    ['anthropic', { ...plain, apiKeyEnv: 'CLAUDE_KEY' }],
    ['ollama', { ...plain, headers: { 'x-team': 'canary' } }],
    ['openai', { ...plain, keys: [key] }],
    ['bedrock', { endpoint: 'http://10.0.0.8', ...key }, 'http://10.0.0.8'],
    ['gpu', { adapter: 'ollama', ...plain, ...key }],
    ['gpu', { preset: 'groq', ...plain }],
    ['gpu', { adapter: 'openai', ...plain, keyCommand: ['canary'] }],
    ['gpu', { adapter: 'openai', ...plain, auth: 'none', headers: { 'x-team': 'canary' } }],
  ] as const) {
    writeFileSync(join(workspace, 'auth.json'), JSON.stringify({ [name]: entry }), { mode: 0o600 });
    const report = await blocks.check();
    t.same(problems(report, 'auth.json'), [`the key of ${name} goes to ${place} without encryption`], JSON.stringify(entry));
    t.ok(report.ok, 'it prevents nothing');
  }
  for (const [name, entry] of [
    ['openai', plain],
    ['openai', { baseURL: 'http://127.0.0.1:8000/v1', ...key }],
    ['openai', { baseURL: 'https://a.example/v1', ...key }],
    ['ollama', plain],
    ['bedrock', { endpoint: 'http://10.0.0.8' }],
    ['gpu', { adapter: 'ollama', ...plain }],
    ['gpu', { preset: 'vllm', ...plain }],
    ['gpu', { preset: 'groq', ...plain, auth: 'none' }],
  ] as const) {
    writeFileSync(join(workspace, 'auth.json'), JSON.stringify({ [name]: entry }), { mode: 0o600 });
    t.same(problems(await blocks.check(), 'auth.json'), [], `${name} ${JSON.stringify(entry)}`);
  }
});

t.test('a target of notifications that has turned itself off is reported, with what waits for it', async (t) => {
  const files = {
    targets: { 'phone.json': '{"off":true,"dropped":0,"last":null}', 'desk.json': '{"off":false}', 'bad.json': '{' },
    'pending-phone': { 'msg_1.json': '{}', 'msg_2.json': '{}' },
  };
  const { blocks } = await startCore(t, { files: { notify: { ...files, 'part-1': { targets: { 'old.json': '{"off":true}' } } } } });
  t.same(problems(await blocks.check(), 'notify'), [
    'the target phone of notifications has answered 410, so it gets no more; 2 wait for it',
    'the target old of notifications has answered 410, so it gets no more; 0 wait for it',
  ]);
});
