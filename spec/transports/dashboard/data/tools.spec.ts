import t from 'tap';
import type { ToolView } from '../../../../core/types.ts';
import {
  canSignIn,
  commandOf,
  isSaid,
  mayOpen,
  openDefinitions,
  serverOf,
  signInOf,
  waitsForSignIn,
  withMark,
} from '../../../../transports/dashboard/data/tools.ts';

const typed = (what: string, more = '', name = 'files') => serverOf({ name, what, more });

t.test('a server is typed as a command, an address, or JSON', async (t) => {
  t.strictSame(typed('npx -y "a b" \'c d\' ~/x'), { name: 'files', server: { command: 'npx', args: ['-y', 'a b', 'c d', '~/x'] } });
  t.strictSame(typed('uvx x', 'TOKEN=${auth:files.token}\n\nMODE = a=b'), {
    name: 'files',
    server: { command: 'uvx', args: ['x'], env: { TOKEN: '${auth:files.token}', MODE: 'a=b' } },
  });
  t.strictSame(typed('https://mcp.example.com/mcp', 'Authorization: Bearer ${auth:files.token}'), {
    name: 'files',
    server: { type: 'http', url: 'https://mcp.example.com/mcp', headers: { Authorization: 'Bearer ${auth:files.token}' } },
  });
  const entry = { command: 'node', args: ['x.mjs'] };
  t.strictSame(typed(JSON.stringify({ mcpServers: { bank: entry } }), '', ''), { name: 'bank', server: entry });
  t.strictSame(typed(JSON.stringify({ servers: { bank: entry } })), { name: 'files', server: entry }, 'the name that was typed wins');
  t.strictSame(typed(JSON.stringify(entry)), { name: 'files', server: entry });
  t.strictSame(typed(JSON.stringify({ bank: entry }), '', ''), { name: 'bank', server: entry });
});

t.test('what is no server is none', async (t) => {
  for (const what of ['', '   ', '{', '{}', '{"a":{"command":"x"},"b":{"command":"y"}}', '{"a":1}']) t.equal(typed(what), undefined, what);
  t.equal(typed('npx x', '', ''), undefined);
  t.equal(typed('{"command":"x"}', '', ''), undefined);
});

t.test('a command is shown so that its words can be told apart', async (t) => {
  t.equal(commandOf({ server: { command: 'npx', args: ['-y', 'a b', 'say "x"', 'plain'] } }), 'npx -y "a b" "say \\"x\\"" plain');
  t.equal(commandOf({ server: { url: 'https://x/mcp' } }), 'https://x/mcp');
});

const tool = (name: string, annotations: object = {}): ToolView => ({ name, annotations }) as ToolView;

t.test('a mark is ticked by name, and one of a pattern is taken away without the others', async (t) => {
  const tools = ['read_a', 'read_b', 'write'].map((name) => tool(name));
  const server = { tools, settings: { callTimeoutMs: 5, marks: { readOnly: ['read_*', 'gone'], idempotent: ['*'] } } };
  t.strictSame(withMark(server, 'write', 'readOnly', true), { callTimeoutMs: 5, marks: { readOnly: ['read_*', 'gone', 'write'], idempotent: ['*'] } });
  t.strictSame(withMark(server, 'read_a', 'readOnly', false), { callTimeoutMs: 5, marks: { readOnly: ['gone', 'read_b'], idempotent: ['*'] } });
  t.strictSame(withMark({ tools, settings: {} }, 'read_a', 'closedWorld', true), { marks: { closedWorld: ['read_a'] } });
  t.strictSame(withMark({ tools, settings: { marks: { readOnly: ['a.b', 'read_a'] } } }, 'read_a', 'readOnly', false), { marks: { readOnly: ['a.b'] } });
});

t.test('a mark can be ticked where the server says the same', async (t) => {
  const says = tool('x', { readOnlyHint: true, idempotentHint: false, openWorldHint: false });
  t.strictSame(
    (['readOnly', 'idempotent', 'closedWorld'] as const).map((mark) => isSaid(says, mark)),
    [true, false, true],
  );
  t.equal(isSaid(tool('x'), 'closedWorld'), false);
});

t.test('a client that is typed is one with which Blockhouse signs in for itself, and what the form does not show stays', async (t) => {
  const signIn = (clientId: string, issuer: string, settings?: Record<string, unknown>, what = ' https://crm.example/mcp') =>
    signInOf({ name: 'crm', what, more: '', clientId, issuer }, settings);
  const marks = { readOnly: ['*'] };
  t.equal(signIn('', ''), undefined);
  t.equal(signIn('', '', { marks }), undefined);
  t.strictSame(signIn('robot', 'https://auth.example'), { oauth: { grant: 'client_credentials', clientId: 'robot', issuer: 'https://auth.example' } });
  const before = { marks, oauth: { grant: 'client_credentials', clientId: 'old', issuer: 'https://auth.example', method: 'private_key_jwt', scope: 'read' } };
  t.strictSame(signIn('robot', 'https://b.example', before), { marks, oauth: { ...before.oauth, clientId: 'robot', issuer: 'https://b.example' } });
  t.strictSame(signIn('person', 'https://b.example', { oauth: { clientId: 'x' } }), { oauth: { clientId: 'person', issuer: 'https://b.example' } });
  t.strictSame(signIn('', '', before), { marks }, 'emptied, it is taken away');
  t.strictSame(signIn('robot', 'https://b.example', before, 'npx server'), { marks }, 'a command has none');
});

t.test('only what is https, or on this machine, may be opened, whatever a server says', async (t) => {
  for (const good of ['https://auth.example/authorize?x=1', 'http://127.0.0.1:8080/a', 'http://localhost/a', 'http://[::1]:1/a']) t.ok(mayOpen(good), good);
  for (const bad of [
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'java\tscript:alert(1)',
    'data:text/html,x',
    'blob:https://auth.example/x',
    'file:///etc/passwd',
    'vbscript:x',
    'http://auth.example/a',
    'http://127.0.0.1.auth.example/a',
    'http://127.0.0.1@auth.example/a',
    'ftp://127.0.0.1/',
    '/authorize',
    '//auth.example',
    '',
  ])
    t.notOk(mayOpen(bad), bad);
});

t.test('a person is asked to sign in where the server waits for it, and where the browser can come back', async (t) => {
  const problem = 'Nobody has signed in to it; sign in: `blockhouse tools login crm`.';
  const signIn = { grant: 'authorization_code', issuer: null, scope: null, expiresAt: null } as const;
  t.ok(waitsForSignIn({ problem }, undefined));
  t.ok(waitsForSignIn({ signIn: { ...signIn, state: 'ended' }, problem }, undefined));
  t.ok(waitsForSignIn({}, new Error('it wants a sign-in (HTTP 401); sign in: `blockhouse tools login crm`, or give it a header with a token.')));
  t.notOk(waitsForSignIn({ signIn: { ...signIn, state: 'signed-in' } }, new Error(problem)), 'the failure is of before');
  t.notOk(waitsForSignIn({ problem: 'It is not approved; look at it with `blockhouse tools test crm`.' }, new Error('It does not start.')));
  for (const at of ['http://127.0.0.1:8420', 'http://localhost:8420', 'http://[::1]:8420']) t.ok(canSignIn(new URL(at)), at);
  for (const at of ['https://blocks.example', 'http://192.168.0.2:8420', 'https://localhost']) t.notOk(canSignIn(new URL(at)), at);
});

t.test('what waits for an approval is open to be read, as far as a page can show it at once', async (t) => {
  const tool = (name: string, state: ToolView['state'], characters = 10): Pick<ToolView, 'name' | 'state' | 'now'> => ({
    name,
    state,
    now: { text: 'x'.repeat(characters) },
  });
  const listed = [tool('a', 'approved'), tool('b', 'new'), tool('c', 'unusable'), tool('d', 'changed'), tool('e', 'gone')];
  t.strictSame([...openDefinitions(listed)], ['d', 'b']);
  t.strictSame(
    [...openDefinitions([tool('huge', 'new', 300_000), tool('b', 'new'), tool('large', 'changed', 150_000), tool('next', 'new', 60_000)])],
    ['large', 'b'],
  );
});
