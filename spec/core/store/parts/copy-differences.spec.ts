import t from 'tap';
import type { CopiedSetting, CopiedSpend, CopySource, CopyTarget } from '../../../../core/store/parts/copied.ts';
import { callDifferences, differencesOf, settingDifferences } from '../../../../core/store/parts/copy-differences.ts';

const none = async function* (): AsyncGenerator<never> {};

function sideOf(kind: 'files' | 'postgres', settings: [CopiedSetting, string][], spent: CopiedSpend[] = []): CopySource & CopyTarget {
  return { kind, settings: async () => new Map(settings), spent: async () => spent, calls: none } as unknown as CopySource & CopyTarget;
}

t.test('a part of a block differs by its number, or else by its content', async (t) => {
  const here = { messages: { count: 3, hash: 'a' }, memory: { count: 1, hash: 'b' }, costs: { count: 1, hash: 'c' } };
  const there = { messages: { count: 2, hash: 'x' }, memory: { count: 1, hash: 'y' }, costs: { count: 1, hash: 'c' } };
  t.same(differencesOf(here, there), ['messages: 3, and 2 there', 'memory: the content differs']);
});

t.test('settings are compared by what they mean, and a folder has a token of its own', async (t) => {
  const source = sideOf('postgres', [
    ['keys', '{"a":1,"b":2}'],
    ['models', '{}'],
    ['token', 'one'],
  ]);
  const other: [CopiedSetting, string][] = [
    ['keys', '{"b": 2, "a": 1}\n'],
    ['token', 'two'],
  ];
  const models = { place: 'settings', problem: 'models: the content differs' };
  t.same(await settingDifferences(source, sideOf('files', other)), [models]);
  t.same(await settingDifferences(source, sideOf('postgres', other)), [models, { place: 'settings', problem: 'token: the content differs' }]);
});

t.test('what a key has spent differs by dollars, tokens or calls, and not by the dust of floats', async (t) => {
  const row = (usd: number, calls = 1): CopiedSpend => ['2026-11-27', 'app', { usd, tokens: 10, calls, unpricedCalls: 0, output: 0, answers: 0 }];
  const found = async (there: CopiedSpend[]): Promise<unknown> =>
    (await callDifferences(sideOf('files', [], [row(0.3)]), sideOf('postgres', [], there))).differences;
  t.same(await found([row(0.1 + 0.2)]), []);
  t.match(await found([row(0.3, 2)]), [
    { problem: 'app on 2026-11-27 has spent 0.3 USD and 10 tokens with 1 calls, and 0.3 USD and 10 tokens with 2 calls there' },
  ]);
  t.match(await found([]), [{ problem: /, and nothing there$/ }]);
});
