import t from 'tap';
import { EmbedRequest, MAX_INPUTS } from '../../../core/schemas/embed.ts';
import { compile } from '../../../core/schemas/validate.ts';

const check = compile(EmbedRequest);
const request = (fields: object) => ({ adapter: 'a', model: 'm', inputs: ['x'], ...fields });

t.test('texts and token ids are inputs, and nothing else', async (t) => {
  for (const inputs of [['x'], ['x', 'y'], [[1, 2], 'x'], Array.from({ length: MAX_INPUTS }, () => 'x')]) t.doesNotThrow(() => check(request({ inputs })));
  for (const inputs of [[], [''], [[]], [1], [[-1]], [['x']], 'x', Array.from({ length: MAX_INPUTS + 1 }, () => 'x')]) {
    t.throws(() => check(request({ inputs })), { code: 'INVALID_REQUEST', message: /^inputs/ });
  }
  t.throws(() => check(request({ more: 1 })), { message: /more/ });
  t.throws(() => check(request({ dimensions: 0 })), { message: /^dimensions/ });
});
