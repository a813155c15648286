import t from 'tap';
import { BlockhouseError, ERROR_TABLE, type ErrorCode, errorBody, invalidRequest } from '../../../core/errors.ts';
import { ErrorReport } from '../../../core/schemas/error.ts';
import { compile } from '../../../core/schemas/validate.ts';

const check: (value: unknown) => void = compile(ErrorReport);

t.test('the body of every code fits the published schema', async (t) => {
  for (const code of Object.keys(ERROR_TABLE) as ErrorCode[])
    t.doesNotThrow(() => check(errorBody(new BlockhouseError(code, 'x', { upstreamStatus: 500 }), 'req_1')), code);
  t.doesNotThrow(() => check(errorBody(invalidRequest('a', 'b'))));
});

t.test('a code of no table does not fit', async (t) => {
  t.throws(() => check({ error: 'x', status: 500, code: 'OOPS' }), { code: 'INVALID_REQUEST', details: [{ path: 'code' }] });
});
