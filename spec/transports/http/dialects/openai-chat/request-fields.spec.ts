import t from 'tap';
import { CHAT_FIELDS } from '../../../../../transports/http/dialects/openai-chat/request-fields.ts';
import { forbiddenField } from '../../../../support/key-requests.ts';

const hi = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

t.test('a usual request passes with a key that has every limit', async (t) => {
  const more = {
    stream: true,
    stream_options: { include_usage: true },
    tools: [
      { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: { type: { type: 'string' } } } } },
      { type: 'custom', custom: { name: 'run' } },
    ],
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } },
    service_tier: 'auto',
    modalities: ['text'],
    metadata: { a: 'b' },
    prediction: { type: 'content', content: 'x' },
    store: false,
  };
  t.equal(forbiddenField(CHAT_FIELDS, { ...hi, ...more }), undefined);
});

t.test('what costs apart from the tokens, at another price or from another model is refused', async (t) => {
  for (const [more, field] of [
    [{ web_search_options: {} }, 'web_search_options'],
    [{ tools: [{ type: 'builtin_function', function: { name: '$web_search' } }] }, 'tools[0]'],
    [{ modalities: ['text', 'audio'] }, 'modalities'],
    [{ service_tier: 'priority' }, 'service_tier'],
    [{ moderation: { model: 'm' } }, 'moderation'],
    [{ background: true }, 'background'],
    [{ preset: 'research' }, 'preset'],
    [{ search: true }, 'search'],
    [{ use_search: true }, 'use_search'],
    [{ search_mode: 'academic' }, 'search_mode'],
    [{ guardrails: ['g'] }, 'guardrails'],
    [{ agent: { type: 'agent_reference', name: 'a' } }, 'agent'],
    [{ agent_reference: { name: 'a' } }, 'agent_reference'],
    [{ skills: [{ skill_id: 's' }] }, 'skills'],
    [{ tools: { a: { type: 'web_search' } } }, 'tools'],
    [{ venice_parameters: { enable_web_search: 'on' } }, 'venice_parameters.enable_web_search'],
  ] as const)
    t.equal(forbiddenField(CHAT_FIELDS, { ...hi, ...more }), field);
});

t.test('with a cap in tokens, what a request brings for other services counts as what it is', async (t) => {
  const tokens = { tokensPerDay: 1 };
  for (const [more, field] of [
    [{ extra_body: { plugins: [{ id: 'web' }] } }, 'extra_body.plugins'],
    [{ extra_body: { stream_options: { include_usage: false } } }, 'extra_body.stream_options'],
    [{ extra_body: { web_search_options: {} } }, 'extra_body.web_search_options'],
    [{ extra_body: { tools: [{ type: 'web_search' }] } }, 'extra_body.tools[0]'],
    [{ extra_body: { google: { cached_content: 'cachedContents/1' } } }, 'extra_body.google.cached_content'],
    [{ cachedContent: 'cachedContents/1' }, 'cachedContent'],
    [{ provider_options: { gateway: { tools: [{ type: 'web_search' }] } } }, 'provider_options.gateway.tools[0]'],
    [{ preset: 'research' }, 'preset'],
    [{ search: false, use_search: false, extra_body: { google: { thinking_config: { thinking_level: 'low' } } } }, undefined],
    [{ provider_options: { gateway: { order: ['a'] }, anthropic: { thinking: { type: 'enabled' } } } }, undefined],
    [{ venice_parameters: { include_venice_system_prompt: false, enable_web_search: 'off' } }, undefined],
  ] as const)
    t.equal(forbiddenField(CHAT_FIELDS, { ...hi, ...more }, tokens), field);
});

t.test('no key brings a store of data with its own address and secret', async (t) => {
  const sources = [{ type: 'azure_search', parameters: { endpoint: 'https://evil.example', authentication: { key: 'x' } } }];
  const free = { usdPerDay: null, tokensPerDay: null, models: null };
  for (const [more, field] of [
    [{ data_sources: sources }, 'data_sources'],
    [{ dataSources: sources }, 'dataSources'],
    [{ extra_body: { data_sources: sources } }, 'extra_body.data_sources'],
  ] as const)
    t.equal(forbiddenField(CHAT_FIELDS, { ...hi, ...more }, free), field);
});
