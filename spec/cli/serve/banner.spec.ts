import t from 'tap';
import { type BannerFacts, banner } from '../../../cli/serve/banner.ts';
import { styleFor } from '../../../cli/terminal/output.ts';
import type { AdapterStatus } from '../../../core/index.ts';

const hosted: AdapterStatus = {
  id: 'hosted',
  displayName: 'Hosted',
  defaultModel: 'big',
  authRequired: true,
  envVars: ['HOSTED_KEY'],
  ready: false,
  hasSecret: false,
  supportsStreaming: true,
  problem: 'credential',
  detail: 'it needs a key',
};
const { problem: _problem, detail: _detail, ...usable } = hosted;
const local: AdapterStatus = { ...usable, id: 'local', defaultModel: 'small', authRequired: false, ready: true };
const facts: BannerFacts = {
  version: '1.2.3',
  url: 'http://127.0.0.1:1',
  workspace: '/w',
  command: 'blockhouse',
  flag: ' --workspace /w',
  adapters: [hosted, local],
};

t.test('the banner tells the URL, a call that works, and how to add a key', async (t) => {
  const text = banner(facts, styleFor(false)).join('\n');
  t.match(text, 'Blockhouse 1.2.3 listens on http://127.0.0.1:1');
  t.match(text, 'TOKEN=$(blockhouse token --workspace /w)\n');
  t.match(text, `-d '{"adapter":"local","model":"small",`);
  t.match(text, /○ {2}hosted {2}no key yet \(HOSTED_KEY\)/);
  t.match(text, /● {2}local +answers, needs no key/);
  t.match(text, 'Add a key: blockhouse auth set hosted --workspace /w\n');
});

t.test('the banner tells the second address if there is one', async (t) => {
  t.notMatch(banner(facts, styleFor(false)).join('\n'), 'Ollama');
  t.match(banner({ ...facts, ollamaUrl: 'http://127.0.0.1:2' }, styleFor(false)).join('\n'), "and with Ollama's API alone on http://127.0.0.1:2");
});

t.test('an adapter with a credential is the one to try', async (t) => {
  const text = banner({ ...facts, adapters: [{ ...usable, ready: true, hasSecret: true }, local] }, styleFor(false)).join('\n');
  t.match(text, `-d '{"adapter":"hosted","model":"big",`);
  t.notMatch(text, 'Add a key');
});

t.test('a local daemon that does not answer is neither green nor the one to try', async (t) => {
  const away: AdapterStatus = { ...local, ready: false, problem: 'unreachable' };
  const text = banner({ ...facts, adapters: [away, { ...usable, ready: true, hasSecret: true }] }, styleFor(false)).join('\n');
  t.match(text, /○ {2}local +does not answer/);
  t.match(text, `-d '{"adapter":"hosted",`);
});

t.test('the banner shows the link to the page if there is one', async (t) => {
  const page = 'http://127.0.0.1:1/ui/#code=abc';
  t.match(banner({ ...facts, page }, styleFor(false)).join('\n'), page);
  t.match(banner({ ...facts, page }, styleFor(false)).join('\n'), /makes another one:\n +blockhouse open --workspace \/w\n/);
  t.notMatch(banner(facts, styleFor(false)).join('\n'), '#code=');
});
