import t from 'tap';
import {
  alternating,
  applyQuirks,
  callIdsOf,
  editForwarded,
  forwardWarnings,
  mustTranslate,
  sessionHeader,
  withoutDropped,
} from '../../../adapters/openai/quirks.ts';
import type { ChatCompletionsRequest } from '../../../adapters/openai/schema.ts';
import { endpointOf, type ForwardedRequest, type Prompt, type PromptOptions, type Quirks } from '../../../core/index.ts';

const prompt = (options: PromptOptions, temperature?: number) => ({ options, temperature, warnings: [] }) as unknown as Prompt;
const bodyWith = (fields: object) => ({ model: 'm', messages: [], ...fields }) as ChatCompletionsRequest;
const forwarded = (fields: object): ForwardedRequest => ({
  path: '',
  search: '',
  headers: {},
  hidesUsage: false,
  body: Buffer.from(JSON.stringify(fields)),
  fields: { ...fields },
});

t.test('what a server does not take is left out, with one warning for each option that was asked for', async (t) => {
  const { prompt: kept, warnings } = withoutDropped(prompt({ seed: 1, topP: 1 }, 0.5), { drop: ['seed', 'temperature', 'logprobs'] });
  t.same([kept.options, kept.temperature], [{ topP: 1 }, undefined]);
  t.same(
    warnings.map(({ field }) => field),
    ['config.seed', 'config.temperature'],
  );
  const asked = prompt({ topP: 1 });
  t.equal(withoutDropped(asked, { drop: ['seed'] }).prompt, asked);
});

t.test('reasoning is asked for in the words of the server, and what it has no word for is told', async (t) => {
  for (const [reasoning, asked, fields, told] of [
    ['openrouter', { effort: 'high' }, { reasoning: { effort: 'high' } }, []],
    ['openrouter', { budgetTokens: 5 }, { reasoning: { max_tokens: 5 } }, []],
    ['thinking', { effort: 'none' }, { thinking: { type: 'disabled' } }, []],
    ['thinking', { effort: 'high' }, { thinking: { type: 'enabled' } }, ['config.reasoning.effort']],
    ['thinking_effort', { effort: 'high' }, { thinking: { type: 'enabled' }, reasoning_effort: 'high' }, []],
    ['thinking_effort', { effort: 'none' }, { thinking: { type: 'disabled' } }, []],
    ['thinking_effort', { budgetTokens: 5 }, { thinking: { type: 'enabled' } }, ['config.reasoning.budgetTokens']],
    ['enabled', { budgetTokens: 5 }, { reasoning: { enabled: true } }, ['config.reasoning.budgetTokens']],
    ['enable_thinking', { budgetTokens: 5 }, { enable_thinking: true, thinking_budget: 5 }, []],
    ['enable_thinking', { budgetTokens: 0 }, { enable_thinking: false }, []],
    ['template', { effort: 'low' }, { chat_template_args: { enable_thinking: true } }, ['config.reasoning.effort']],
    ['none', { effort: 'low' }, {}, ['config.reasoning']],
  ] as const) {
    const body = bodyWith({ reasoning_effort: 'low' });
    const warnings = applyQuirks(body, { reasoning }, asked);
    t.same(body, { model: 'm', messages: [], ...fields }, reasoning);
    t.same(
      warnings.map(({ field }) => field),
      told,
      reasoning,
    );
  }
  const usual = bodyWith({ reasoning_effort: 'low', max_tokens: 5, stream_options: { include_usage: true }, tool_choice: 'required' });
  t.same([applyQuirks(usual, {}, { effort: 'low' }), usual.reasoning_effort, usual.max_tokens], [[], 'low', 5], 'without quirks, nothing changes');
});

t.test('where a server takes some efforts alone, the nearest is sent, and none only for none', async (t) => {
  const efforts = ['none', 'high'] as const;
  for (const [asked, sent] of [
    ['none', 'none'],
    ['minimal', 'high'],
    ['low', 'high'],
    ['high', 'high'],
    ['max', 'high'],
  ] as const) {
    const body = bodyWith({ reasoning_effort: asked });
    const warnings = applyQuirks(body, { efforts }, { effort: asked });
    t.equal(body.reasoning_effort, sent, asked);
    t.equal(warnings.length, asked === sent ? 0 : 1, asked);
    const passed = editForwarded({ efforts }, forwarded({ reasoning_effort: asked })).body.toString();
    t.same(JSON.parse(passed), { reasoning_effort: sent }, `${asked} in bytes that pass`);
  }
  const own = forwarded({ reasoning_effort: 'own word' });
  t.equal(editForwarded({ efforts }, own).body, own.body, "a word that is none of ours is the server's to refuse");
  t.equal(editForwarded({ efforts: ['low', 'medium'] }, forwarded({ reasoning_effort: 'none' })).body.toString(), '{"reasoning_effort":"low"}');
});

t.test('neighbours of one role are joined for a server that wants roles to alternate, and nothing of them is lost', async (t) => {
  const image = { type: 'image_url' as const, image_url: { url: 'data:,' } };
  const call = { id: 'c', type: 'function' as const, function: { name: 'f', arguments: '{}' } };
  t.same(
    alternating([
      { role: 'system', content: 's' },
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
      { role: 'user', content: [image] },
      { role: 'assistant', content: 'x' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: '1' },
      { role: 'tool', tool_call_id: 'd', content: '2' },
    ]),
    [
      { role: 'system', content: 's' },
      { role: 'user', content: [{ type: 'text', text: 'a\n\nb' }, image] },
      { role: 'assistant', content: 'x', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: '1' },
      { role: 'tool', tool_call_id: 'd', content: '2' },
    ],
  );
});

t.test('ids of calls become ids that the server takes, the same for the same call', async (t) => {
  const { allowed, make = String } = callIdsOf({ callIds: 'alnum9' });
  for (const id of ['call_1', 'x'.repeat(100), '']) t.match(make(id), allowed);
  t.equal(make('a'), make('a'));
  t.not(make('a'), make('b'));
  t.equal(callIdsOf({}).make, undefined);
});

t.test('a request whose messages would have to change is translated', async (t) => {
  const needs = (quirks: Quirks, fields: object, models = {}) => mustTranslate(endpointOf('gpu', true, { quirks, models }), 'm', { ...fields });
  const call = { id: 'call_long', type: 'function', function: { name: 'f', arguments: '{}' } };
  for (const [quirks, fields, wanted] of [
    [{}, { messages: [{ role: 'developer' }, { role: 'assistant', tool_calls: [call] }] }, false],
    [{ developerRole: false }, { messages: [{ role: 'developer' }] }, true],
    [{ developerRole: false }, { messages: [{ role: 'system' }] }, false],
    [{ reasoningBack: 'reasoning_content' }, { messages: [{ role: 'assistant', reasoning_content: '' }] }, false],
    [{ reasoningBack: 'reasoning_content' }, { messages: [{ role: 'assistant' }] }, true],
    [{ callIds: 'alnum9' }, { messages: [{ role: 'assistant', tool_calls: [call] }] }, true],
    [{ callIds: 'alnum9' }, { messages: [{ role: 'tool', tool_call_id: 'call_long' }] }, true],
    [{ callIds: 'alnum9' }, { messages: [{ role: 'assistant', tool_calls: [{ ...call, id: 'abcDEF123' }] }] }, false],
    [{ strictTools: false }, { tools: [{ function: { strict: true } }] }, true],
    [{ images: false }, { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, true],
    [{ images: false }, { messages: 'odd', tools: 5 }, false],
    [{ messageNames: false }, { messages: [{ role: 'user', name: 'ada' }] }, true],
    [{ messageNames: false }, { messages: [{ role: 'user' }, { role: 'user' }] }, false],
    [{ alternatingRoles: true }, { messages: [{ role: 'user' }, { role: 'user' }] }, true],
    [{ alternatingRoles: true }, { messages: [{ role: 'user', name: 'ada' }, { role: 'assistant' }, { role: 'tool' }, { role: 'tool' }] }, false],
  ] as const)
    t.equal(needs(quirks, fields), wanted, JSON.stringify([quirks, fields]));
  t.equal(needs({}, { messages: [{ content: [{ type: 'image_url' }] }] }, { m: { images: false } }), true);
});

t.test('a request that passes is edited in its top-level members alone', async (t) => {
  const edited = (quirks: Quirks, fields: object) => JSON.parse(editForwarded(quirks, forwarded(fields)).body.toString());
  t.same(edited({ maxTokensField: 'max_tokens' }, { max_completion_tokens: 5, max_tokens: 6 }), { max_tokens: 6 });
  t.same(edited({ maxTokensField: 'max_completion_tokens' }, { max_tokens: 6 }), { max_completion_tokens: 6 });
  t.same(edited({ reasoning: 'thinking' }, { reasoning_effort: 'none', messages: [{ reasoning_effort: 1 }] }), {
    thinking: { type: 'disabled' },
    messages: [{ reasoning_effort: 1 }],
  });
  t.same(edited({ reasoning: 'thinking_effort' }, { reasoning_effort: 'high' }), { reasoning_effort: 'high', thinking: { type: 'enabled' } });
  t.same(edited({ reasoning: 'thinking_effort' }, { reasoning_effort: 'none' }), { thinking: { type: 'disabled' } });
  t.same(
    edited({ reasoning: 'thinking' }, { reasoning_effort: 'high', thinking: 'own' }),
    { thinking: 'own' },
    "what the client says itself stays the client's",
  );
  t.same(edited({ reasoning: 'none', drop: ['user', 'output'] }, { reasoning_effort: 'high', user: 'u', safety_identifier: 's', response_format: {}, x: 1 }), {
    x: 1,
  });
  t.same(
    forwardWarnings({ drop: ['user'], reasoning: 'none' }, { user: 'u', reasoning_effort: 'low' }).map(({ field }) => field),
    ['user', 'reasoning_effort'],
  );
  const request = forwarded({ messages: [] });
  t.equal(editForwarded({ drop: ['seed'], reasoning: 'thinking' }, request).body, request.body);
  t.same(editForwarded({ sessionHeader: 'x-session' }, forwarded({ prompt_cache_key: 'k1' })).headers, { 'x-session': 'k1' });
  for (const key of ['a b', 'a\nb', '', 5, undefined, 'x'.repeat(300)]) t.same(sessionHeader({ sessionHeader: 'x-session' }, key), {}, String(key));
});
