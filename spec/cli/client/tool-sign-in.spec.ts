import t from 'tap';
import type { Api } from '../../../cli/client/api.ts';
import { beginToolSignIn, finishToolSignIn, signOutOfTools } from '../../../cli/client/tool-sign-in.ts';

t.test('each call is one request, which may take long, because other servers are asked', async (t) => {
  const asked: unknown[] = [];
  const api = { client: { json: async (...request: unknown[]) => asked.push(request) } } as unknown as Api;
  await beginToolSignIn(api, 'a b', { redirectURI: 'x' });
  await finishToolSignIn(api, 'crm', 'code=1');
  await signOutOfTools(api, 'crm');
  t.strictSame(asked, [
    ['POST', '/api/tools/a%20b/login', { body: { redirectURI: 'x' }, hurry: false }],
    ['POST', '/api/tools/crm/login/finish', { body: { query: 'code=1' }, hurry: false }],
    ['DELETE', '/api/tools/crm/login', { hurry: false }],
  ]);
});
