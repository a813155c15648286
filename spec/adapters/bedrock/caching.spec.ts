import t from 'tap';
import { addCachePoints } from '../../../adapters/bedrock/caching.ts';
import { toPrompt } from '../../../core/gateway/prompt.ts';

const CLAUDE = 'us.anthropic.claude-sonnet-4-5-v1:0';

t.test('without a mark nothing is added, and a marked system text has a cache point behind it', async (t) => {
  for (const [content, expected] of [
    ['Be brief.', [{ text: 'Be brief.' }]],
    [[{ type: 'text', text: 'Be brief.', cache: '1h' }], [{ text: 'Be brief.' }, { cachePoint: { type: 'default', ttl: '1h' } }]],
  ] as const) {
    const messages = [
      { role: 'system' as const, content },
      { role: 'user' as const, content: 'hi' },
    ];
    const prompt = toPrompt({ adapter: 'bedrock', model: CLAUDE, messages });
    const body = { system: [{ text: 'Be brief.' }], messages: [], inferenceConfig: { maxTokens: 1 } };
    addCachePoints(body as never, CLAUDE, prompt);
    t.same(body.system, expected);
  }
});
