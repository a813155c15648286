import t from 'tap';
import { OwnAddresses } from '../../../core/gateway/own-addresses.ts';
import { leadsBack } from '../../../core/tools/leads-back.ts';

const addresses = new OwnAddresses();
addresses.add(['http://127.0.0.1:8420', 'http://localhost:8420'], ['/v1/', '/mcp/']);

t.test('the address of /mcp leads back, in its spellings, and another address does not', async (t) => {
  for (const url of ['http://127.0.0.1:8420/mcp', 'http://localhost:8420/mcp/', 'http://127.0.0.1:8420', 'HTTP://LOCALHOST:8420/mcp?x'])
    t.match(leadsBack({ type: 'http', url }, addresses), /leads to this server itself/, url);
  for (const url of ['http://127.0.0.1:8421/mcp', 'https://mcp.example/mcp', 'no address', 5]) t.equal(leadsBack({ url }, addresses), undefined, String(url));
});

t.test('so does the program, however it is started', async (t) => {
  const entries = [
    { command: 'blockhouse', args: ['mcp'] },
    { command: '/usr/local/bin/blockhouse', args: ['--json', 'mcp'] },
    { command: 'npx', args: ['-y', 'blockhouse', 'mcp'] },
    { command: 'npx', args: ['-y', 'blockhouse@0.1.0', 'mcp'] },
    { command: 'node', args: ['/opt/blockhouse/dist/cli/main.js', 'mcp', '--workspace', 'x'] },
    { command: 'C:\\bin\\blockhouse.cmd', args: ['mcp'] },
  ];
  for (const entry of entries) t.match(leadsBack(entry, addresses), /starts `blockhouse mcp`/, JSON.stringify(entry));
});

t.test('other programs do not', async (t) => {
  const entries = [
    {},
    { command: 'npx', args: ['-y', 'blockhouse-notes', 'mcp'] },
    { command: 'blockhouse', args: ['status'] },
    { command: 'mcp', args: ['blockhouse'] },
    { command: 'node', args: ['server.js', '--name', 'mcp'] },
    { command: 5, args: 'mcp' },
  ];
  for (const entry of entries) t.equal(leadsBack(entry, addresses), undefined, JSON.stringify(entry));
});
