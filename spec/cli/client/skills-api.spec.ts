import t from 'tap';
import type { Client } from '../../../cli/client/client.ts';
import { SkillsApi } from '../../../cli/client/skills-api.ts';

t.test('each call is one request, and an approval says that it comes from here', async (t) => {
  const asked: unknown[] = [];
  const api = new SkillsApi({ json: async (...given: unknown[]) => void asked.push(given) } as unknown as Client);
  await api.list();
  await api.list('ada');
  await api.show('_', 'a/b');
  await api.approve('ada', 'invoice', 'f');
  t.strictSame(asked, [
    ['GET', '/api/skills', {}],
    ['GET', '/api/skills?block=ada', {}],
    ['GET', '/api/skills/_/a%2Fb', {}],
    ['POST', '/api/skills/ada/invoice/approve', { body: { hash: 'f' }, headers: { 'x-blockhouse-channel': 'cli' } }],
  ]);
});
