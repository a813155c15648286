import { readdirSync } from 'node:fs';
import t from 'tap';
import { noCosts } from '../../../core/block/costs/costs.ts';
import { freshPulse } from '../../../core/block/documents/document-codecs.ts';
import { CostsFile } from '../../../core/schemas/block-costs.ts';
import { PulseFile, STATES } from '../../../core/schemas/block-pulse.ts';
import { ANSWER_STATUSES, ChatEntry, USER_STATUSES } from '../../../core/schemas/chat-entry.ts';
import { CredentialList, SetCredential } from '../../../core/schemas/credentials.ts';
import { EmbedRequest, MAX_INPUTS } from '../../../core/schemas/embed.ts';
import * as schemas from '../../../core/schemas/index.ts';
import { SessionCode, SessionKey, SessionTicket, SignIn } from '../../../core/schemas/session.ts';
import { compile, type Validator } from '../../../core/schemas/validate.ts';
import { addressOf } from '../../support/node-args.ts';
import { refusedField } from '../../support/refused-field.ts';

/** Helpers, which describe no resource. */
const APART = new Set(['checks.ts', 'fields.ts', 'index.ts', 'names.ts', 'secret-fields.ts', 'validate.ts', 'ws.ts']);

t.test('the namespace has every export of its files: a name that two of them export would be in neither', async (t) => {
  const folder = new URL('../../../core/schemas/', import.meta.url);
  for (const file of readdirSync(folder).filter((name) => !APART.has(name))) {
    const module = (await import(addressOf(`core/schemas/${file}`))) as object;
    t.match(schemas, module, file);
  }
  t.ok('PingFrame' in schemas.frames);
});

t.test('fresh costs are valid', async (t) => {
  t.equal(refusedField(CostsFile, noCosts()), undefined);
});

t.test('counts are whole and not negative, and money may be unknown', async (t) => {
  t.equal(refusedField(CostsFile, { ...noCosts(), calls: -1 }), 'calls');
  t.equal(refusedField(CostsFile, { ...noCosts(), totalInput: 0.5 }), 'totalInput');
  t.equal(refusedField(CostsFile, { ...noCosts(), totalCost: null }), undefined);
});

t.test('a fresh pulse is valid', async (t) => {
  t.equal(refusedField(PulseFile, freshPulse()), undefined);
});

t.test('a pulse has one of the known states', async (t) => {
  for (const state of STATES) t.equal(refusedField(PulseFile, { ...freshPulse(), state }), undefined, state);
  t.equal(refusedField(PulseFile, { ...freshPulse(), state: 'asleep' }), 'state');
});

const ENTRY = { id: 'm1', role: 'user', content: 'hi', timestamp: '2026-11-20T14:03:22.123Z', processed: false, status: 'queued', channel: 'cli' };

t.test('an ENTRY has every field that the server writes', async (t) => {
  t.equal(refusedField(ChatEntry, ENTRY), undefined);
  for (const field of Object.keys(ENTRY)) t.equal(refusedField(ChatEntry, { ...ENTRY, [field]: undefined }), field);
});

t.test('an ENTRY may have any status of a message or of an answer', async (t) => {
  for (const status of [...USER_STATUSES, ...ANSWER_STATUSES]) t.equal(refusedField(ChatEntry, { ...ENTRY, status }), undefined, status);
  t.equal(refusedField(ChatEntry, { ...ENTRY, status: 'lost' }), 'status');
});

t.test('what is stored is a few fields of text', async (t) => {
  const check: Validator<unknown> = compile(SetCredential);
  t.doesNotThrow(() => check({ apiKey: 'k', baseURL: 'https://x' }));
  for (const wrong of [{}, { apiKey: '' }, { apiKey: 1 }, [], null]) t.throws(() => check(wrong), { code: 'INVALID_REQUEST' });
});

t.test('no field of the list can hold a key', async (t) => {
  t.same(Object.keys(CredentialList.properties.credentials.items.properties).sort(), ['adapter', 'baseURL', 'configured', 'hint', 'source', 'variable']);
});

const checkEmbed = compile(EmbedRequest);
const embedding = (fields: object) => ({ adapter: 'a', model: 'm', inputs: ['x'], ...fields });

t.test('texts and token ids are inputs, and nothing else', async (t) => {
  for (const inputs of [['x'], ['x', 'y'], [[1, 2], 'x'], Array.from({ length: MAX_INPUTS }, () => 'x')])
    t.doesNotThrow(() => checkEmbed(embedding({ inputs })));
  for (const inputs of [[], [''], [[]], [1], [[-1]], [['x']], 'x', Array.from({ length: MAX_INPUTS + 1 }, () => 'x')]) {
    t.throws(() => checkEmbed(embedding({ inputs })), { code: 'INVALID_REQUEST', message: /^inputs/ });
  }
  t.throws(() => checkEmbed(embedding({ more: 1 })), { message: /more/ });
  t.throws(() => checkEmbed(embedding({ dimensions: 0 })), { message: /^dimensions/ });
});

t.test('a code is a text of at most 64 characters, and nothing stands beside it', async (t) => {
  const check: Validator<unknown> = compile(SignIn);
  t.doesNotThrow(() => check({ code: 'x' }));
  for (const wrong of [{}, { code: '' }, { code: 'x'.repeat(65) }, { code: 1 }, { code: 'x', token: 'y' }, 'x'])
    t.throws(() => check(wrong), { code: 'INVALID_REQUEST' });
});

t.test('each answer says when it ends', async (t) => {
  for (const schema of [SessionCode, SessionKey, SessionTicket]) t.ok(schema.required.includes('expiresAt'));
});
