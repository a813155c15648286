// Calls over HTTP: each is one POST with an outcome, whatever the server does.
import t from 'tap';
import { Upstream } from '../../../adapters/outbound/client.ts';
import { HttpTransport } from '../../../adapters/tools/http-transport.ts';
import { loadSdk } from '../../../adapters/tools/sdk.ts';
import { resolveNames } from '../../support/adapter-call.ts';
import { at, httpTools } from '../../support/tools/http-tools.ts';
import { sessionsRig, textOf } from '../../support/tools/sessions-rig.ts';
import { until } from '../../support/until.ts';

await loadSdk();

t.test('a call is one POST with its headers, in both eras, whole and streamed', async (t) => {
  for (const era of ['legacy', 'modern'] as const) {
    const { url, calls, posted } = await httpTools(t, era);
    const { call, sessions } = sessionsRig(t);
    const server = { ...at(url), era };
    t.equal(textOf(await call(server, 'echo', { text: 'hello' }, { callId: 'ada/m1/1.1' })), 'hello', era);
    t.match(calls()[0], {
      method: 'POST',
      headers: { authorization: 'Bearer canary-1234567', 'idempotency-key': 'ada/m1/1.1', 'accept-encoding': 'identity' },
      message: { params: { _meta: { 'dev.blockhouse/callId': 'ada/m1/1.1' } } },
    });
    t.match(
      calls()[0]?.headers,
      era === 'legacy' ? { 'mcp-session-id': 's1', 'mcp-protocol-version': '2025-11-25' } : { 'mcp-protocol-version': '2026-07-28', 'mcp-name': 'echo' },
    );
    t.equal(textOf(await call(server, 'stream')), 'streamed');
    t.equal(textOf(await call(server, 'open')), 'answered, and left open');
    t.equal(calls().length, 3);
    t.ok(posted.every(({ method }) => method === 'POST'));
    t.equal(sessions.stateOf('web').state, 'ready');
  }
});

t.test('an answer that breaks off, or that is none, leaves the call unknown at once; nothing is sent again', async (t) => {
  const { url, calls } = await httpTools(t);
  const { call } = sessionsRig(t);
  const cases: [tool: string, args: Record<string, unknown>, message: RegExp][] = [
    ['reset', {}, /^web has given no answer: /],
    ['cut', {}, /^web has given no answer: its answer ended too early\.$/],
    ['half', {}, /^web has given no answer: /],
    ['status', { status: 503 }, /^web has given no answer: it answered with HTTP 503\.$/],
    ['status', { status: 307 }, /^web has given no answer: it answered with HTTP 307\.$/],
    ['status', { status: 303 }, /HTTP 303/],
  ];
  for (const [tool, args, message] of cases)
    await t.rejects(call(at(url), tool, args), { code: 'TOOL_OUTCOME_UNKNOWN', message }, `${tool} ${JSON.stringify(args)}`);
  t.equal(calls().length, cases.length);
  await t.rejects(call(at(url), 'mute', {}, { timeoutMs: 50 }), { code: 'TOOL_OUTCOME_UNKNOWN', message: /did not answer/ });
  t.equal(textOf(await call(at(url), 'echo', { text: 'still there' })), 'still there');
});

t.test('what a server refuses, and what is too large or too deep, is a result', async (t) => {
  const { url, calls } = await httpTools(t);
  const { call } = sessionsRig(t);
  t.match(await call(at(url), 'refuse'), { isError: true, parts: [{ text: 'The server has refused the call: The amount is missing.' }] });
  t.match(await call(at(url), 'status', { status: 403 }), { isError: true, parts: [{ text: 'The server has refused the request (HTTP 403).' }] });
  for (const events of [false, true])
    t.match(await call(at(url), 'big', { megabytes: 200, events }), { isError: true, parts: [{ text: /^The result is larger than 1000000 bytes/ }] });
  t.match(await call(at(url), 'deep'), { isError: true, parts: [{ text: 'The result is nested more than 100 levels deep.' }] });
  t.equal(calls().length, 5);
});

t.test('in-turns: of thousands of notices beside an answer some are handed on in a turn, and too many in a minute fail their call alone', async (t) => {
  const { url } = await httpTools(t);
  const upstream = new Upstream();
  t.teardown(() => upstream.close());
  const transport = new HttpTransport({ url: new URL(url), headers: {}, maxBytes: 8_000_000, upstream });
  let id = 0;
  let heardInAll = 0;
  const sent = async (args: { readonly times: number; readonly events: boolean }) => {
    const heard = { notices: 0, mostInATurn: 0, answers: [] as unknown[] };
    let inTurn = 0;
    transport.onmessage = (message) => {
      if (!('method' in message)) return void heard.answers.push('result' in message ? 'result' : 'error' in message && message.error.message);
      if (inTurn === 0) setImmediate(() => (inTurn = 0));
      inTurn += 1;
      heard.notices += 1;
      heardInAll += 1;
      heard.mostInATurn = Math.max(heard.mostInATurn, inTurn);
    };
    id += 1;
    await transport.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'notices', arguments: args } });
    return heard;
  };
  for (const events of [false, true]) {
    t.match(await sent({ times: 3, events }), { notices: 3, answers: ['result'] });
    const many = await sent({ times: 10_000, events });
    t.match(many.answers, ['result']);
    t.ok(many.mostInATurn > 0 && many.mostInATurn <= 100, `${many.mostInATurn} in a turn`);
  }
  t.match((await sent({ times: 40_000, events: true })).answers, ['The server has sent more than 2097152 bytes in a minute beside its answer.']);
  t.match(await sent({ times: 1, events: true }), { notices: 1, answers: ['result'] });
  const { now } = performance;
  t.teardown(() => (performance.now = now));
  performance.now = () => now.call(performance) + 1000 * heardInAll;
  t.match((await sent({ times: 40_000, events: true })).answers, ['result'], 'a long call may tell of its progress for minutes');
});

t.test('a call that is cut off ends its POST', async (t) => {
  const { url, calls } = await httpTools(t);
  const { call, sessions } = sessionsRig(t);
  const own = new AbortController();
  const muted = call(at(url), 'mute', {}, { signal: own.signal });
  while (calls().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  own.abort();
  await t.rejects(muted, { code: 'TOOL_OUTCOME_UNKNOWN', message: 'The call was cut off.' });
  const other = call(at(url), 'mute');
  while (calls().length === 1) await new Promise((resolve) => setTimeout(resolve, 5));
  await Promise.all([t.rejects(other, { code: 'TOOL_OUTCOME_UNKNOWN' }), sessions.halt()]);
});

t.test('a name that has led to the internet leads into no private network afterwards (DNS rebinding), and to a metadata service never', async (t) => {
  const upstream = new Upstream();
  t.teardown(() => upstream.close());
  const work = setInterval(() => undefined, 1000); // node:tls is loaded at the first call, and an import that is under way keeps no process at work
  t.teardown(() => clearInterval(work));
  let address = '203.0.113.5';
  const asked = resolveNames(t, () => [{ address, family: address.includes(':') ? 6 : 4 }]);
  const send = (host: string, signal = new AbortController().signal): Promise<void> =>
    new HttpTransport({ url: new URL(`https://${host}/mcp`), headers: {}, maxBytes: 1000, upstream }).send(
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { requestSignal: signal },
    );
  const first = new AbortController();
  const begun = send('tools.example', first.signal).catch((error: unknown) => error);
  await until('the name is looked up', () => asked.length > 0);
  first.abort();
  t.match(await begun, { code: /^(CANCELLED|UPSTREAM_UNREACHABLE)$/ }, 'some networks answer for every address at once');
  for (address of ['10.0.0.7', '127.0.0.1', '192.168.1.1', '100.64.0.1', 'fd00::1', '::ffff:10.0.0.1'])
    await t.rejects(send('tools.example'), { code: 'INVALID_REQUEST', mayHaveRun: false, message: /leads to this machine or into a private network/ }, address);
  address = '169.254.169.254';
  for (const host of ['tools.example', 'other.example'])
    await t.rejects(send(host), { code: 'INVALID_REQUEST', mayHaveRun: false, message: /points to a link-local, metadata/ });
});
