import t from 'tap';
import type { ToolView } from '../../../../core/types.ts';
import { nextText, termsText, toolsOfText } from '../../../../transports/dashboard/text/tools.ts';

t.test('what comes next names no command that a button stands for', async (t) => {
  const next = 'The message goes on when somebody has decided. `blockhouse deny a3f9` refuses it. If nobody does, the time for it ends at noon.';
  t.equal(nextText(next), 'The message goes on when somebody has decided. If nobody does, the time for it ends at noon.');
  t.equal(nextText('Nothing.'), 'Nothing.');
});

t.test('of a server that was never started nobody knows how many tools it has', (t) => {
  const tool = { tokens: 1700 } as ToolView;
  t.equal(toolsOfText({ era: null, tools: [] }), 'Tools not known yet');
  t.equal(toolsOfText({ era: 'legacy', tools: [] }), '0 tools, 0 tokens');
  t.equal(toolsOfText({ era: null, tools: [tool, tool] }), '2 tools, 3,400 tokens');
  t.end();
});

t.test('what an approval is for besides the command: who signs in and where, the sandbox, and tools that appear later', async (t) => {
  const oauth = { grant: 'client_credentials', clientId: 'robot', issuer: 'https://auth.example', scope: 'read' };
  t.strictSame(termsText({ oauth, sandbox: 'bwrap', newTools: 'offer' }), [
    ['Sign-in', 'Blockhouse for itself, as robot, at https://auth.example, for read'],
    ['Sandbox', 'bwrap'],
    ['New tools', 'offered at first sight'],
  ]);
  const key = { method: 'private_key_jwt', clientId: 'robot', issuer: 'https://auth.example' };
  t.strictSame(termsText({ oauth: { ...key, keyFile: '/srv/key.pem' } }), [
    ['Sign-in', 'a person, as robot, at https://auth.example, with the key in /srv/key.pem'],
  ]);
  t.strictSame(termsText({ oauth: key }), [['Sign-in', 'a person, as robot, at https://auth.example, with the key that is stored']]);
  t.strictSame(termsText({ oauth: {} }), [['Sign-in', 'a person']]);
  t.strictSame(termsText({ oauth: 5, newTools: 'hold', marks: {} }), []);
});
