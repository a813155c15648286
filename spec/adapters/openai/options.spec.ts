import t from 'tap';
import { chatOptions, responsesOptions } from '../../../adapters/openai/options.ts';
import type { PromptOptions } from '../../../core/index.ts';

const PLAIN = 'gpt-4.1';
const REASONS = 'gpt-6-sol';
const ALL: PromptOptions = {
  toolChoice: { name: 'f' },
  parallelToolCalls: false,
  topP: 0.5,
  stop: ['END'],
  seed: 1,
  presencePenalty: 0.1,
  frequencyPenalty: 0.2,
  serviceTier: 'flex',
  user: 'u1',
  metadata: { a: 'b' },
  cacheKey: 'k',
  output: { type: 'json_schema', name: 'person', schema: { type: 'object' }, strict: true },
  reasoning: { effort: 'low', summary: true, budgetTokens: 100 },
};
const fieldsOf = ({ warnings }: { readonly warnings: readonly { readonly field: string }[] }) => warnings.map(({ field }) => field);

t.test('no options make no fields', async (t) => {
  t.same(responsesOptions(PLAIN, undefined, true), { fields: {}, warnings: [] });
  t.same(chatOptions(PLAIN, undefined, true, true), { fields: {}, warnings: [] });
});

t.test('Responses takes what it knows, and the rest is a warning', async (t) => {
  const { fields, warnings } = responsesOptions(PLAIN, ALL, true);
  t.same(fields, {
    tool_choice: { type: 'function', name: 'f' },
    parallel_tool_calls: false,
    top_p: 0.5,
    service_tier: 'flex',
    safety_identifier: 'u1',
    metadata: { a: 'b' },
    prompt_cache_key: 'k',
    text: { format: { type: 'json_schema', name: 'person', schema: { type: 'object' }, strict: true } },
  });
  t.same(fieldsOf({ warnings }), ['config.stop', 'config.seed', 'config.presencePenalty', 'config.frequencyPenalty', 'config.reasoning']);
});

t.test('a reasoning model takes an effort and no sampling', async (t) => {
  const responses = responsesOptions(REASONS, ALL, true);
  t.same(responses.fields.reasoning, { effort: 'low', summary: 'auto' });
  t.equal(responses.fields.top_p, undefined);
  t.same(fieldsOf(responses).sort(), [
    'config.frequencyPenalty',
    'config.presencePenalty',
    'config.reasoning.budgetTokens',
    'config.seed',
    'config.stop',
    'config.topP',
  ]);
  t.equal(responsesOptions(REASONS, { reasoning: { budgetTokens: 100 } }, true).fields.reasoning, undefined, 'a budget alone asks for nothing');
  const chat = chatOptions(REASONS, ALL, true, true);
  t.equal(chat.fields.reasoning_effort, 'low');
  t.equal(chat.fields.seed, undefined);
  t.ok(fieldsOf(chat).includes('config.topP'));
});

t.test('Chat Completions has its own names, and other servers theirs', async (t) => {
  t.same(chatOptions(PLAIN, ALL, true, true).fields, {
    tool_choice: { type: 'function', function: { name: 'f' } },
    parallel_tool_calls: false,
    top_p: 0.5,
    stop: ['END'],
    seed: 1,
    presence_penalty: 0.1,
    frequency_penalty: 0.2,
    service_tier: 'flex',
    safety_identifier: 'u1',
    metadata: { a: 'b' },
    prompt_cache_key: 'k',
    response_format: { type: 'json_schema', json_schema: { name: 'person', schema: { type: 'object' }, strict: true } },
  });
  t.match(chatOptions('qwen3', ALL, true, false).fields, { user: 'u1', reasoning_effort: 'low', seed: 1, safety_identifier: undefined });
});

t.test('without tools there is nothing to choose, and any JSON object has no schema', async (t) => {
  t.same(responsesOptions(PLAIN, { toolChoice: 'none', parallelToolCalls: true, output: { type: 'json' } }, false).fields, {
    text: { format: { type: 'json_object' } },
  });
  t.same(chatOptions(PLAIN, { toolChoice: 'none', output: { type: 'json' } }, false, true).fields, { response_format: { type: 'json_object' } });
});

t.test('an o-series model gets the nearest effort that it takes, with a warning', async (t) => {
  for (const [asked, sent] of [
    ['none', 'low'],
    ['minimal', 'low'],
    ['medium', 'medium'],
    ['xhigh', 'high'],
    ['max', 'high'],
  ] as const) {
    const options = { reasoning: { effort: asked } } as const;
    const warnings = asked === sent ? [] : [{ field: 'config.reasoning.effort', message: `o3 does not take ${asked}, so ${sent} was sent.` }];
    t.match(responsesOptions('o3', options, false).fields, { reasoning: { effort: sent } }, asked);
    t.same(responsesOptions('o3', options, false).warnings, warnings, asked);
  }
  t.match(responsesOptions(REASONS, { reasoning: { effort: 'none' } }, false), { fields: { reasoning: { effort: 'none' } }, warnings: [] });
});
