import t from 'tap';
import { askedIn, META, MODERN, RpcFault, type RpcHeaders } from '../../../../../transports/http/handlers/mcp/message.ts';

const META_OK = { [META.version]: MODERN, [META.capabilities]: {} };
const modern = (method: string, params: object = {}, meta: object = META_OK) => ({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } });
const legacy = (method: string, params?: object) => ({ jsonrpc: '2.0', id: 'a', method, ...(params !== undefined && { params }) });
const headers = (method: string, name?: string): RpcHeaders => ({ version: MODERN, method, name });

function faultOf(message: unknown, given: RpcHeaders = {}): Partial<RpcFault> {
  try {
    return { message: `asked ${JSON.stringify(askedIn(message, given))}` };
  } catch (error) {
    if (!(error instanceof RpcFault)) throw error;
    return { code: error.code, status: error.status, id: error.id, message: error.message };
  }
}

t.test('the revision is that of the body', async (t) => {
  t.match(askedIn(modern('tools/list'), headers('tools/list')), { id: 1, method: 'tools/list', isModern: true });
  t.match(askedIn(legacy('tools/list'), {}), { id: 'a', params: {}, isModern: false });
  t.match(askedIn(legacy('tools/list'), { version: '2025-11-25' }), { isModern: false });
  t.match(
    askedIn(legacy('initialize', { protocolVersion: '1999-01-01' }), { version: '1999-01-01' }),
    { isModern: false },
    'the versions are agreed on in the answer',
  );
});

t.test('notifications and answers ask for nothing', async (t) => {
  for (const message of [
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 7, result: {} },
    { jsonrpc: '2.0', id: 7, error: { code: 1, message: '' } },
  ])
    t.equal(askedIn(message, {}), undefined, JSON.stringify(message));
});

t.test('what is no message of JSON-RPC is refused', async (t) => {
  const messages = [
    null,
    1,
    'text',
    {},
    { jsonrpc: '1.0', id: 1, method: 'ping' },
    { id: 1, method: 'ping' },
    { jsonrpc: '2.0', id: 1 },
    { jsonrpc: '2.0', id: null, method: 'ping' },
    { jsonrpc: '2.0', id: {}, method: 'ping' },
    { jsonrpc: '2.0', id: 1.5, method: 'ping' },
    { jsonrpc: '2.0', id: 'x'.repeat(257), method: 'ping' },
    { jsonrpc: '2.0', id: 1, method: 'ping', params: [] },
    { jsonrpc: '2.0', id: 1, method: 5 },
  ];
  for (const message of messages) t.match(faultOf(message), { code: -32600, status: 400 }, JSON.stringify(message)?.slice(0, 60));
});

t.test('headers that say something else than the body, or nothing, are refused', async (t) => {
  const call = modern('tools/call', { name: 'why' });
  const cases: [message: object, headers: RpcHeaders][] = [
    [modern('tools/list'), {}],
    [modern('tools/list'), { version: MODERN }],
    [modern('tools/list'), { method: 'tools/list' }],
    [modern('tools/list'), { version: '2025-11-25', method: 'tools/list' }],
    [modern('tools/list'), headers('tools/call')],
    [call, headers('tools/call')],
    [call, headers('tools/call', 'send_message')],
    [call, headers('tools/call', '=?base64?c2VuZA==?=')],
    [legacy('initialize', {}), { version: MODERN }],
  ];
  for (const [message, given] of cases)
    t.match(faultOf(message, given), { code: -32020, status: 400, id: 'id' in message ? message.id : null }, JSON.stringify(given));
  t.match(askedIn(call, headers('tools/call', 'why')), { isModern: true });
  t.match(askedIn(call, headers('tools/call', `=?base64?${Buffer.from('why').toString('base64')}?=`)), { isModern: true });
});

t.test('a revision that is not served is refused with those that are', async (t) => {
  t.match(faultOf(modern('tools/list', {}, { ...META_OK, [META.version]: '2099-01-01' }), { version: '2099-01-01', method: 'tools/list' }), {
    code: -32022,
    status: 400,
    id: 1,
  });
  t.match(faultOf(legacy('tools/list'), { version: '1999-01-01' }), { code: -32000, status: 400, id: 'a', message: /2025-11-25/ });
});

t.test('an envelope that is not whole is refused', async (t) => {
  t.match(faultOf(legacy('tools/list'), headers('tools/list')), { code: -32602, status: 400, message: /protocolVersion/ });
  t.match(faultOf(modern('tools/list', {}, { [META.version]: MODERN }), headers('tools/list')), { code: -32602, status: 400, message: /clientCapabilities/ });
  t.match(faultOf(modern('tools/list', {}, { ...META_OK, [META.version]: 5 }), headers('tools/list')), { code: -32602, status: 400 });
});
