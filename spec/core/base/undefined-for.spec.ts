import t from 'tap';
import { undefinedFor } from '../../../core/base/undefined-for.ts';

t.test('the errors that it names are nothing, and every other error is thrown', async (t) => {
  const missing = Object.assign(new Error('missing'), { code: 'ENOENT' });
  t.equal(await Promise.reject(missing).catch(undefinedFor('EPERM', 'ENOENT')), undefined);
  await t.rejects(Promise.reject(missing).catch(undefinedFor('EPERM')), missing);
  await t.rejects(Promise.reject(new Error('no code')).catch(undefinedFor('ENOENT')), { message: 'no code' });
});
