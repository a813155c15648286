import t from 'tap';
import { isConfigured, unlessDamaged } from '../../../core/block/readiness.ts';
import { BlockhouseError, invalidRequest } from '../../../core/errors.ts';

type Readiness = Parameters<typeof isConfigured>[0]['readiness'];
const answering = (readiness: Readiness) => ({ readiness });

t.test('a block can run when its model and credentials are set', async (t) => {
  const asked: unknown[] = [];
  const readiness: Readiness = (name, config) => {
    asked.push([name, config]);
    return { id: name, missing: config?.region === undefined ? new BlockhouseError('ADAPTER_NOT_CONFIGURED', 'x') : undefined, isOwnHost: true };
  };
  t.notOk(isConfigured(answering(readiness), null));
  t.notOk(isConfigured(answering(readiness), { provider: 'p', model: 'm', baseURL: 'http://127.0.0.1' }));
  t.ok(isConfigured(answering(readiness), { provider: 'p', model: 'm', region: 'eu-1' }), 'what its own configuration brings counts');
  t.strictSame(asked, [
    ['p', { baseURL: 'http://127.0.0.1' }],
    ['p', { region: 'eu-1' }],
  ]);
});

t.test('a block with an unknown provider is unconfigured, and a defect is thrown', async (t) => {
  const throwing = (error: Error): Readiness => {
    return () => {
      throw error;
    };
  };
  t.notOk(isConfigured(answering(throwing(invalidRequest('adapter.provider', 'names no adapter'))), { provider: 'nope', model: 'm' }));
  t.throws(() => isConfigured(answering(throwing(new TypeError('x'))), { provider: 'p', model: 'm' }), TypeError);
});

t.test('unlessDamaged ignores BLOCK_DAMAGED and throws any other error', async (t) => {
  t.equal(unlessDamaged(new BlockhouseError('BLOCK_DAMAGED', 'x')), undefined);
  t.throws(() => unlessDamaged(new TypeError('x')), TypeError);
});
