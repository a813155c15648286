import t from 'tap';
import { settingsFaults } from '../../../adapters/tools/settings-findings.ts';
import type { ServerSettings, ToolDefinition } from '../../../core/index.ts';

const tool = (name: string, readOnlyHint = false): ToolDefinition => ({
  server: 'bank',
  tool: name,
  pin: 'p',
  inputSchema: { type: 'object', properties: { reference: { type: 'string' } } },
  annotations: { readOnlyHint },
});
const faultsOf = (own: ServerSettings): string[] =>
  settingsFaults({ tools: [tool('pay'), tool('find', true), tool('list', true)], settings: { bank: own } }, 'bank').map(({ problem }) => problem);
const WITH = { with: { reference: '/reference' }, found: '/payments/0' };

t.test('a probe that can not be asked is named before a crash needs it', async (t) => {
  const marks = { readOnly: ['find'] };
  t.strictSame(faultsOf({ marks, probe: { pay: { tool: 'find', ...WITH } } }), []);
  t.match(faultsOf({ marks, probe: { pay: { tool: 'list', ...WITH } } }), [
    /^the probe of pay asks list, which has not the mark readOnly, so what becomes of its calls after a crash/,
  ]);
  t.match(faultsOf({ marks: { readOnly: ['*'] }, probe: { pay: { tool: 'pay', ...WITH } } }), [/has not the mark readOnly/], 'the mark alone is not enough');
  t.match(faultsOf({ marks, probe: { pay: { tool: 'look', ...WITH } } }), [/asks look, which is no approved tool of it, so what/]);
  t.strictSame(faultsOf({ marks, probe: { send: { tool: 'find', ...WITH } } }), ['it has a probe for send, which is no approved tool of it']);
});

t.test('so is an argument for the id of the call that no tool has', async (t) => {
  t.strictSame(faultsOf({ keyArguments: { pay: 'reference' } }), []);
  t.strictSame(faultsOf({ keyArguments: { pay: { argument: 'reference', repeatable: false } } }), []);
  t.match(faultsOf({ keyArguments: { pay: 'idempotencyKey' } }), [/gives pay the id of the call as idempotencyKey, which its schema does not have/]);
  t.match(faultsOf({ keyArguments: { send: 'reference' } }), [/names send, which is no approved tool of it/]);
});

t.test('a server without settings, or without tools, has nothing wrong', async (t) => {
  t.strictSame(faultsOf({}), []);
  t.strictSame(settingsFaults({ tools: [], settings: {} }, 'bank'), []);
});
