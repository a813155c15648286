import t from 'tap';
import { styleFor } from '../../../cli/terminal/output.ts';
import { adapterTable, mark, readiness } from '../../../cli/views/adapter-text.ts';
import type { AdapterStatus } from '../../../core/index.ts';

const cloud: AdapterStatus = {
  id: 'cloud',
  displayName: 'A Cloud Of Models',
  authRequired: true,
  defaultModel: 'global.vendor.some-very-long-model-name-20260101-v1:0',
  supportsStreaming: true,
  envVars: [],
  ready: true,
  hasSecret: false,
};

t.test('the state of an adapter is said in a few words', async (t) => {
  t.equal(readiness(cloud), 'credentials found');
  t.equal(readiness({ ...cloud, hasSecret: true }), 'has a key');
  t.equal(readiness({ ...cloud, authRequired: false }), 'answers, needs no key');
  t.equal(readiness({ ...cloud, ready: false, problem: 'credential' }), 'no credentials found');
  t.equal(readiness({ ...cloud, ready: false, problem: 'credential', envVars: ['A_KEY'] }), 'no key yet (A_KEY)');
  t.equal(readiness({ ...cloud, ready: false, problem: 'unreachable' }), 'no credentials found in time');
  t.equal(readiness({ ...cloud, ready: false, problem: 'unreachable', authRequired: false }), 'does not answer');
  t.equal(readiness({ ...cloud, ready: false, problem: 'settings', detail: 'auth.json is\ndamaged' }), 'auth.json is damaged');
});

t.test('only what can be used is marked as such', async (t) => {
  t.equal(mark(cloud), '●');
  t.equal(mark({ ready: false, problem: 'unchecked' }), '◌');
  t.equal(mark({ ready: false, problem: 'unreachable' }), '○');
});

t.test('the table fits 80 columns, and shows ids and states whole', async (t) => {
  const lines = adapterTable([cloud, { ...cloud, id: 'anthropic', ready: false, problem: 'credential', envVars: ['ANTHROPIC_API_KEY'] }], {
    width: 80,
    style: styleFor(false),
  });
  for (const line of lines) t.ok(line.length <= 80, line);
  t.match(lines[2], /^○ {2}anthropic {2}no key yet \(ANTHROPIC_API_KEY\) {2}global/);
  const at100 = adapterTable([cloud], { width: 100, style: styleFor(false) });
  t.match(at100, [/DEFAULT MODEL +NAME$/, / A Cloud Of /], 'names stay where there is room for a part of them');
});
