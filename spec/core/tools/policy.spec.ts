// Which calls are allowed, denied, or left to a person.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { realPathOf } from '../../../core/store/files/real-path.ts';
import { isRepeatable, keyArgumentOf, marksOf, withoutArgument } from '../../../core/tools/marks.ts';
import { type CallToDecide, isOffered, judgeCall } from '../../../core/tools/policy.ts';
import { toolSettings } from '../../../core/tools/settings.ts';
import { BANK, TRUSTED } from '../../support/tools/payment-host.ts';

const MARKS = { readOnly: false, idempotent: false, closedWorld: true };
const PATHS = { home: '/nowhere', real: (path: string) => realPathOf(path) };

function judge(tools: object, call: Partial<CallToDecide> = {}, paths = PATHS) {
  const settings = toolSettings({ tools: { servers: ['bank'], ...tools } });
  if (settings === undefined) throw new Error('no settings');
  return judgeCall(settings, { tool: 'bank/pay', arguments: {}, pin: 'p', marks: MARKS, isRepeat: false, isTainted: false, ...call }, paths);
}

t.test('the first list that names a tool decides: deny, ask, allow; the others are asked about', async (t) => {
  t.strictSame(await judge({ deny: ['bank/*'], ask: ['bank/*'], allow: ['bank/*'] }), { kind: 'deny' });
  t.strictSame(await judge({ ask: ['bank/p*'], allow: ['bank/*'] }), { kind: 'ask', because: 'rule' });
  t.strictSame(await judge({ allow: ['bank/*'] }), { kind: 'allow' });
  t.strictSame(await judge({}), { kind: 'ask', because: 'default' });
  t.strictSame(await judge({ default: 'deny' }), { kind: 'deny' });
});

t.test('a repeat is asked about whatever the rules say, unless they deny it', async (t) => {
  t.strictSame(await judge({ allow: ['bank/*'] }, { isRepeat: true }), { kind: 'ask', because: 'repeat' });
  t.strictSame(await judge({ deny: ['bank/*'] }, { isRepeat: true }), { kind: 'deny' });
});

t.test('in a tainted run, what writes or sends is asked about, unless a rule lifts that', async (t) => {
  t.strictSame(await judge({ allow: ['bank/*'] }, { isTainted: true }), { kind: 'ask', because: 'tainted' });
  t.strictSame(await judge({ allow: ['bank/*', { tool: 'bank/pay', evenTainted: true }] }, { isTainted: true }), { kind: 'allow' });
  t.strictSame(await judge({ allow: ['bank/*'], taint: 'ignore' }, { isTainted: true }), { kind: 'allow' });
  t.strictSame(await judge({ allow: ['bank/*'] }, { isTainted: true, marks: { ...MARKS, readOnly: true } }), { kind: 'allow' });
  t.strictSame(await judge({ allow: ['bank/*'] }, { isTainted: true, marks: { ...MARKS, readOnly: true, closedWorld: false } }), {
    kind: 'ask',
    because: 'tainted',
  });
});

t.test('a rule that a person made for a tool goes before the ones that ask, and not before those that deny', async (t) => {
  const allow = [{ tool: 'bank/pay', pin: 'p' }];
  t.strictSame(await judge({ ask: ['bank/*'], allow }), { kind: 'allow' });
  t.strictSame(await judge({ ask: ['bank/*'], allow }, { pin: 'q' }), { kind: 'ask', because: 'rule' });
  t.strictSame(await judge({ ask: ['bank/*'], allow: ['bank/pay'] }), { kind: 'ask', because: 'rule' });
  t.strictSame(await judge({ ask: ['bank/*'], allow }, { isTainted: true }), { kind: 'ask', because: 'tainted' });
  t.strictSame(await judge({ ask: ['bank/*'], allow }, { isRepeat: true }), { kind: 'ask', because: 'repeat' });
  t.strictSame(await judge({ deny: ['bank/*'], allow }), { kind: 'deny' });
});

t.test('a rule with a pin or with arguments holds for these only', async (t) => {
  t.strictSame(await judge({ allow: [{ tool: 'bank/pay', pin: 'p' }] }), { kind: 'allow' });
  t.match(await judge({ allow: [{ tool: 'bank/pay', pin: 'q' }] }), { kind: 'ask' });
  const rule = { tool: 'bank/pay', arguments: { to: 'bob', amount: 5 } };
  t.strictSame(await judge({ allow: [rule] }, { arguments: { amount: 5, to: 'bob' } }), { kind: 'allow' });
  t.match(await judge({ allow: [rule] }, { arguments: { amount: 6, to: 'bob' } }), { kind: 'ask' });
});

t.test('where compares real paths: not .., a link, %2e, a relative one, an array, or a missing argument', async (t) => {
  const home = t.testdir({ out: { a: {} }, secret: {} });
  symlinkSync(`${home}/secret`, `${home}/out/link`);
  symlinkSync(`${home}/secret/none`, `${home}/out/dangling`);
  writeFileSync(`${home}/out/a/there.txt`, '');
  mkdirSync(`${home}/out/a/b`);
  const within = (path: unknown) => judge({ allow: [{ tool: 'bank/pay', where: { path: '~/out/**' } }] }, { arguments: { path } }, { ...PATHS, home });
  for (const path of [`${home}/out/a/there.txt`, `${home}/out/a/b/new/deep.txt`, `${home}/out/a/b/`, `${home}/out`])
    t.strictSame(await within(path), { kind: 'allow', isByPath: true }, path);
  for (const path of [
    `${home}/secret/a.txt`,
    `${home}/out/../secret/a.txt`,
    `${home}/out/./a`,
    `${home}/out/link/a.txt`,
    `${home}/out/dangling`,
    `${home}/out/%2e%2e/secret`,
    `${home}/out%2fa`,
    `${home}/out/a\0b`,
    `${home}/OUT/a`,
    `${home}/out/.."`,
    `${home}/out/.. `,
    `${home}/out/..'\n`,
    `${home}/out/link"`,
    `${home}/out/link\u00a0`,
    `${home}/out/\u2025/secret`,
    `${home}/out/\uff0e\uff0e/secret`,
    `${home}/out/..\\..\\secret`,
    `${home}/out/.\u200b./secret`,
    `${home}/outer`,
    'out/a',
    '~/out/a',
    [`${home}/out/a`],
    5,
    undefined,
  ])
    t.match(await within(path), { kind: 'ask', because: 'default' }, JSON.stringify(path));
  t.match(await judge({ allow: [{ tool: 'bank/pay', where: { other: '/**' } }] }, { arguments: { path: '/tmp' } }), { kind: 'ask' });
  t.match(
    await judge({ allow: [{ tool: 'bank/pay', where: { path: 'tmp/**' } }] }, { arguments: { path: '/tmp/a' } }),
    { kind: 'ask' },
    'a relative pattern fits nothing',
  );
});

t.test('a path that is longer than any file has is not looked at', async (t) => {
  let looks = 0;
  const paths = {
    home: '/nowhere',
    real: async (path: string) => {
      looks += 1;
      return path;
    },
  };
  const verdictOf = (path: string) => judge({ allow: [{ tool: 'bank/pay', where: { path: '/out/**' } }] }, { arguments: { path } }, paths);
  t.match(await verdictOf('/out/a'), { kind: 'allow' });
  looks = 0;
  const accents = '\u0315'.repeat(200_000) + '\u0316'.repeat(200_000); // their order takes minutes to find
  t.match(await verdictOf(`/out/a${accents}`), { kind: 'ask' });
  t.equal(looks, 0);
});

t.test('what is denied is not offered', async (t) => {
  const rules = (tools: object) => toolSettings({ tools: { servers: ['bank'], ...tools } }) as never;
  t.equal(isOffered(rules({ deny: ['bank/pay'] }), 'bank/pay'), false);
  t.equal(isOffered(rules({}), 'bank/pay'), true);
  t.equal(isOffered(rules({ default: 'deny' }), 'bank/pay'), false);
  t.equal(isOffered(rules({ default: 'deny', ask: ['bank/pay'] }), 'bank/pay'), true);
  t.equal(isOffered(rules({ default: 'deny', allow: [{ tool: 'bank/*' }] }), 'bank/pay'), true);
});

t.test('a mark holds only where the server and the user say the same', async (t) => {
  const [pay, payOnce, limit, list] = BANK as [(typeof BANK)[number], (typeof BANK)[number], (typeof BANK)[number], (typeof BANK)[number]];
  t.strictSame(marksOf(list, TRUSTED), { readOnly: true, idempotent: true, closedWorld: true });
  t.strictSame(marksOf(list, {}), { readOnly: false, idempotent: false, closedWorld: false });
  t.strictSame(marksOf(list, { marks: { readOnly: ['lis*'] } }), { readOnly: true, idempotent: false, closedWorld: false });
  t.strictSame(marksOf(pay, TRUSTED), { readOnly: false, idempotent: false, closedWorld: true }, 'the user can not make a tool of another kind');
  t.equal(isRepeatable(marksOf(limit, TRUSTED), undefined), true);
  t.equal(isRepeatable(marksOf(pay, TRUSTED), undefined), false);
  t.equal(isRepeatable(marksOf(payOnce, TRUSTED), keyArgumentOf(payOnce, TRUSTED)), true);
  t.equal(isRepeatable(MARKS, keyArgumentOf(payOnce, { keyArguments: { pay_once: { argument: 'key', repeatable: false } } })), false);
  t.equal(keyArgumentOf(pay, TRUSTED), undefined);
  t.strictSame(withoutArgument({ type: 'object', properties: { a: {}, key: {} }, required: ['a', 'key'] }, 'key'), {
    type: 'object',
    properties: { a: {} },
    required: ['a'],
  });
});

t.test('without servers there are no tools, and with them every setting has its default', async (t) => {
  t.equal(toolSettings({}), undefined);
  t.equal(toolSettings({ tools: null }), undefined);
  t.equal(toolSettings({ tools: { servers: [] } }), undefined);
  t.match(toolSettings({ tools: { servers: ['bank'], limits: { steps: 3 } } }), {
    deny: [],
    default: 'ask',
    taint: 'ask',
    onUnknown: 'tell',
    limits: { steps: 3, calls: 50, seconds: 900, tokens: null, usd: null, parallel: 4, resultTokens: 8000, definitionTokens: 10_000, sameCall: 3 },
    approvals: { timeoutMs: 86_400_000, onTimeout: 'deny' },
  });
});
