import t from 'tap';
import { readEntry } from '../../../adapters/tools/entry.ts';
import { DOWNLOAD_MS } from '../../../adapters/tools/package-runners.ts';

const faultOf = (raw: unknown, settings?: unknown, name = 'files'): string | undefined => readEntry(name, raw, settings).fault;

t.test('entries as other programs write them can be used', async (t) => {
  const good = [
    { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem@2026.8.31', '~/shared'] },
    {
      type: 'stdio',
      command: '/usr/bin/server',
      env: { LOG_LEVEL: 'debug', TOKEN: '${auth:files.TOKEN}', API_KEY: '${env:THEIR_KEY}', OTHER_KEY: '${THEIR_KEY:-none}' },
    },
    { url: 'https://api.example/mcp', headers: { Authorization: 'Bearer ${auth:github.token}', 'X-Team': 'a' } },
    { type: 'streamable-http', url: 'http://127.0.0.1:9000/mcp', alwaysAllow: ['x'], timeout: 60 },
    { type: 'http', url: 'https://api.example/mcp?key=${auth:files.key}' },
    { command: 'mcp-remote', args: ['https://api.example/mcp', '--header', 'Authorization: Bearer ${auth:files.token}'] },
    { command: 'blockhouse', args: ['mcp', '--workspace', '/srv/other'] },
  ];
  for (const entry of good) t.equal(faultOf(entry), undefined, JSON.stringify(entry));
});

t.test('an entry of another form says what is wrong with it', async (t) => {
  const wrong: [unknown, RegExp][] = [
    ['npx', /must be an object/],
    [[], /must be an object/],
    [{}, /neither command nor url/],
    [{ command: 'a', url: 'https://b.example' }, /both command and url/],
    [{ command: '' }, /command must be/],
    [{ command: 'a', args: 'b' }, /args must be a list/],
    [{ command: 'a', args: [1] }, /args must be a list/],
    [{ command: 'a', env: { B: 1 } }, /env must be an object of texts/],
    [{ url: 'https://b.example', headers: [] }, /headers must be an object of texts/],
    [{ type: 'sse', url: 'https://b.example' }, /sse is not spoken/],
    [{ type: 'http', command: 'a' }, /type must be stdio/],
    [{ command: 'a', disabled: true }, /disabled/],
    [{ command: 'a', cwd: '/srv' }, /cwd is not used/],
    [{ command: 'a\0b' }, /NUL/],
    [{ command: 'a', args: Array.from({ length: 300 }, () => 'b') }, /more than 256/],
    [{ command: 'a', args: ['b'.repeat(9000)] }, /longer than 8192/],
    [{ command: 'a', env: { 'B C': 'x' } }, /no name that a variable/],
    [{ command: 'a', env: { BLOCKHOUSE_TOKEN: '${X}' } }, /no name that a variable/],
    [{ url: 'ftp://b.example' }, /absolute https/],
    [{ url: '/mcp' }, /absolute https.* not "\/mcp"$/],
    [{ url: 'ftp://ada:hunter2@b.example/x?token=hunter2' }, /not "…@b\.example\/x"$/],
    [{ url: 'http://b.example/mcp' }, /must begin with https/],
    [{ url: 'https://169.254.169.254/latest' }, /169\.254\.169\.254/],
    [{ url: 'https://[fd00:ec2::254]/' }, /fd00:ec2/],
    [{ url: 'https://metadata.google.internal/' }, /metadata/],
    [{ url: 'https://${HOST}/mcp' }, /origin without references/],
    [{ url: 'https://b.example', headers: { Host: 'c.example' } }, /headers\.Host can't be set/],
    [{ url: 'https://b.example', headers: { 'Mcp-Session-Id': 'x' } }, /can't be set/],
    [{ url: 'https://b.example', headers: { 'X-A': 'b\r\nX-C: d' } }, /headers\.X-A has characters/],
    [{ command: 'blockhouse', args: ['mcp'] }, /leads back/],
    [{ command: '/usr/local/bin/blockhouse', args: ['mcp'] }, /leads back/],
    [{ command: 'npx', args: ['-y', 'blockhouse@1.2.3', 'mcp'] }, /leads back/],
  ];
  for (const [entry, fault] of wrong) t.match(faultOf(entry), fault, JSON.stringify(entry).slice(0, 100));
  t.match(faultOf({ url: 'https://b.example' }, { sandbox: 'bwrap' }), /sandbox is for servers with a command/);
});

t.test('names of our own servers are reserved, and a name fits into files, patterns and references', async (t) => {
  for (const name of ['block', 'blockhouse', 'Block']) t.match(faultOf({ command: 'a' }, undefined, name), /belongs to Blockhouse/);
  for (const name of ['', '../etc', 'a/b', 'a*', 'a.b', '__proto__', '-a', 'a b', 'x'.repeat(65)])
    t.match(faultOf({ command: 'a' }, undefined, name), /its name must have/, name);
  t.equal(faultOf({ command: 'a' }, undefined, 'GitHub_2-x'), undefined);
});

t.test('settings that are misspelt or of another form make the server unusable: one of them may be the sandbox', async (t) => {
  const wrong: [unknown, RegExp][] = [
    [{ sandBox: 'bwrap' }, /sandBox is not a known field/],
    [{ sandbox: 'firejail' }, /sandbox must be one of bwrap, bwrap\+net/],
    [{ callTimeoutMs: 0 }, /callTimeoutMs/],
    [{ callTimeoutMs: '60000' }, /callTimeoutMs must be/],
    [{ marks: { readonly: ['*'] } }, /marks\.readonly is not a known field/],
    [{ newTools: 'allow' }, /newTools must be one of hold, offer/],
    ['on', /settings can't be used/],
  ];
  for (const [settings, fault] of wrong) t.match(faultOf({ command: 'a' }, settings), fault, JSON.stringify(settings));
  const { settings, newTools } = readEntry('files', { command: 'a' }, { callTimeoutMs: 5, newTools: 'offer' });
  t.match(settings, { callTimeoutMs: 5, concurrency: 4, share: 'workspace', sandbox: undefined });
  t.equal(newTools, 'offer');
});

t.test('a command that may have to download its server first has more time to start, unless it is set', (t) => {
  const timeOf = (command: string, settings?: object): number => readEntry('files', { command }, settings).settings.startTimeoutMs;
  t.equal(timeOf('/usr/bin/npx'), DOWNLOAD_MS);
  t.equal(timeOf('C:\\tools\\NPX.cmd'), DOWNLOAD_MS);
  t.equal(timeOf('uvx', { startTimeoutMs: 5000 }), 5000);
  t.equal(timeOf('my-npx'), 20_000);
  t.equal(readEntry('crm', { url: 'https://npx' }, undefined).settings.startTimeoutMs, 20_000);
  t.end();
});

t.test('what is wrong with an entry shows none of several secrets in one text', async (t) => {
  const fault = faultOf({ command: 'sh', args: ['-c', "node x.js --password 'hunter2hunter2' A_TOKEN=hunter3hunter3"] });
  t.match(fault, /args\[1\] holds a secret in clear; .* write "node x\.js --password '••••' A_TOKEN=\$\{auth:files\.A_TOKEN\}" there/);
});
