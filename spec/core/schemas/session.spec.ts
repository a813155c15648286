import t from 'tap';
import { SessionCode, SessionKey, SessionTicket, SignIn } from '../../../core/schemas/session.ts';
import { compile, type Validator } from '../../../core/schemas/validate.ts';

t.test('a code is a text of at most 64 characters, and nothing stands beside it', async (t) => {
  const check: Validator<unknown> = compile(SignIn);
  t.doesNotThrow(() => check({ code: 'x' }));
  for (const wrong of [{}, { code: '' }, { code: 'x'.repeat(65) }, { code: 1 }, { code: 'x', token: 'y' }, 'x'])
    t.throws(() => check(wrong), { code: 'INVALID_REQUEST' });
});

t.test('each answer says when it ends', async (t) => {
  for (const schema of [SessionCode, SessionKey, SessionTicket]) t.ok(schema.required.includes('expiresAt'));
});
