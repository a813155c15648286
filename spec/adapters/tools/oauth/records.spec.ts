// What auth.json has of sign-ins, and for whom it counts.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { clientSecret, isFresh, keepRecord, recordOf, renewsItself, type SignInRecord, signInFault, viewOf } from '../../../../adapters/tools/oauth/records.ts';
import { createBus } from '../../../../core/bus.ts';
import { CredentialStore } from '../../../../core/auth/credentials.ts';

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
