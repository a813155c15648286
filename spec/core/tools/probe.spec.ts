// What is asked about a call whose outcome is not known, and what its answer says.
import t from 'tap';
import type { Catalogue } from '../../../core/tools/port.ts';
import { hasFound, probeFor, valueAt } from '../../../core/tools/probe.ts';
import { BANK, TRUSTED } from '../../support/tools/payment-host.ts';

const PROBE = { pay: { tool: 'list', with: { reference: '/key' }, found: '/payments/0' } };
const catalogueWith = (settings: object): Catalogue => ({ tools: BANK, settings: { bank: settings }, problems: [] });
const pay = BANK[0] as (typeof BANK)[number];

t.test('read-only: a probe has the mark, is not denied, and gets values of the arguments that were sent', async (t) => {
  const settings = { ...TRUSTED, probe: PROBE };
  t.match(probeFor(catalogueWith(settings), { deny: [] }, pay, { key: 'k1' }), {
    definition: { tool: 'list' },
    arguments: { reference: 'k1' },
    found: '/payments/0',
  });
  t.equal(probeFor(catalogueWith(settings), { deny: [] }, pay, {}), undefined, 'the value is not there');
  t.equal(probeFor(catalogueWith(settings), { deny: ['bank/l*'] }, pay, { key: 'k1' }), undefined, 'denied');
  t.equal(probeFor(catalogueWith({ probe: PROBE }), { deny: [] }, pay, { key: 'k1' }), undefined, 'no mark');
  t.equal(
    probeFor(catalogueWith({ ...settings, probe: { pay: { ...PROBE.pay, tool: 'none' } } }), { deny: [] }, pay, { key: 'k1' }),
    undefined,
    'not approved',
  );
  t.equal(probeFor(catalogueWith(TRUSTED), { deny: [] }, pay, { key: 'k1' }), undefined);
});

t.test('found is what is neither null nor empty; an error and what is no JSON say nothing', async (t) => {
  const said = (text: string, more: object = {}) =>
    hasFound({ found: '/p/0' }, { kind: 'result', isError: false, ms: 1, parts: [{ type: 'text', text }], ...more });
  for (const value of [[1], { a: 1 }, 'x', 0, false]) t.equal(said(JSON.stringify({ p: [value] })), true, JSON.stringify(value));
  for (const value of [null, [], {}, '']) t.equal(said(JSON.stringify({ p: [value] })), false, JSON.stringify(value));
  t.equal(said('{"p":[]}'), false);
  t.equal(said('no JSON'), undefined);
  t.equal(said('{"p":[1]}', { isError: true }), undefined);
  t.equal(said('no JSON', { structuredContent: { p: [1] } }), true);
});

t.test('a pointer is that of RFC 6901', async (t) => {
  const value = { 'a/b': { '~': [5] }, list: [1] };
  t.equal(valueAt(value, '/a~1b/~0/0'), 5);
  t.equal(valueAt(value, ''), value);
  for (const pointer of ['/list/-', '/list/01', '/none/x', 'list', '/toString', '/list/length']) t.equal(valueAt(value, pointer), undefined, pointer);
});
