import t from 'tap';
import { MCP_PATH, MCP_ROUTES } from '../../../../transports/http/routes/mcp.ts';
import { startServer } from '../../../support/server.ts';

t.test('there is one route, and it needs a token', async (t) => {
  t.strictSame(Object.keys(MCP_ROUTES), ['POST /mcp']);
  t.notOk('public' in MCP_ROUTES['POST /mcp']);
});

t.test('a server says that its address leads back to itself', async (t) => {
  const { core, url } = await startServer(t);
  t.equal(core.ownAddresses.ownerOf(new URL(MCP_PATH, url)), 'this server itself');
  t.equal(core.ownAddresses.ownerOf(new URL('/mcp', url)), 'this server itself');
  t.equal(core.ownAddresses.ownerOf(new URL('/mcp', 'http://127.0.0.1:1')), undefined);
});
