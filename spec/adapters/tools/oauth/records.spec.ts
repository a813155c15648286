// What auth.json has of sign-ins, and for whom it counts.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  begunOf,
  clientSecret,
  forgetProgram,
  isFresh,
  keepBegun,
  keepRecord,
  neededSecret,
  recordOf,
  renewsItself,
  type SignInRecord,
  secretFor,
  signInFault,
  viewOf,
} from '../../../../adapters/tools/oauth/records.ts';
import { CredentialStore } from '../../../../core/auth/credentials.ts';
import { createBus } from '../../../../core/bus.ts';
import { sha256 } from '../../../../core/index.ts';

const PERSON: SignInRecord = {
  issuer: 'https://auth.example',
  url: 'https://crm.example/mcp',
  resource: 'https://crm.example/mcp',
  grant: 'authorization_code',
  clientId: 'person',
  method: 'none',
  tokenEndpoint: 'https://auth.example/token',
  accessToken: 'at-canary-123',
  refreshToken: 'rt-canary-123',
  expiresAt: 1_000_000,
  scope: 'read',
};
const PLACE = { name: 'crm', url: PERSON.url };

function store(t: Test) {
  const folder = t.testdir();
  let tick = 0;
  const credentials = new CredentialStore(folder, createBus(), () => (tick += 1000));
  return { credentials, file: join(folder, 'auth.json') };
}

t.test('a sign-in counts for the address, the issuer and the client that it was made for', async (t) => {
  const { credentials } = store(t);
  await keepRecord(credentials, 'crm', PERSON);
  t.match(recordOf(credentials, PLACE), PERSON);
  const oauth = { grant: 'authorization_code' as const };
  t.match(recordOf(credentials, { ...PLACE, oauth }), PERSON);
  t.match(recordOf(credentials, { ...PLACE, oauth: { ...oauth, clientId: 'person', issuer: PERSON.issuer } }), PERSON);
  for (const other of [
    { ...PLACE, name: 'other' },
    { ...PLACE, url: 'https://evil.example/mcp' },
    { ...PLACE, url: 'https://crm.example/other' },
    { ...PLACE, oauth: { ...oauth, issuer: 'https://evil.example' } },
    { ...PLACE, oauth: { ...oauth, clientId: 'robot' } },
    { ...PLACE, oauth: { grant: 'client_credentials' as const } },
  ])
    t.equal(recordOf(credentials, other), undefined, JSON.stringify(other));
  await keepRecord(credentials, 'crm', undefined);
  t.equal(recordOf(credentials, PLACE), undefined);
});

t.test('tokens are secrets of the file, an issuer and a scope are none; the section is no provider', async (t) => {
  const { credentials, file } = store(t);
  await credentials.setServerSecrets('crm', { client_secret: 'canary-secret' });
  await keepRecord(credentials, 'crm', PERSON);
  t.strictSame(credentials.secretTexts().sort(), ['at-canary-123', 'canary-secret', 'rt-canary-123']);
  t.strictSame(credentials.ids(), []);
  t.equal(clientSecret(credentials, 'crm'), 'canary-secret');
  t.equal(clientSecret(credentials, '__proto__'), undefined);
  t.strictSame(Object.keys(JSON.parse(readFileSync(file, 'utf8')).oauth.crm), [PERSON.issuer], 'by issuer');
});

t.test('a stored secret goes to the issuer that mcp.json names, or to the one that was signed in to with it', async (t) => {
  const { credentials } = store(t);
  await credentials.setServerSecrets('crm', { client_secret: 'stored' });
  const withSecret: SignInRecord = { ...PERSON, method: 'client_secret_basic', secretHash: sha256('stored') };
  const named = { ...PLACE, oauth: { grant: 'authorization_code' as const, issuer: PERSON.issuer } };
  const before = { ...withSecret, secretHash: sha256('the one before') };
  t.equal(secretFor(credentials, PLACE, withSecret), 'stored');
  t.throws(() => secretFor(credentials, PLACE, before), { message: /made with another secret .* `blockhouse tools login crm`/ });
  t.equal(secretFor(credentials, named, before), 'stored');
  t.equal(secretFor(credentials, PLACE, { ...before, clientSecret: 'registered' }), 'registered', 'a client of its own has its own');
  for (const method of ['none', 'private_key_jwt'] as const) t.equal(secretFor(credentials, PLACE, { ...before, method }), undefined, method);
});

t.test('a program needs a secret, or a key where none is in a file; a person needs neither', async (t) => {
  t.equal(neededSecret({ grant: 'client_credentials' }), 'client_secret');
  t.equal(neededSecret({ grant: 'client_credentials', method: 'private_key_jwt' }), 'client_key');
  t.equal(neededSecret({ grant: 'client_credentials', method: 'private_key_jwt', keyFile: 'key.pem' }), undefined);
  t.equal(neededSecret({ grant: 'authorization_code' }), undefined);
});

t.test('a sign-in that has begun stays beside the one that counts, until it is forgotten', async (t) => {
  const { credentials, file } = store(t);
  const begun = { stateHash: 'h', codeSecret: 'verifier', redirectURI: 'http://127.0.0.1/cb', endsAt: 5, namesIssuer: true, record: PERSON };
  await keepBegun(credentials, 'crm', begun);
  await keepRecord(credentials, 'crm', { ...PERSON, grant: 'client_credentials' });
  t.match(begunOf(credentials, 'crm'), begun);
  await forgetProgram(credentials, 'crm');
  t.strictSame(Object.keys(JSON.parse(readFileSync(file, 'utf8')).oauth.crm), ['begun'], 'what the program got is gone');
  await keepRecord(credentials, 'crm', PERSON);
  await forgetProgram(credentials, 'crm');
  t.match(recordOf(credentials, PLACE), PERSON, 'what a person got stays');
  await keepBegun(credentials, 'crm', undefined);
  t.equal(begunOf(credentials, 'crm'), undefined);
  for (const bad of [1, {}, { ...begun, record: 1 }, { ...begun, stateHash: 1 }, { ...begun, endsAt: 'never' }]) {
    writeFileSync(file, JSON.stringify({ oauth: { crm: { begun: bad } } }));
    t.equal(begunOf(credentials, 'crm'), undefined, JSON.stringify(bad));
  }
});

t.test('what is not as we write it is no sign-in', async (t) => {
  const { credentials, file } = store(t);
  const { issuer, ...rest } = PERSON;
  for (const bad of [
    { [issuer]: 1 },
    { [issuer]: {} },
    { nowhere: rest },
    { [issuer]: { ...rest, grant: 'password' } },
    { [issuer]: { ...rest, method: 'magic' } },
    { [issuer]: { ...rest, tokenEndpoint: 1 } },
    [],
  ]) {
    writeFileSync(file, JSON.stringify({ oauth: { crm: bad } }));
    t.equal(recordOf(credentials, PLACE), undefined, JSON.stringify(bad));
  }
});

t.test('a state says whether a person is needed', async (t) => {
  const { refreshToken: _, ...mortal } = PERSON;
  t.ok(isFresh(PERSON, 900_000));
  t.notOk(isFresh(PERSON, 980_000), 'half a minute before it ends');
  t.ok(isFresh({ ...PERSON, expiresAt: undefined }, 1e15));
  t.notOk(isFresh({ ...PERSON, ended: 'x' }, 0));
  t.ok(renewsItself(PERSON));
  t.notOk(renewsItself(mortal));
  const state = (record: SignInRecord | undefined, now: number, oauth?: Parameters<typeof viewOf>[1]) => [
    viewOf(record, oauth, now)?.state,
    signInFault('crm', record, oauth, now),
  ];
  t.strictSame(state(undefined, 0), [undefined, undefined]);
  t.strictSame(state(PERSON, 2_000_000), ['signed-in', undefined]);
  t.strictSame(state(mortal, 0), ['signed-in', undefined]);
  t.strictSame(state(mortal, 2_000_000), ['expired', 'its sign-in has expired; sign in again: `blockhouse tools login crm`']);
  t.strictSame(state({ ...PERSON, ended: 'invalid_grant' }, 0), [
    'ended',
    'its sign-in has ended (invalid_grant); sign in again: `blockhouse tools login crm`',
  ]);
  t.strictSame(state(undefined, 0, { grant: 'client_credentials' }), ['signed-in', undefined]);
  t.strictSame(state(undefined, 0, { grant: 'authorization_code' }), ['needed', 'nobody has signed in to it; sign in: `blockhouse tools login crm`']);
  t.match(viewOf(PERSON, undefined, 0), { issuer: PERSON.issuer, scope: 'read', expiresAt: '1970-01-01T00:16:40.000Z' });
});
