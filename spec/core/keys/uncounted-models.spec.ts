import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createAdapters } from '../../../adapters/index.ts';
import { type StartedCore, startCore } from '../../support/blocks.ts';
import { type Answerer, sendJson } from '../../support/upstream.ts';

const passingOn: Answerer = (_request, res) => sendJson(res, { models: [{ name: 'm-cloud' }] });

/** A core that may call a daemon with one model, m-cloud, which it passes on to its cloud, and a provider whose prices are known. */
const started = (t: Test, files: Record<string, string> = {}): Promise<StartedCore> =>
  startCore(t, { adapters: createAdapters(), answer: passingOn, files: { 'auth.json': JSON.stringify({ anthropic: { apiKey: 'k' } }), ...files } });

t.test('a cap in USD comes with a warning that names a model without a known price, and the cure', async (t) => {
  const { core } = await started(t);
  t.same(await core.capWarnings({ usdPerDay: 1, models: ['ollama/*'] }), [
    {
      field: 'usdPerDay',
      message:
        'This cap does not count calls of ollama/m-cloud, because their price is not known; set tokensPerDay (`--tokens-per-day`) as well, or refuse such calls (`--unpriced refuse`).',
    },
  ]);
  t.match(await core.capWarnings({ usdPerDay: 1 }), [{ message: /calls of .* other models?,/ }], 'a key for every model');
  t.match(await core.capWarnings({ usdPerDay: 1, models: ['m-cloud'] }), [{ message: /calls of ollama\/m-cloud,/ }], 'by the name alone');
  t.match(await core.capWarnings({ usdPerDay: 1, models: ['ollama/x-cloud', 'ollama/y-cloud', 'm-cloud'] }), [
    { message: /calls of ollama\/x-cloud and 2 other models,/ },
  ]);
  t.match(await core.capWarnings({ usdPerDay: 1, models: ['ollama/x-cloud', 'm-cloud'] }), [{ message: /calls of ollama\/x-cloud and another model,/ }]);
});

t.test('a key that refuses calls without a known price comes with a note of the models that it refuses, whatever its caps', async (t) => {
  const { core } = await started(t);
  for (const caps of [{}, { usdPerDay: 1 }, { usdPerDay: 1, tokensPerDay: 5 }])
    t.same(await core.capWarnings({ ...caps, unpriced: 'refuse', models: ['ollama/*'] }), [
      {
        field: 'unpriced',
        message: 'This key refuses calls of ollama/m-cloud, because their price is not known; `--unpriced allow` lets it call them.',
      },
    ]);
  t.same(await core.capWarnings({ unpriced: 'refuse', models: ['claude-haiku-4-5*'] }), []);
});

t.test('no warning without a cap in USD, with one in tokens too, and for models that are counted or can not be called', async (t) => {
  const { core } = await started(t);
  for (const limits of [
    {},
    { tokensPerDay: 5 },
    { usdPerDay: null },
    { usdPerDay: 1, tokensPerDay: 5 },
    { usdPerDay: 1, models: ['claude-haiku-4-5*'] },
    { usdPerDay: 1, models: ['no-such-model'] },
  ])
    t.same(await core.capWarnings(limits), [], JSON.stringify(limits));
});

t.test('another server under the adapter of a provider has no known prices', async (t) => {
  const { core } = await started(t, { 'auth.json': JSON.stringify({ anthropic: { apiKey: 'k', baseURL: 'http://127.0.0.1:9' } }) });
  t.match(await core.capWarnings({ usdPerDay: 1, models: ['anthropic/*'] }), [{ message: /calls of anthropic\/\S+ and \d+ other models,/ }]);
});

t.test('an alias counts by what it stands for, and damaged names are no reason to refuse', async (t) => {
  const { core, workspace } = await started(t, { 'models.json': JSON.stringify({ aliases: { fast: ['anthropic/claude-haiku-4-5', 'ollama/m-cloud'] } }) });
  t.match(await core.capWarnings({ usdPerDay: 1, models: ['fast'] }), [{ message: /calls of ollama\/m-cloud,/ }]);
  const other = await startCore(t, { adapters: createAdapters(), start: false });
  writeFileSync(join(other.workspace, 'models.json'), '{');
  t.same(await other.core.capWarnings({ usdPerDay: 1, models: ['fast'] }), []);
  t.not(other.workspace, workspace);
});

t.test('the doctor says how many calls of today a cap in USD has not counted, with and without a server', async (t) => {
  const clock = () => Date.parse('2026-11-22T12:00:00.000Z');
  const at = '2026-11-22T11:00:00.000Z';
  const call = { at, requestId: 'r', key: 'app', provider: 'openai', model: 'm', usage: { totalTokens: 3 }, costUsd: null, error: null };
  const lines = [call, { ...call, costUsd: 0.5 }, call, { ...call, key: 'other' }].map((line) => `${JSON.stringify(line)}\n`).join('');
  const { core, workspace } = await startCore(t, { adapters: createAdapters(), clock, files: { 'gateway-ledger.jsonl': lines } });
  for (const [name, limits] of [
    ['app', { usdPerDay: 1, unpriced: 'refuse' }],
    ['other', { usdPerDay: 1, tokensPerDay: 5 }],
  ] as const)
    await core.keys?.create(name, limits);
  const problem = 'the cap in USD of app did not count 2 of its 3 calls today, because their price is not known';
  t.match((await core.check()).findings, [{ severity: 'warning', place: 'keys.json', problem, fix: /--unpriced refuse/ }]);
  await core.close();
  const unheld = await startCore(t, { adapters: createAdapters(), clock, workspace, start: false });
  t.match(
    (await unheld.core.check()).findings.map((finding) => finding.problem),
    [problem],
  );
});

t.test('the doctor names each key whose cap does not count every model, and a damaged file, with and without a server', async (t) => {
  const { core, workspace } = await started(t);
  await core.keys?.create('app', { usdPerDay: 1, models: ['ollama/*'] });
  await core.keys?.create('sound', { usdPerDay: 1, models: ['claude-haiku-4-5'] });
  const finding = {
    severity: 'warning',
    place: 'keys.json',
    problem: /^the cap in USD of app does not count calls of ollama\/m-cloud,/,
    fix: /--tokens-per-day/,
  };
  t.match(await core.check(), { ok: true, findings: [finding] });
  t.equal((await core.check()).findings.length, 1);
  await core.close();
  const unheld = await startCore(t, { adapters: createAdapters(), answer: passingOn, workspace, start: false });
  t.match(await unheld.core.check(), { ok: true, findings: [finding] });
  writeFileSync(join(workspace, 'keys.json'), '{"keys":{}}');
  t.match(await unheld.core.check(), { ok: false, findings: [{ severity: 'error', place: 'keys.json', problem: /must hold an object with a list/ }] });
});
