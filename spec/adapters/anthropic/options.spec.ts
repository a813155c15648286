import t from 'tap';
import { createAnthropic } from '../../../adapters/anthropic/index.ts';
import { buildRequest } from '../../../adapters/anthropic/request.ts';
import type { AnthropicRequest } from '../../../adapters/anthropic/schema.ts';
import { toPrompt } from '../../../core/gateway/prompt.ts';
import type { ChatRequest } from '../../../core/index.ts';
import { settingsFor } from '../../support/adapter-call.ts';

const anthropic = createAnthropic();
const OLD = 'claude-haiku-4-5';
const NEW = 'claude-opus-5-5';
const TOOLS = [{ name: 'f' }];

function build(model: string, parts: Partial<ChatRequest>) {
  const prompt = toPrompt({ adapter: 'anthropic', model, messages: [{ role: 'user', content: 'hi' }], ...parts });
  const { body, warnings } = buildRequest({ model, prompt, settings: settingsFor(anthropic), stream: true });
  return { body: body as AnthropicRequest, fields: warnings.map(({ field }) => field) };
}

t.test('topP, topK and stop go to the models that take a temperature; to others only stop', async (t) => {
  const config = { topP: 0.5, topK: 3, stop: ['END', ' '] };
  const old = build(OLD, { config });
  t.match(old.body, { top_p: 0.5, top_k: 3, stop_sequences: ['END'] });
  t.same(old.fields, ['config.stop']);
  const fresh = build(NEW, { config });
  t.match(fresh.body, { stop_sequences: ['END'] });
  t.notOk('top_p' in fresh.body || 'top_k' in fresh.body);
  t.same(fresh.fields.sort(), ['config.stop', 'config.topK', 'config.topP']);
  t.same(build(OLD, { config: { temperature: 0.1, topP: 0.5 } }).fields, ['config.topP']);
  for (const stop of [undefined, [' ']]) t.notOk('stop_sequences' in build(OLD, { config: { topP: 0.5, ...(stop && { stop }) } }).body);
});

t.test('a tool choice, and no calls side by side', async (t) => {
  const chosen = (model: string, toolChoice: ChatRequest['toolChoice'], config = {}) =>
    build(model, { tools: TOOLS, ...(toolChoice && { toolChoice }), config });
  t.same(chosen(OLD, 'required').body.tool_choice, { type: 'any' });
  t.same(chosen(OLD, { name: 'f' }).body.tool_choice, { type: 'tool', name: 'f' });
  t.same(chosen(OLD, 'none').body.tool_choice, { type: 'none' });
  t.same(chosen(OLD, undefined, { parallelToolCalls: false }).body.tool_choice, { type: 'auto', disable_parallel_tool_use: true });
  t.equal(chosen(OLD, undefined, { parallelToolCalls: true }).body.tool_choice, undefined);
  t.same(chosen(NEW, 'required').body.tool_choice, { type: 'auto' });
  t.same(chosen(NEW, 'required').fields, ['toolChoice']);
});

t.test('a schema is the form of the answer; JSON without one is asked for in the system text', async (t) => {
  const schema = { type: 'object', properties: {}, additionalProperties: false };
  t.same(build(NEW, { config: { output: { type: 'json_schema', schema } } }).body.output_config, { format: { type: 'json_schema', schema } });
  const limited = build(NEW, { config: { output: { type: 'json_schema', schema: { type: 'integer', minimum: 1 } } } });
  t.match(limited, { body: { output_config: { format: { schema: { type: 'integer', description: '{minimum: 1}' } } } }, fields: ['config.output'] });
  const plain = build(NEW, { config: { output: { type: 'json' } } });
  t.match(plain.body.system, [{ text: /one JSON object/ }]);
  t.same(plain.fields, ['config.output']);
});

t.test('an effort, a budget or neither, by family of models', async (t) => {
  const fields = (model: string, reasoning: object, config = {}) => {
    const { body, fields } = build(model, { config: { reasoning, ...config } });
    return { thinking: body.thinking, effort: body.output_config?.effort, fields };
  };
  t.same(fields(NEW, { effort: 'xhigh', summary: true }), { thinking: { type: 'adaptive', display: 'summarized' }, effort: 'xhigh', fields: [] });
  t.same(fields(NEW, { effort: 'none' }), { thinking: undefined, effort: undefined, fields: ['config.reasoning.effort'] });
  t.same(fields('claude-opus-5', { effort: 'none' }).thinking, { type: 'disabled' });
  t.same(fields('claude-sonnet-5-5', { effort: 'none' }).thinking, { type: 'between_tools' });
  t.same(fields('claude-opus-4-7', { effort: 'minimal' }), { thinking: { type: 'adaptive' }, effort: 'low', fields: ['config.reasoning.effort'] });
  t.same(fields(NEW, { budgetTokens: 2000 }).fields, ['config.reasoning.budgetTokens']);
  t.same(fields(OLD, { effort: 'low' }), { thinking: { type: 'enabled', budget_tokens: 2048 }, effort: undefined, fields: [] });
  t.same(fields(OLD, { budgetTokens: 9000 }, { maxTokens: 5000 }), {
    thinking: { type: 'enabled', budget_tokens: 4999 },
    effort: undefined,
    fields: ['config.reasoning.budgetTokens'],
  });
  t.same(fields(OLD, { effort: 'high' }, { maxTokens: 100 }), { thinking: undefined, effort: undefined, fields: ['config.reasoning'] });
  t.same(fields('claude-3-5-sonnet-20241022', { effort: 'high' }).fields, ['config.reasoning']);
  t.equal(build(OLD, { config: { reasoning: { effort: 'low' } } }).body.max_tokens, 4096 + 2048);
});

t.test('thinking on request stands beside no temperature, no forced call and no tool loop that began without it', async (t) => {
  const reasoning = { effort: 'low' } as const;
  const warm = build(OLD, { config: { reasoning, temperature: 0.5 } });
  t.same(warm.fields, ['config.temperature']);
  t.equal(warm.body.temperature, undefined);
  t.equal(build(OLD, { config: { reasoning }, tools: TOOLS, toolChoice: 'required' }).body.thinking, undefined);
  const messages: ChatRequest['messages'] = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', toolCalls: [{ id: 'a', name: 'f', arguments: {} }] },
    { role: 'tool', toolResults: [{ toolCallId: 'a', content: 'x' }] },
  ];
  const loop = build(OLD, { messages, config: { reasoning }, tools: TOOLS });
  t.equal(loop.body.thinking, undefined);
  t.same(loop.fields, ['config.reasoning']);
});

t.test('the user and the tier; a tier of another provider is left out', async (t) => {
  t.match(build(NEW, { config: { user: 'u1', serviceTier: 'standard_only' } }).body, { metadata: { user_id: 'u1' }, service_tier: 'standard_only' });
  t.same(build(NEW, { config: { serviceTier: 'flex' } }).fields, ['config.serviceTier']);
});
