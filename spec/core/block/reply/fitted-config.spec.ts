import t from 'tap';
import type { BlockContext } from '../../../../core/block/reply/block-context.ts';
import { fittedConfig } from '../../../../core/block/reply/fitted-config.ts';
import { configOf } from '../../../support/block-files.ts';

const ADAPTER = { provider: 'acme', model: 'small', baseURL: 'http://127.0.0.1:1' };

function shopWith(config: object, most: number | undefined) {
  const asked: unknown[] = [];
  const context = {
    files: { config: { read: async () => configOf({ memory: { maxContextTokens: 1000, thresholdPercent: 80, keepMessages: 20 }, ...config }) } },
    world: {
      gateway: {
        readiness: (id: string) => ({ id, missing: id === 'keyless' ? new Error('no key') : undefined }),
        contextTokens: async (...question: unknown[]) => {
          asked.push(question);
          return most;
        },
      },
    },
  } as unknown as BlockContext;
  return { context, asked };
}

t.test('the window is limited by the block and by its model', async (t) => {
  for (const [most, maxContextTokens] of [
    [800, 800],
    [1000, 1000],
    [5000, 1000],
    [undefined, 1000],
  ] as const)
    t.match((await fittedConfig(shopWith({ adapter: ADAPTER }, most).context)).memory, { maxContextTokens, thresholdPercent: 80 }, String(most));
});

t.test('the first model decides, with its own address and region', async (t) => {
  const { context, asked } = shopWith({ adapter: ADAPTER, fallbacks: [{ provider: 'other', model: 'tiny' }] }, 800);
  await fittedConfig(context);
  t.match(asked, [['acme', 'small', { config: { baseURL: 'http://127.0.0.1:1' } }]]);
});

t.test('a model without credentials is passed over', async (t) => {
  const { context, asked } = shopWith({ adapter: { provider: 'keyless', model: 'm' }, fallbacks: [{ provider: 'acme', model: 'small' }] }, 800);
  t.equal((await fittedConfig(context)).memory.maxContextTokens, 800);
  t.match(asked, [['acme', 'small']]);
});

t.test('without a model, no provider is asked', async (t) => {
  const { context, asked } = shopWith({ adapter: null }, 800);
  t.equal((await fittedConfig(context)).memory.maxContextTokens, 1000);
  t.same(asked, []);
});
