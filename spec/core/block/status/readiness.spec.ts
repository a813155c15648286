import t from 'tap';
import { isConfigured, unlessDamaged } from '../../../../core/block/status/readiness.ts';
import { BlockhouseError, invalidRequest } from '../../../../core/errors.ts';
import { configOf } from '../../../support/block-files.ts';

type Readiness = Parameters<typeof isConfigured>[0]['readiness'];
const answering = (readiness: Readiness) => ({ readiness });

t.test('a block can run when its model and credentials are set', async (t) => {
  const asked: unknown[] = [];
  const readiness: Readiness = (name, config) => {
    asked.push([name, config]);
    return { id: name, missing: config?.region === undefined ? new BlockhouseError('ADAPTER_NOT_CONFIGURED', 'x') : undefined };
  };
  const withAdapter = (adapter: object | null) => configOf({ adapter });
  t.notOk(isConfigured(answering(readiness), withAdapter(null)));
  t.notOk(isConfigured(answering(readiness), withAdapter({ provider: 'p', model: 'm', baseURL: 'http://127.0.0.1' })));
  t.ok(isConfigured(answering(readiness), withAdapter({ provider: 'p', model: 'm', region: 'eu-1' })), 'what its own configuration brings counts');
  t.match(asked, [
    ['p', { baseURL: 'http://127.0.0.1' }],
    ['p', { region: 'eu-1' }],
  ]);
});

t.test('a block with a model is configured if a fallback has credentials', async (t) => {
  const readiness: Readiness = (name) => {
    if (name === 'nope') throw invalidRequest('adapter.provider', '"nope" does not exist');
    return { id: name, missing: name === 'keyed' ? undefined : new BlockhouseError('ADAPTER_NOT_CONFIGURED', 'x') };
  };
  const fallbacks = [
    { provider: 'keyless', model: 'm' },
    { provider: 'keyed', model: 'm' },
  ];
  for (const provider of ['keyless', 'nope']) {
    t.ok(isConfigured(answering(readiness), configOf({ adapter: { provider, model: 'm' }, fallbacks })), provider);
    t.notOk(isConfigured(answering(readiness), configOf({ adapter: { provider, model: 'm' }, fallbacks: fallbacks.slice(0, 1) })), provider);
  }
  t.notOk(isConfigured(answering(readiness), configOf({ adapter: null, fallbacks })));
});

t.test('a block with an unknown provider is unconfigured, and a defect is thrown', async (t) => {
  const throwing = (error: Error): Readiness => {
    return () => {
      throw error;
    };
  };
  const config = configOf({ adapter: { provider: 'nope', model: 'm' } });
  t.notOk(isConfigured(answering(throwing(invalidRequest('adapter.provider', '"nope" does not exist'))), config));
  t.throws(() => isConfigured(answering(throwing(new TypeError('x'))), config), TypeError);
});

t.test('unlessDamaged ignores BLOCK_DAMAGED and throws any other error', async (t) => {
  t.equal(unlessDamaged(new BlockhouseError('BLOCK_DAMAGED', 'x')), undefined);
  t.throws(() => unlessDamaged(new TypeError('x')), TypeError);
});
