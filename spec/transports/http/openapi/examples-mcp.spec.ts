import t from 'tap';
import { MCP_EXAMPLES } from '../../../../transports/http/openapi/examples-mcp.ts';
import { createBlock, RUNNABLE } from '../../../support/block-calls.ts';
import { heldDaemon } from '../../../support/held-daemon.ts';
import { startServer } from '../../../support/server.ts';

t.test('the call of the example has an answer of the form of the other one', async (t) => {
  const { McpCall, McpCallAnswer } = MCP_EXAMPLES;
  const daemon = heldDaemon();
  const server = await startServer(t, { answer: daemon.answer });
  await createBlock(server, 'ada', RUNNABLE);
  await server.call('POST', '/api/blocks/ada/start');
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': McpCall.value.method, 'mcp-name': McpCall.value.params.name };
  const calling = server.call('POST', '/mcp', { headers, body: McpCall.value });
  (await daemon.call(0)).answer('Hello to you.');
  const { status, json } = await calling;
  t.equal(status, 200);
  const { messageId, ...rest } = (json as typeof McpCallAnswer.value).result.structuredContent;
  t.match(messageId, /^m/);
  const { structuredContent, ...expected } = McpCallAnswer.value.result;
  t.match(json, { ...McpCallAnswer.value, result: { ...expected, structuredContent: rest } });
});
