import t from 'tap';
import { ApproveToolServer, SetToolSecret, ToolServerSettings } from '../../../core/schemas/tools-api.ts';
import { compile, type Validator } from '../../../core/schemas/validate.ts';

t.test('an approval names hashes as they were shown, also of a tool with an odd name', async (t) => {
  const check: Validator<unknown> = compile(ApproveToolServer);
  const hash = 'a'.repeat(64);
  check({ definition: hash, tools: { 'a/b': hash, ...JSON.parse(`{"__proto__":"${hash}"}`) } });
  for (const tools of [undefined, [], { a: hash.toUpperCase() }, { a: `${hash}0` }, { a: null }]) t.throws(() => check({ definition: hash, tools }));
  t.throws(() => check({ definition: hash, tools: Object.fromEntries(Array.from({ length: 5001 }, (_, index) => [`t${index}`, hash])) }));
});

t.test('a secret is a text, or null, which takes it away', async (t) => {
  const check: Validator<unknown> = compile(SetToolSecret);
  check({ value: 'x' });
  check({ value: null });
  for (const value of [undefined, '', 1, {}, 'x'.repeat(8193)]) t.throws(() => check({ value }));
});

t.test('settings are bounded', async (t) => {
  const check: Validator<unknown> = compile(ToolServerSettings);
  check({ keyArguments: { pay: 'key', move: { argument: 'key', repeatable: false } }, marks: { readOnly: ['*'] } });
  for (const wrong of [{ concurrency: 65 }, { startTimeoutMs: 1.5 }, { maxResultBytes: 1 }, { keyArguments: { pay: { argument: 'key' } } }, { share: 'none' }])
    t.throws(() => check(wrong));
  const probe = { tool: 'find_payment', with: { reference: '/reference' }, found: '/payments/0' };
  check({ probe: { create_payment: probe } });
  check({ probe: { create_payment: { ...probe, found: '' } } });
  for (const wrong of [{ found: 'payments' }, { with: { reference: 'reference' } }, { tool: '' }, { other: 1 }])
    t.throws(() => check({ probe: { create_payment: { ...probe, ...wrong } } }), JSON.stringify(wrong));
});
