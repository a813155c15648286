// Servers at an address: how they are found, and where nothing is sent.
import t from 'tap';
import { loadSdk } from '../../../adapters/tools/sdk.ts';
import { at, httpTools } from '../../support/tools/http-tools.ts';
import { sessionsRig, textOf } from '../../support/tools/sessions-rig.ts';

await loadSdk();

t.test('the era is found, and tools are listed', async (t) => {
  for (const era of ['legacy', 'modern'] as const) {
    const { url } = await httpTools(t, era);
    const { sessions } = sessionsRig(t);
    t.match(await sessions.look({ ...at(url), era: undefined }, new AbortController().signal), { era, tools: [{ name: 'echo' }] });
  }
});

t.test('a session that the server has forgotten is opened again by the next call', async (t) => {
  const { url, posted } = await httpTools(t);
  const { call } = sessionsRig(t);
  t.match(await call(at(url), 'status', { status: 404 }), { isError: true, parts: [{ text: 'The server has refused the request (HTTP 404).' }] });
  t.equal(textOf(await call(at(url), 'echo', { text: 'again' })), 'again');
  t.equal(posted.filter(({ message }) => message.method === 'initialize').length, 2);
});

t.test('nothing is sent in clear to another machine, to a metadata service, or to nowhere', async (t) => {
  const { call } = sessionsRig(t);
  const refused: [url: string, message: RegExp][] = [
    ['http://tools.example.com/mcp', /must begin with https:/],
    ['https://169.254.169.254/mcp', /^web can't be used: /],
    ['nowhere', /is no address of HTTP/],
    ['http://127.0.0.1:1/mcp', /^web can't be used: /],
  ];
  for (const [url, message] of refused) await t.rejects(call(at(url), 'echo'), { code: 'TOOL_NOT_BEGUN', message }, url);
});
