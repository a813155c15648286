import { writeFileSync } from 'node:fs';
import t from 'tap';
import { closeBrowser, openWorld } from '../support/browser.ts';

t.teardown(closeBrowser);

const KEY = 'gsk-canary-0123456789abcdef';

t.test('the settings list the connections beside the providers: where each is, whether it is ready, and never a key', async (t) => {
  const world = await openWorld(t, {
    env: { GROQ_API_KEY: KEY },
    files(workspace) {
      const entries = { groq: {}, gpu: { adapter: 'openai', baseURL: 'http://10.0.0.7:8000/v1' }, wrong: { adapter: 'openai', baseURL: 'ftp://x' } };
      writeFileSync(`${workspace}/auth.json`, JSON.stringify(entries), { mode: 0o600 });
    },
  });
  if (world === undefined) return;
  const page = await world.page('/ui/settings');
  const row = (name: string) => page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) });
  await row('groq').getByText('Ready at api.groq.com/openai/v1, with the key in GROQ_API_KEY.').waitFor();
  await row('gpu')
    .getByText(/^gpu needs a key/)
    .waitFor();
  await row('wrong')
    .getByText(/baseURL must be an absolute http or https URL/)
    .waitFor();
  t.notMatch(await page.content(), /canary/);
});
