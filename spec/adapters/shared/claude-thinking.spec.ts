import t from 'tap';
import { claudeThinking, takesForcedTool, thinksOnRequest } from '../../../adapters/shared/claude-thinking.ts';

t.test('a model of tomorrow is asked as the newest are', async (t) => {
  t.same(claudeThinking('claude-of-tomorrow', { effort: 'max' }, undefined), { effort: 'max', warnings: [] });
  t.match(claudeThinking('claude-of-tomorrow', { effort: 'none' }, undefined).warnings, [{ field: 'config.reasoning.effort' }]);
});

t.test('an effort is sent as the nearest one that the model has', async (t) => {
  t.match(claudeThinking('claude-opus-4-6', { effort: 'xhigh' }, undefined), { effort: 'high', warnings: [{ field: 'config.reasoning.effort' }] });
});

t.test('an effort leaves half of maxTokens for the answer', async (t) => {
  const found = claudeThinking('claude-haiku-4-5', { effort: 'high' }, 8000);
  t.same(found.thinking, { type: 'enabled', budget_tokens: 4000 });
  t.ok(thinksOnRequest(found));
});

t.test('the newest models can not be forced to call a tool', async (t) => {
  t.notOk(takesForcedTool('global.anthropic.claude-sonnet-5-5'));
  t.ok(takesForcedTool('claude-sonnet-5'));
});
