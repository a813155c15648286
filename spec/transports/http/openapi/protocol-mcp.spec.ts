import t from 'tap';
import { MCP_EXAMPLES } from '../../../../transports/http/openapi/examples-mcp.ts';
import type { MCP_SHAPES } from '../../../../transports/http/openapi/protocol-mcp.ts';
import { faults, pointerTo } from '../../../contract/document.ts';

const faultsOf = (name: keyof typeof MCP_SHAPES, value: unknown): unknown[] => faults(pointerTo('components', 'schemas', name), value);

t.test('a message has a method, and an answer a result or an error', async (t) => {
  const { McpCall, McpCallAnswer } = MCP_EXAMPLES;
  t.strictSame(faultsOf('McpMessage', McpCall.value), []);
  t.strictSame(faultsOf('McpMessage', { jsonrpc: '2.0', method: 'notifications/initialized' }), []);
  t.not(faultsOf('McpMessage', { ...McpCall.value, method: undefined }).length, 0);
  t.strictSame(faultsOf('McpAnswer', McpCallAnswer.value), []);
  t.strictSame(faultsOf('McpAnswer', { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'no' } }), []);
  t.not(faultsOf('McpAnswer', { jsonrpc: '2.0', id: 1 }).length, 0);
});
