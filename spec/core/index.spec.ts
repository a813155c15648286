import t from 'tap';
import * as core from '../../core/index.ts';

t.test('what transports, adapters and host programs build on is exported', async (t) => {
  const functions = [
    'createCore',
    'createBus',
    'errorBody',
    'toBlockhouseError',
    'invalidRequest',
    'checkEgress',
    'isForbiddenAddress',
    'parseRetryAfter',
    'compile',
  ];
  for (const name of functions) t.type((core as Record<string, unknown>)[name], 'function', name);
  for (const name of ['ChatRequest', 'ChatResponse', 'ErrorReport', 'AdapterList', 'VerifyRequest', 'frames'])
    t.type((core.schemas as Record<string, unknown>)[name], 'object', name);
  t.type(core.ERROR_TABLE, 'object');
  t.type(core.VERSION, 'string');
});
