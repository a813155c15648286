import t from 'tap';
import { addCachePoints } from '../../../adapters/bedrock/caching.ts';
import { translate } from '../../../adapters/bedrock/request.ts';
import { toPrompt } from '../../../core/gateway/prompt.ts';
import type { ChatRequest } from '../../../core/index.ts';

const CLAUDE = 'us.anthropic.claude-sonnet-4-5-v1:0';

/** A request with its points. */
function translated(model: string, request: ChatRequest) {
  const prompt = toPrompt(request);
  const { body } = translate(model, prompt);
  return { body, warnings: addCachePoints(body, model, prompt) };
}

const MARKED: ChatRequest = {
  adapter: 'bedrock',
  model: 'm',
  messages: [
    { role: 'system', content: 'First.' },
    {
      role: 'system',
      content: [
        { type: 'text', text: 'Second.', cache: '1h' },
        { type: 'text', text: 'Third.' },
        { type: 'text', text: ' ', cache: '5m' },
      ],
    },
    { role: 'user', content: 'hi' },
  ],
  tools: [{ name: 'f', cache: '5m' }],
};

t.test('each part of the system keeps its own mark; one behind a blank part is behind the part before it', async (t) => {
  const { body, warnings } = translated(CLAUDE, MARKED);
  t.same(body.system, [
    { text: 'First.' },
    { text: 'Second.' },
    { cachePoint: { type: 'default', ttl: '1h' } },
    { text: 'Third.' },
    { cachePoint: { type: 'default' } },
  ]);
  t.same(warnings, []);
});

t.test('an hour is five minutes for models without it, and Nova caches no tools: both are warned of', async (t) => {
  const { body, warnings } = translated('amazon.nova-pro-v1:0', MARKED);
  t.notMatch(JSON.stringify(body), /ttl/);
  t.equal(body.toolConfig?.tools.length, 1);
  t.same(
    warnings.map(({ field }) => field),
    ['tools', 'messages'],
  );
});

t.test('with cacheControl the last elements are marked too, unless they are', async (t) => {
  const { body } = translated(CLAUDE, { ...MARKED, config: { cacheControl: true } });
  t.equal(JSON.stringify(body.system).split('cachePoint').length - 1, 2);
  t.same(body.messages[0]?.content, [{ text: 'hi' }, { cachePoint: { type: 'default' } }]);
});

t.test('four points are kept, and of more the first ones go, with a warning', async (t) => {
  const marked = (count: number): ChatRequest => {
    const content = Array.from({ length: count }, (_, index) => ({ type: 'text' as const, text: `${index}.`, cache: '5m' as const }));
    return { adapter: 'bedrock', model: 'm', messages: [{ role: 'user', content }] };
  };
  for (const [count, warned] of [
    [4, []],
    [5, ['messages']],
  ] as const) {
    const { body, warnings } = translated(CLAUDE, marked(count));
    const points = body.messages[0]?.content.flatMap((item, index, all) => ('cachePoint' in item ? [all[index - 1]] : []));
    t.same(points, [{ text: `${count - 4}.` }, { text: `${count - 3}.` }, { text: `${count - 2}.` }, { text: `${count - 1}.` }]);
    t.same(
      warnings.map(({ field }) => field),
      warned,
    );
  }
});

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
