import t from 'tap';
import { longMembersIn, membersIn } from '../../../adapters/shared/answer-members.ts';
import { ANY_JSON, CHAT_JSON, isLong, limitsOf, parseLong, readerOf } from '../../../adapters/shared/long-json.ts';
import { exceededLimit } from '../../../core/base/json.ts';
import type { Provider } from '../../../adapters/shared/provider.ts';
import { adapterCall, chatCall } from '../../support/adapter-call.ts';

const LONG_TEXT = 'x'.repeat(300_000);
const { signal } = new AbortController();
const acme = { provider: 'acme', client: 'key app', gone: signal };
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

t.test('the value is the one that JSON.parse gives, with a mark before it and with bytes that are no text', async (t) => {
  const value = { text: `${LONG_TEXT}é😀`, list: [1, null, { a: 'b' }] };
  const bytes = json(value);
  t.ok(isLong(bytes));
  t.notOk(isLong(json({})));
  t.strictSame(await parseLong(bytes, CHAT_JSON, acme), value);
  t.strictSame(await parseLong(Buffer.concat([Buffer.from('\ufeff'), bytes]), CHAT_JSON, acme), value);
  const broken = Buffer.concat([Buffer.from('"'), Buffer.alloc(600_000, 0x80), Buffer.from('"')]);
  t.equal(await parseLong(broken, CHAT_JSON, acme), broken.toString('utf8').slice(1, -1));
  t.equal(await parseLong(Buffer.from(`data: {}, ${LONG_TEXT}`), CHAT_JSON, acme), undefined);
  t.equal(await parseLong(bytes.subarray(0, -1), CHAT_JSON, acme), undefined);
});

t.test('what exceeds a limit is refused with its name', async (t) => {
  const limits = { values: 50, depth: 4, fields: 3 };
  for (const [value, message] of [
    [Array(60).fill(0), 'more than 50 JSON values'],
    [[[[[[0]]]]], 'nests deeper than 4 levels'],
    [{ a: 1, b: 1, c: 1, d: 1 }, 'an object with more than 3 fields'],
    [{ [LONG_TEXT]: 1 }, 'it has a name, a number or blanks of more than 131072 bytes'],
  ] as const)
    await t.rejects(parseLong(json([LONG_TEXT, value]), limits, acme), { code: 'UPSTREAM_MALFORMED', message: new RegExp(message) });
});

t.test('one answer of a provider is parsed at a time, also after one that failed, and others do not wait for it', async (t) => {
  const ended: string[] = [];
  const parse = async (name: string, bytes: Buffer, provider: string): Promise<void> => {
    await parseLong(bytes, { values: 100_000 }, { ...acme, provider }).then(
      () => ended.push(name),
      () => ended.push(`${name} failed`),
    );
  };
  const large = json(Array(90_000).fill(LONG_TEXT.slice(0, 20)));
  await Promise.all([
    parse('large', large, 'one'),
    parse('too large', json(Array(200_000).fill(0)), 'one'),
    parse('small', json([LONG_TEXT]), 'one'),
    parse('other', json([LONG_TEXT]), 'two'),
  ]);
  t.same(ended, ['other', 'large', 'too large failed', 'small']);
});

t.test('many answers of one client do not stand before the one of another', async (t) => {
  const ended: string[] = [];
  const parse = async (client: string): Promise<void> => {
    await parseLong(json([LONG_TEXT]), ANY_JSON, { ...acme, client });
    ended.push(client);
  };
  await Promise.all(['busy', 'busy', 'busy', 'busy', 'quiet', 'other', 'busy'].map(parse));
  t.same(ended, ['busy', 'busy', 'quiet', 'other', 'busy', 'busy', 'busy']);
});

t.test('of an answer only the members that are asked for are read, long or short', async (t) => {
  const names = ['usage', 'id'];
  const answer = json({ id: 'a', other: [1, 2], usage: { out: 3, more: LONG_TEXT } });
  const members = { id: 'a', usage: { out: 3, more: LONG_TEXT } };
  t.strictSame(membersIn(answer, names), members);
  t.strictSame(await longMembersIn(answer, names, acme), members);
  for (const bytes of [Buffer.alloc(0), Buffer.from('[1]'), answer.subarray(0, -1)]) {
    t.throws(() => membersIn(bytes, names), { code: 'UPSTREAM_MALFORMED' });
    await t.rejects(longMembersIn(bytes, names, acme), { code: 'UPSTREAM_MALFORMED' });
  }
  const many = Buffer.from(`{"usage":[${'0,'.repeat(ANY_JSON.values)}0]}`);
  await t.rejects(longMembersIn(many, names, acme), { message: /more than 2000000 JSON values/ });
});

t.test('what nobody waits for is parsed no further, which is said at once, and the next one has its turn', async (t) => {
  const leaving = new AbortController();
  const failures: unknown[] = [];
  const leave = async (bytes: Buffer): Promise<void> =>
    void (await parseLong(bytes, ANY_JSON, { ...acme, gone: leaving.signal }).catch((error: unknown) => failures.push(error)));
  const left = [1, 2].map(() => leave(json(Array(90_000).fill(0))));
  const next = parseLong(json([LONG_TEXT]), ANY_JSON, acme);
  await new Promise(setImmediate);
  leaving.abort();
  for (let step = 0; step < 10; step += 1) await undefined; // no turn of the event loop
  t.match(failures, [
    { code: 'CANCELLED', mayHaveRun: true },
    { code: 'CANCELLED', mayHaveRun: true },
  ]);
  await Promise.all(left);
  t.same(await next, [LONG_TEXT]);
  await t.rejects(parseLong(json([LONG_TEXT]), ANY_JSON, { ...acme, gone: leaving.signal }), { code: 'CANCELLED' });
});

t.test('an answer that is read on is parsed although its caller has left', async (t) => {
  const caller = AbortSignal.abort();
  const call = { ...adapterCall(), signal: caller };
  t.equal(readerOf({ id: 'acme' } as Provider, call).gone, caller);
  t.equal(readerOf({ id: 'acme' } as Provider, { ...call, until: signal }).gone, signal);
  t.match(readerOf({ id: 'acme' } as Provider, { ...call, client: 'key app' }), { provider: 'acme', client: 'key app' });
});

t.test('a chat that has asked for log probabilities may be answered by 10,000 tokens with twenty each', (t) => {
  t.equal(limitsOf(chatCall().call), CHAT_JSON);
  const one = { token: ' tok', logprob: -0.5, bytes: [32, 116, 111, 107] };
  const tokens = json(Array(10_000).fill({ ...one, top_logprobs: Array(20).fill(one) }));
  const limits = limitsOf(chatCall({ prompt: { config: { logprobs: true, topLogprobs: 20 } } }).call);
  t.equal(exceededLimit(tokens, limits), undefined);
  t.equal(exceededLimit(tokens, CHAT_JSON), 'values');
  t.end();
});
