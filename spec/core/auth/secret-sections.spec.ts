import t from 'tap';
import { isSection, secretsIn, secretTexts, setSecrets } from '../../../core/auth/secret-sections.ts';

t.test('a section keeps secrets by their owner, and goes with the last of them', async (t) => {
  const all = new Map<string, unknown>([['openai', { apiKey: 'x' }]]);
  setSecrets(all, 'mcp', 'github', { token: 'a' });
  setSecrets(all, 'mcp', '__proto__', { token: 'b' });
  t.strictSame({ ...secretsIn(all, 'mcp', 'github') }, { token: 'a' });
  t.strictSame({ ...secretsIn(all, 'mcp', '__proto__') }, { token: 'b' });
  t.strictSame({ ...secretsIn(all, 'mcp', 'constructor') }, {});
  setSecrets(all, 'mcp', 'github', {});
  setSecrets(all, 'mcp', '__proto__', {});
  t.strictSame([...all.keys()], ['openai']);
  t.strictSame(
    ['hooks', 'mcp', 'openai'].map((name) => isSection(name)),
    [true, true, false],
  );
});

t.test('texts that must not be shown are those of the sections, and of entries what sounds like a secret', async (t) => {
  const all = new Map<string, unknown>([
    ['openai', { apiKey: 'one', baseURL: 'https://a.example', keys: [{ apiKey: 'two', name: 'b' }], headers: { 'x-team': 'three' } }],
    ['mcp', { github: { whatever: 'four' } }],
    ['hooks', { ada: { issues: 'five' } }],
    ['odd', 'six'],
  ]);
  t.strictSame(secretTexts(all), ['one', 'two', 'three', 'four', 'five']);
});

t.test('of a target of notifications, its address and its key are secrets, and names of blocks and events are none', async (t) => {
  const phone = { url: 'https://push.example/topic', events: ['message.done'], blocks: ['assistant'], publicURL: 'https://blocks.example', secret: 'whsec_x' };
  t.strictSame(secretTexts(new Map([['notify', { phone }]])), ['https://push.example/topic', 'whsec_x']);
});
