import t from 'tap';
import { pay } from '../../../support/tools/calls.ts';
import { toolServer } from '../../../support/tools/tool-server.ts';

t.setTimeout(60_000);

const say = ({ results }: { readonly results: readonly string[] }) => (results.length === 0 ? [pay('bob')] : `Done: ${results.at(-1)}`);

t.test('a call that waits is listed with what decides about it, and approved by its digest', async (t) => {
  const server = await toolServer(t, { say });
  t.match(await server.call('GET', '/api/approvals'), { status: 200, json: { approvals: [], cursor: null } });
  const id = await server.post('Pay bob.');
  const [waiting] = await server.pending();
  t.match(waiting, {
    block: 'ada',
    messageId: id,
    call: '1.1',
    kind: 'call',
    tool: 'bank/pay',
    arguments: { to: 'bob', amount: 5 },
    because: 'rule',
    pin: 'pin-of-pay',
    state: 'pending',
    scopes: ['once', 'always', 'same-arguments'],
  });
  const path = `/api/approvals/${waiting?.id}`;
  t.match((await server.call('GET', path)).json, { approval: { id: waiting?.id, state: 'pending' } });
  t.match((await server.call('GET', '/api/approvals?block=ada&limit=1')).json, { approvals: [{ id: waiting?.id }], cursor: null });
  t.match((await server.call('GET', '/api/approvals?block=bob')).json, { approvals: [] });
  t.match(await server.call('POST', path, { body: { decision: 'approve' } }), { status: 400, json: { code: 'INVALID_REQUEST', error: /digest is required/ } });
  const approve = { decision: 'approve', digest: waiting?.digest };
  const done = await server.call('POST', path, { body: approve, headers: { 'x-blockhouse-channel': 'cli' } });
  t.match(done, { status: 200, json: { approval: { state: 'approved', decision: 'approve', decidedBy: { channel: 'cli', name: 'token' }, scopes: [] } } });
  t.equal(await server.outcome(id), 'done');
  t.equal(server.host.calls.length, 1);
  const again = await server.call('POST', path, { body: { ...approve, decision: 'deny' } });
  t.match(again, { status: 409, json: { code: 'APPROVAL_DECIDED', error: /approve, by cli token/, approval: { id: waiting?.id, state: 'approved' } } });
  t.match((await server.call('GET', '/api/approvals?state=approved')).json, { approvals: [{ id: waiting?.id, decidedBy: { channel: 'cli' } }], cursor: null });
  t.match((await server.call('GET', path)).json, { approval: { state: 'approved' } });
  t.equal(server.host.calls.length, 1, 'the second decision has made no call');
});

t.test('with another digest, an unknown id or a wrong query nothing is decided', async (t) => {
  const server = await toolServer(t, { say });
  await server.post('Pay bob.');
  const [waiting] = await server.pending();
  const path = `/api/approvals/${waiting?.id}`;
  t.match(await server.call('POST', path, { body: { decision: 'approve', digest: 'another' } }), { status: 409, json: { code: 'APPROVAL_STALE' } });
  const body = { decision: 'approve', digest: waiting?.digest };
  t.match(await server.call('POST', '/api/approvals/a0', { body }), { status: 404, json: { code: 'APPROVAL_NOT_FOUND' } });
  t.match(await server.call('GET', '/api/approvals/a0'), { status: 404, json: { code: 'APPROVAL_NOT_FOUND' } });
  t.match(await server.call('POST', path, { body: { ...body, decision: 'ran' } }), { status: 400, json: { error: /one of approve, deny/ } });
  t.match(await server.call('POST', path, { body: { ...body, scope: 'forever' } }), { status: 400, json: { code: 'INVALID_REQUEST', error: /^scope/ } });
  t.match(await server.call('POST', path, { body: { ...body, arguments: {} } }), { status: 400, json: { code: 'INVALID_REQUEST' } });
  t.match(await server.call('POST', path, { body: { ...body, decision: 'deny', scope: 'always' } }), { status: 400, json: { error: /^scope is for/ } });
  for (const query of ['state=open', 'limit=0', 'limit=x', 'cursor=x', 'block=a&block=b'])
    t.match(await server.call('GET', `/api/approvals?${query}`), { status: 400, json: { code: 'INVALID_REQUEST' } }, query);
  t.match(await server.pending(), [{ id: waiting?.id, state: 'pending' }]);
  t.strictSame(server.host.calls, []);
});

t.test('a named key, and a request without a token, can neither see nor decide', async (t) => {
  const server = await toolServer(t, { say });
  await server.post('Pay bob.');
  const [waiting] = await server.pending();
  const { key } = (await server.call('POST', '/api/keys', { body: { name: 'app', rights: ['blocks'], blocks: ['*'] } })).json as { key: string };
  const path = `/api/approvals/${waiting?.id}`;
  const body = { decision: 'approve', digest: waiting?.digest };
  const headers = { authorization: `Bearer ${key}` };
  t.match(await server.call('POST', path, { body, headers, token: false }), { status: 403, json: { code: 'KEY_FORBIDDEN' } });
  t.match(await server.call('GET', '/api/approvals', { headers, token: false }), { status: 403, json: { code: 'KEY_FORBIDDEN' } });
  t.match(await server.call('POST', path, { body, token: false }), { status: 401 });
  t.strictSame(server.host.calls, []);
  t.match(await server.pending(), [{ state: 'pending' }]);
});

t.test('a session of the page decides as the page', async (t) => {
  const server = await toolServer(t, { say });
  const id = await server.post('Pay bob.');
  const [waiting] = await server.pending();
  const session = await server.core.sessions?.newKey(() => true);
  const headers = { authorization: `Bearer ${session?.text}`, 'x-blockhouse-channel': 'cli' };
  const done = await server.call('POST', `/api/approvals/${waiting?.id}`, { body: { decision: 'deny', digest: waiting?.digest }, headers, token: false });
  t.match(done, { status: 200, json: { approval: { state: 'denied', decidedBy: { channel: 'web', name: 'page' } } } });
  t.equal(await server.outcome(id), 'done');
  t.strictSame(server.host.calls, []);
});
