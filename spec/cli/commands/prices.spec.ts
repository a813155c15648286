import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openDesk, runHere } from '../run.ts';

function desk(t: Test) {
  const workspace = t.testdir({ 'auth.json': JSON.stringify({ gpu: { adapter: 'openai', baseURL: 'http://10.0.0.7:8000/v1', auth: 'none' }, groq: {} }) });
  return { workspace, on: (...args: string[]) => runHere(t, ['prices', ...args, '--workspace', workspace]) };
}

t.test('prices are set in one way, shown with where they come from, and removed', async (t) => {
  const { on } = desk(t);
  t.match(await on(), { code: 0, stdout: '', stderr: /No model has a price of its own\. `.*prices set <connection>\/<model> / });
  t.match(await on('set', 'gpu/prod', '--input', '0.59', '--output', '0.79', '--cache-read', '0.06'), {
    code: 0,
    stdout: '',
    stderr: 'Stored the price of gpu/prod in auth.json.\n',
  });
  t.equal((await on('set', 'gpu/mine', '--like', 'openai/gpt-4o-mini')).code, 0);
  t.equal((await on('set', 'gpu/own-*', '--free')).code, 0);
  t.same(
    (await on()).stdout.split('\n').map((line) => line.split(/\s{2,}/)),
    [
      ['MODEL', 'INPUT', 'OUTPUT', 'CACHE READ', 'CACHE WRITE', 'FROM'],
      ['gpu/mine', '0.15', '0.6', '0.075', '0.15', 'own, like openai/gpt-4o-mini'],
      ['gpu/own-*', '0', '0', '0', '0', 'own'],
      ['gpu/prod', '0.59', '0.79', '0.06', '0.59', 'own'],
      [''],
    ],
  );
  t.match((await on('show', 'gpu/own-model')).stdout, /^gpu\/own-model +0 +0 /m);
  t.match((await on('show', 'groq/llama-3.3-70b-versatile')).stdout, /0\.59 +0\.79 .* data$/m);
  t.match((await on('show', 'groq/unheard-of')).stdout, /not known$/m);
  t.match(JSON.parse((await on('set', 'gpu/prod', '--free', '--json')).stdout), { model: 'gpu/prod', from: 'own', price: { input: 0, output: 0 } });
  t.match(await on('rm', 'gpu/prod'), { code: 0, stderr: 'Removed the price of gpu/prod from auth.json.\n' });
  t.match(await on('rm', 'gpu/prod', '--json'), { code: 0, stdout: /"removed": ?false/ });
});

t.test('a server that runs uses a price once the command that sets it has ended', async (t) => {
  const { on } = await openDesk(t);
  const shown = async (): Promise<unknown> => JSON.parse((await on(['prices', 'show', 'ollama/big-cloud', '--json'])).stdout).prices[0].from;
  t.equal(await shown(), null);
  t.equal((await on(['prices', 'set', 'ollama/big-cloud', '--free'])).code, 0);
  t.equal(await shown(), 'own');
  t.equal((await on(['prices', 'rm', 'ollama/big-cloud'])).code, 0);
  t.equal(await shown(), null);
});

t.test('what is no price is refused, and says what to write', async (t) => {
  const { on } = desk(t);
  for (const [args, problem] of [
    [['gpu/z'], /Give the price in one way: --input and --output, --free, or --like/],
    [['gpu/z', '--free', '--like', 'openai/gpt-4o'], /in one way/],
    [['gpu/z', '--input', '1'], /needs both --input and --output/],
    [['gpu/z', '--input', '1', '--output', 'x'], /--output must be an amount of USD/],
    [['gpu/z', '--input', '1', '--output', '2', '--cache-read', '1e3'], /--cache-read must be an amount/],
    [['gpu/z', '--input', '1', '--output'], /--output needs <usd>/],
    [['gpu', '--free'], /must be connection\/model/],
    [['acme/z', '--free'], /neither that of a provider nor of a connection/],
    [['gpu/z', '--like', 'openai/unheard-of'], /names no model that the price data have/],
  ] as const) {
    const { code, stderr } = await on('set', ...args);
    t.equal(code, 2, args.join(' '));
    t.match(stderr, problem);
  }
});

t.test('the published data give prices to the connections of their providers', async (t) => {
  const { workspace, on } = desk(t);
  const file = join(workspace, 'data.json');
  const models = Array.from({ length: 12 }, (_, index) => ({ id: `m${index}`, prices: { input_mtok: index, output_mtok: 1 } }));
  writeFileSync(file, JSON.stringify([{ id: 'groq', models: [...models, { id: 'odd', prices: {} }] }]));
  const updated = await on('update', file, '--yes');
  t.match(updated, { code: 0, stderr: /1 model of the price data has no single price/ });
  t.match(updated.stdout, /^(?:new +groq\/m\d+\n){10}new +… and 2 more\n$/);
  t.match((await on('show', 'groq/m7')).stdout, /^groq\/m7 +7 +1 .* file$/m);
  t.match((await on()).stderr, /prices\.json was made of data\.json on \d{4}-/);
  t.match(await on('update', join(workspace, 'none.json')), { code: 2, stderr: /none\.json is not there/ });
});
