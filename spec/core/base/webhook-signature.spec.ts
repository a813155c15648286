import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { bodyId, isSignedWith, keyOf, newSecret, type SignatureHeaders, signedBy, signWebhook } from '../../../core/base/webhook-signature.ts';

const NOW = 1_795_000_000_000;
const BODY = Buffer.from('{"text":"grüße"}');
const at = new Date(NOW);

/** As the handler uses it. */
const isTaken = (secret: string, headers: SignatureHeaders, body: Uint8Array = BODY, now = NOW): boolean => {
  const signed = signedBy(headers, now);
  return signed !== undefined && isSignedWith(secret, signed, body);
};

/** The judge: the library of those who wrote the specification. */
const sent = (secret: string, body = BODY, id = 'msg_1', when = at): SignatureHeaders => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(when.getTime() / 1000)),
  'webhook-signature': new Webhook(secret).sign(id, when, body.toString()),
});

t.test('what the library of the specification signs is taken, and the other way round', async (t) => {
  for (let round = 0; round < 20; round += 1) {
    const secret = newSecret();
    t.ok(isTaken(secret, sent(secret)));
    const now = new Date();
    const seconds = Math.floor(now.getTime() / 1000);
    const headers = { 'webhook-id': 'm', 'webhook-timestamp': String(seconds), 'webhook-signature': signWebhook(keyOf(secret) as Buffer, 'm', seconds, BODY) };
    t.same(new Webhook(secret).verify(BODY.toString(), headers), { text: 'grüße' });
  }
});

t.test('another secret, id, time, body or form is refused', async (t) => {
  const [secret, other] = [newSecret(), newSecret()];
  const headers = sent(secret);
  t.notOk(isTaken(other, headers));
  t.notOk(isTaken(secret, { ...headers, 'webhook-id': 'msg_2' }));
  t.notOk(isTaken(secret, { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) }));
  t.notOk(isTaken(secret, headers, Buffer.from(`${BODY.toString()} `)));
  for (const wrong of ['', 'v1,', 'v1', 'v2,AAAA', `v1,${'A'.repeat(43)}`, 'x'.repeat(100_000), `${'v1,AAAA '.repeat(1000)}`])
    t.notOk(isTaken(secret, { ...headers, 'webhook-signature': wrong }), wrong.slice(0, 20));
  for (const id of ['', 'a b', 'ü', 'x'.repeat(101), 'a\nb'])
    t.notOk(isTaken(secret, { ...sent(secret, BODY, 'x'), 'webhook-id': id }), JSON.stringify(id).slice(0, 20));
  for (const time of ['', 'now', '-1', '1e9', '99999999999999']) t.notOk(isTaken(secret, { ...headers, 'webhook-timestamp': time }), time);
  t.notOk(isTaken(secret, {}));
});

t.test('what is signed can be split in one way only: no id has a full stop', async (t) => {
  const secret = newSecret();
  const later = Math.floor(NOW / 1000) + 86_400;
  // Its writer has put a time of tomorrow into the text, for who listens on the way and sends it again then.
  const body = Buffer.from(`{"text":"a.${later}.{}"}`);
  const headers = sent(secret, body);
  t.ok(isTaken(secret, headers, body));
  const id = `msg_1.${headers['webhook-timestamp']}.{"text":"a`;
  const split = { ...headers, 'webhook-id': id, 'webhook-timestamp': String(later) };
  t.notOk(isTaken(secret, split, Buffer.from('{}"}'), NOW + 86_400_000));
  t.notOk(isTaken(secret, sent(secret, BODY, 'a.b')));
});

t.test('a time of five minutes ago or ahead is taken, and no other', async (t) => {
  const secret = newSecret();
  for (const [minutes, isRight] of [
    [-5, true],
    [5, true],
    [-5.02, false],
    [5.02, false],
  ] as const)
    t.equal(isTaken(secret, sent(secret, BODY, 'm', new Date(NOW + minutes * 60_000))), isRight, `${minutes} min`);
});

t.test('one of several signatures is enough, while a sender changes its secret', async (t) => {
  const secret = newSecret();
  const headers = sent(secret);
  const others = sent(newSecret())['webhook-signature'] ?? '';
  t.ok(isTaken(secret, { ...headers, 'webhook-signature': `v1a,xyz ${others} ${headers['webhook-signature']}` }));
});

t.test('a signature of GitHub is over the body alone, with the secret as it is written', async (t) => {
  const secret = "It's a Secret to Everybody";
  const signature = `sha256=${createHmac('sha256', secret).update('Hello, World!').digest('hex')}`;
  t.equal(signature, 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17', 'the example of the documentation of GitHub');
  t.ok(isTaken(secret, { 'x-hub-signature-256': signature }, Buffer.from('Hello, World!')));
  t.notOk(isTaken(secret, { 'x-hub-signature-256': signature }, Buffer.from('Hello, World')));
  t.notOk(isTaken('other', { 'x-hub-signature-256': signature }, Buffer.from('Hello, World!')));
  for (const wrong of ['sha1=00', signature.toUpperCase(), signature.slice(0, -1), ''])
    t.notOk(isTaken(secret, { 'x-hub-signature-256': wrong }, Buffer.from('Hello, World!')));
  t.notOk(isTaken(secret, { 'webhook-signature': 'v1,x', 'x-hub-signature-256': signature }, Buffer.from('Hello, World!')), 'the stricter one decides');
});

t.test('a secret is whsec_ and 24 to 64 bytes; a wrong one opens nothing, not even with the key that stands for it', async (t) => {
  t.equal(keyOf(newSecret())?.length, 32);
  for (const wrong of [
    '',
    'whsec_',
    'abc',
    `whsec_${Buffer.alloc(23).toString('base64')}`,
    `whsec_${Buffer.alloc(65).toString('base64')}`,
    'whsec_****',
    'whsec_a',
  ])
    t.equal(keyOf(wrong), undefined, wrong);
  const zero = { 'webhook-id': 'm', 'webhook-timestamp': String(NOW / 1000), 'webhook-signature': signWebhook(Buffer.alloc(32), 'm', NOW / 1000, BODY) };
  t.notOk(isTaken('whsec_', zero));
  t.match(bodyId(BODY), /^[0-9a-f]{64}$/);
});
