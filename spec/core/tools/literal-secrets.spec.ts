import t from 'tap';
import { fieldFor, literalSecrets, masked, withPasswords } from '../../../core/tools/literal-secrets.ts';
import { resolved, secretsNamedIn, type Sources, variablesNamedIn } from '../../../core/tools/references.ts';

const found = (parts: object) => literalSecrets({ args: [], env: {}, headers: {}, url: undefined, ...parts });

t.test('a secret in clear is found by its name, its form or its place, and the field says what to write there', async (t) => {
  const bad: [object, object][] = [
    [{ env: { GITHUB_TOKEN: 'abcdef' } }, { place: 'env.GITHUB_TOKEN', field: 'GITHUB_TOKEN', before: '', value: 'abcdef' }],
    [{ env: { GITHUB_PERSONAL_ACCESS_TOKEN: 'x1' } }, { field: 'GITHUB_PERSONAL_ACCESS_TOKEN' }],
    [{ env: { PLAIN: 'ghp_abcdefghijkl' } }, { place: 'env.PLAIN' }],
    [{ env: { DATABASE_URL: 'postgres://ada:hunter2@db.example/x' } }, { place: 'env.DATABASE_URL' }],
    [{ env: { DB_PASSWORD: 'x${HOME}' } }, { place: 'env.DB_PASSWORD' }],
    [{ headers: { Authorization: 'Bearer abcdefgh' } }, { place: 'headers.Authorization', field: 'token', before: 'Bearer ', value: 'abcdefgh' }],
    [{ headers: { 'X-Api-Key': 'abc' } }, { field: 'X-Api-Key' }],
    [{ headers: { 'X-Other': 'sk-abcdefgh1234' } }, { place: 'headers.X-Other' }],
    [{ args: ['--token', 'abcdef'] }, { place: 'args[1]', field: 'token', value: 'abcdef' }],
    [{ args: ['--api-key=abcdef'] }, { place: 'args[0]', field: 'api-key', before: '--api-key=', value: 'abcdef' }],
    [{ args: ['--header', 'Authorization: Bearer abcdef'] }, { place: 'args[1]', field: 'token', before: 'Authorization: Bearer ', value: 'abcdef' }],
    [{ args: ['--header=X-Api-Key:abcdef'] }, { place: 'args[0]', before: '--header=X-Api-Key:', value: 'abcdef' }],
    [{ args: ['github_pat_abcdefghijk'] }, { place: 'args[0]' }],
    [{ args: ['mysql://ada:hunter2@db.example'] }, { place: 'args[0]' }],
    [{ url: 'https://a.example/mcp?api_key=abcdef' }, { place: 'url', field: 'api_key', value: 'abcdef' }],
    [{ url: 'https://ada:hunter2@a.example/mcp' }, { place: 'url' }],
    [{ env: { API_KEY: '${API_KEY:-sk-abcdefgh1234}' } }, { place: 'env.API_KEY', field: 'API_KEY', value: '${API_KEY:-sk-abcdefgh1234}' }],
    [{ env: { A: 'x ${B:-ghp_abcdefghijkl}' } }, { place: 'env.A' }],
    [{ args: ['${TOKEN:-github_pat_abcdefghijk}'] }, { place: 'args[0]' }],
    [{ url: 'https://a.example/mcp/${PART:-glpat-abcdefghijk}' }, { place: 'url' }],
  ];
  for (const [parts, secret] of bad) t.match(found(parts), [secret], JSON.stringify(parts));
});

t.test('a secret is found within a text, too: a variable of a container, a parameter of an address, a command for a shell, JSON', async (t) => {
  const bad: [object, object][] = [
    [{ args: ['run', '-e', 'GITHUB_TOKEN=abcdefgh', 'image'] }, { place: 'args[2]', field: 'GITHUB_TOKEN', before: 'GITHUB_TOKEN=', value: 'abcdefgh' }],
    [{ args: ['mcp-remote', 'https://a.example/mcp?x=1&api_key=abcdefgh1#y'] }, { place: 'args[1]', field: 'api_key', value: 'abcdefgh1' }],
    [{ args: ['-c', 'cd /srv && A_TOKEN=abcdefgh node x.js'] }, { place: 'args[1]', field: 'A_TOKEN', before: 'cd /srv && A_TOKEN=', value: 'abcdefgh' }],
    [{ args: ['-c', "node x.js --password 'abcdefgh'"] }, { place: 'args[1]', field: 'password', value: 'abcdefgh' }],
    [
      { env: { CONFIG: '{"url": "x", "apiKey": "abcdefgh"}' } },
      { place: 'env.CONFIG', field: 'apiKey', before: '{"url": "x", "apiKey": "', value: 'abcdefgh' },
    ],
    [{ env: { PLAIN: 'Basic YWRhOmh1bnRlcjI=' } }, { place: 'env.PLAIN', before: 'Basic ' }],
    [{ headers: { 'X-Auth': 'abcdefgh' } }, { place: 'headers.X-Auth', field: 'X-Auth' }],
    [{ url: 'https://a.example/mcp#access_token=abcdefgh' }, { place: 'url', field: 'access_token' }],
    [{ url: 'https://a.example/mcp?sig=abcdefgh1' }, { place: 'url', field: 'sig' }],
  ];
  for (const [parts, secret] of bad) t.match(found(parts), [secret], JSON.stringify(parts));
  const two = found({ args: ['-c', 'A_TOKEN=abcdefgh B_SECRET=ijklmnop node x.js'] });
  t.equal(masked('-c A_TOKEN=abcdefgh B_SECRET=ijklmnop', two, 'args[1]'), '-c A_TOKEN=•••• B_SECRET=••••');
  const good = [
    { args: ['-e', 'GITHUB_TOKEN', '-e', 'A_TOKEN=${auth:a.token}', 'sort_key=customer_id', '--auth', 'oauth'] },
    { args: ['-c', 'A_TOKEN=$(pass show a) B_TOKEN=$B_TOKEN node x.js --no-password prompt-me --token "$A_TOKEN" --key-file /srv/key.pem'] },
    { args: ['mcp-remote', 'https://a.example/mcp?api_key=${auth:a.key}', 'Basic authentication', 'Basic membership2024'] },
    { env: { CONFIG: '{"apiKey": "${auth:a.key}", "token_limit": "100000000", "token": "none"}', AUTH: 'oauth' } },
  ];
  for (const parts of good) t.strictSame(found(parts), [], JSON.stringify(parts));
});

t.test('references, switches and plain settings are no secrets', async (t) => {
  const good = [
    { env: { GITHUB_TOKEN: '${auth:github.token}', API_KEY: '${THEIR_KEY}', USE_TOKEN: 'true', TOKEN: '' } },
    { env: { LOG_LEVEL: 'debug', KEY_FILE: '/srv/key.pem', MONKEY: 'george' } },
    { headers: { Authorization: 'Bearer ${auth:n8n.token1}', 'X-Team': 'core' } },
    { args: ['--token', '${auth:github.token}', '--port', '8080', '/srv/secrets', '-y'] },
    { args: ['--header', 'Authorization: Bearer ${auth:a.token}'] },
    { url: 'https://a.example/mcp?key=${auth:a.key}&page=1' },
    { env: { DB_PASSWORD: '${DB_PASSWORD:-postgres}', MODE: '${MODE:-fast}' } },
  ];
  for (const parts of good) t.strictSame(found(parts), [], JSON.stringify(parts));
  t.equal(fieldFor('x y/z'), 'x_y_z');
  t.equal(fieldFor(''), 'secret');
});

t.test('what is shown of an entry has no secret in it', async (t) => {
  const secrets = found({ env: { A_TOKEN: 'abcdef' }, headers: { Authorization: 'Bearer hunter2' } });
  t.equal(masked('abcdef', secrets, 'env.A_TOKEN'), '••••');
  t.equal(masked('Bearer hunter2', secrets, 'headers.Authorization'), 'Bearer ••••');
  t.equal(masked('abcdef', secrets, 'env.B'), 'abcdef');
});

const sources = (change: Partial<Sources> = {}): Sources => ({
  secret: (server, field) => (server === 'github' && field === 'token' ? 'hunter2' : undefined),
  variable: (name) => (name === 'HOME' ? '/home/ada' : undefined),
  isWithheld: (name) => name.startsWith('BLOCKHOUSE_'),
  ...change,
});

t.test('references are followed once, and one that leads nowhere says what to do', async (t) => {
  const values: string[] = [];
  t.equal(resolved('Bearer ${auth:github.token} ${env:HOME}${HOME}/${NONE:-x}', sources(), values), 'Bearer hunter2 /home/ada/home/ada/x');
  t.strictSame(values, ['hunter2', '/home/ada', '/home/ada', 'x']);
  t.equal(resolved('${A}', sources({ variable: () => '${auth:github.token} $& $1' }), []), '${auth:github.token} $& $1', 'a value is not read again');
  t.throws(() => resolved('${auth:github.other}', sources(), []), /github\.other is not stored.*tools secret set github\.other/);
  t.throws(() => resolved('${NONE}', sources(), []), /NONE is not set/);
  t.throws(() => resolved('${BLOCKHOUSE_TOKEN}', sources(), []), /belongs to Blockhouse/);
  t.throws(() => resolved('${env:BLOCKHOUSE_TOKEN:-x}', sources(), []), /belongs to Blockhouse/);
  for (const odd of ['${input:key}', '${auth:github}', '${auth:a/b.c}', '${}', '${1}']) t.throws(() => resolved(odd, sources(), []), /is no reference/, odd);
  t.strictSame(secretsNamedIn(['${auth:a.b}${auth:a.b}', '${auth:c.d}', '${E}']), [
    { server: 'a', field: 'b' },
    { server: 'c', field: 'd' },
  ]);
});

t.test('a secret is looked for with the passwords of its addresses, and variables by their names', async (t) => {
  t.strictSame(withPasswords('hunter2'), ['hunter2']);
  t.strictSame(withPasswords('a postgres://ada:one@db, http://:two@proxy'), ['a postgres://ada:one@db, http://:two@proxy', 'one', 'two']);
  t.strictSame([...variablesNamedIn(['${A} ${env:B}', '${A}${C:-x}', '${auth:d.e}', '${9}', 'F'])], ['A', 'B', 'C']);
});
