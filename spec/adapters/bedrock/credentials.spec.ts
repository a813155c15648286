import t from 'tap';
import { ProviderChain } from '../../../adapters/bedrock/chain.ts';
import { Authorizer, chooseCredential, keyProblem } from '../../../adapters/bedrock/credentials.ts';
import type { UpstreamRequest } from '../../../adapters/outbound/client.ts';
import type { ResolvedSettings } from '../../../core/index.ts';
import { adapterCall } from '../../support/adapter-call.ts';
import { settingsFrom } from './help.ts';

const REQUEST: UpstreamRequest = { method: 'GET', url: new URL('https://bedrock.us-east-1.amazonaws.com/foundation-models'), headers: {} };
const OWN = { accessKeyId: 'AKIDREQUEST', secretAccessKey: 'request-secret' };
const STORED = { accessKeyId: 'AKIDSTORED', secretAccessKey: 'stored-secret' };
const ENV = { AWS_ACCESS_KEY_ID: 'AKIDENV', AWS_SECRET_ACCESS_KEY: 'env-secret' };
const BEARER = { AWS_BEARER_TOKEN_BEDROCK: 'bearer-token' };
const FOUND = { accessKeyId: 'AKIDFOUND', secretAccessKey: 'found-secret' };
const DATE = new Date('2026-11-20T00:00:00Z');

t.test('the order is request keys, auth.json keys, bearer token, environment keys, chain', async (t) => {
  const env = { ...ENV, ...BEARER };
  t.same(chooseCredential(settingsFrom({ env, stored: STORED, config: OWN })), { kind: 'keys', keys: OWN });
  t.same(chooseCredential(settingsFrom({ env, stored: STORED })), { kind: 'keys', keys: STORED });
  t.same(chooseCredential(settingsFrom({ env })), { kind: 'bearer', token: 'bearer-token' });
  t.same(chooseCredential(settingsFrom({ env: ENV })), { kind: 'keys', keys: { accessKeyId: 'AKIDENV', secretAccessKey: 'env-secret' } });
  t.same(chooseCredential(settingsFrom()), { kind: 'chain', profile: undefined });
});

t.test('a named profile goes before keys in the environment, as in AWS’s own tools', async (t) => {
  t.same(chooseCredential(settingsFrom({ env: { ...ENV, AWS_PROFILE: 'work' } })), { kind: 'chain', profile: 'work' });
  t.same(chooseCredential(settingsFrom({ env: { AWS_PROFILE: 'work' }, stored: STORED })), { kind: 'keys', keys: STORED });
});

t.test('a session token goes only with the keys of its own place', async (t) => {
  const env = { ...ENV, AWS_SESSION_TOKEN: 'env-token' };
  t.match(chooseCredential(settingsFrom({ env })), { keys: { sessionToken: 'env-token' } });
  t.same(chooseCredential(settingsFrom({ env, stored: STORED })), { kind: 'keys', keys: STORED });
  t.same(chooseCredential(settingsFrom({ env, stored: STORED, config: OWN })), { kind: 'keys', keys: OWN });
});

t.test('half a key in a request is an error that names the missing field', async (t) => {
  const env = { ...ENV, ...BEARER };
  const problem = (config: Record<string, string>) => () => keyProblem(settingsFrom({ env, stored: STORED, config }));
  t.throws(problem({ accessKeyId: 'AKID' }), { code: 'INVALID_REQUEST', message: 'config.secretAccessKey is required together with config.accessKeyId' });
  t.throws(problem({ secretAccessKey: 'secret' }), { code: 'INVALID_REQUEST', message: 'config.accessKeyId is required together with config.secretAccessKey' });
  t.throws(problem({ sessionToken: 'token' }), { code: 'INVALID_REQUEST', message: 'config.accessKeyId is required together with config.sessionToken' });
  t.equal(keyProblem(settingsFrom({ config: OWN })), undefined);
});

t.test('half a key in auth.json is named, not completed from elsewhere', async (t) => {
  t.match(keyProblem(settingsFrom({ env: ENV, stored: { accessKeyId: 'AKID' } })), /bedrock\.secretAccessKey is missing/);
  t.match(keyProblem(settingsFrom({ env: ENV, stored: { sessionToken: 'token' } })), /bedrock\.accessKeyId is missing/);
  t.equal(keyProblem(settingsFrom({ stored: STORED })), undefined);
});

t.test('no key setting at all is no error yet: the chain may have one', async (t) => {
  t.equal(keyProblem(settingsFrom()), undefined);
});

t.test('half a key in the environment leaves the search to the chain', async (t) => {
  t.equal(keyProblem(settingsFrom({ env: { AWS_ACCESS_KEY_ID: 'AKID' } })), undefined);
  t.match(chooseCredential(settingsFrom({ env: { AWS_ACCESS_KEY_ID: 'AKID' } })), { kind: 'chain' });
});

t.test('a bearer token is sent as it is, without a signature', async (t) => {
  const headers = await new Authorizer().authorize(REQUEST, settingsFrom({ env: BEARER }));
  t.same(headers, { authorization: 'Bearer bearer-token' });
});

t.test('keys sign for the region of the call', async (t) => {
  const authorizer = new Authorizer(undefined, () => DATE);
  const { authorization } = await authorizer.authorize(REQUEST, settingsFrom({ env: ENV, config: { region: 'eu-west-1' } }));
  t.match(authorization, 'Credential=AKIDENV/20261120/eu-west-1/bedrock/aws4_request');
});

t.test('only a call without keys and token asks the chain, and what it finds becomes the call’s own', async (t) => {
  const asked: (string | undefined)[] = [];
  const authorizer = new Authorizer(
    new ProviderChain(async (profile) => async () => {
      asked.push(profile);
      return profile === 'work' ? { ...FOUND, sessionToken: 'found-token' } : FOUND;
    }),
  );
  for (const env of [ENV, BEARER]) t.equal(authorizer.completeSettings(adapterCall({ settings: settingsFrom({ env }) })), undefined);
  t.same(asked, []);

  const plain = await authorizer.completeSettings(adapterCall({ settings: settingsFrom({ env: { AWS_SESSION_TOKEN: 'env-token' } }) }));
  t.same(chooseCredential(plain as ResolvedSettings), { kind: 'keys', keys: FOUND }, 'without the token of other keys');
  const profiled = await authorizer.completeSettings(
    adapterCall({ settings: settingsFrom({ env: { ...ENV, AWS_PROFILE: 'work', AWS_REGION: 'eu-west-1' } }) }),
  );
  const headers = await authorizer.authorize(REQUEST, profiled as ResolvedSettings);
  t.match(headers['authorization'], /Credential=AKIDFOUND\/\d{8}\/eu-west-1\//);
  t.equal(headers['x-amz-security-token'], 'found-token');
  t.same(asked, [undefined, 'work']);
  await t.rejects(authorizer.authorize(REQUEST, settingsFrom()), /before the chain found its keys/, 'a signature alone asks nobody');
});

t.test('after closing, no request is authorized', async (t) => {
  const authorizer = new Authorizer();
  authorizer.close();
  await t.rejects(authorizer.authorize(REQUEST, settingsFrom({ env: ENV })), { code: 'SHUTTING_DOWN', retryable: false });
  await t.rejects(authorizer.authorize(REQUEST, settingsFrom({ env: BEARER })), { code: 'SHUTTING_DOWN' });
  await t.rejects(authorizer.completeSettings(adapterCall({ settings: settingsFrom() })) as Promise<unknown>, { code: 'SHUTTING_DOWN' });
});
