import t from 'tap';
import type { ToolView } from '../../../../core/types.ts';
import { nextText, toolsOfText } from '../../../../transports/dashboard/text/tools.ts';

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
