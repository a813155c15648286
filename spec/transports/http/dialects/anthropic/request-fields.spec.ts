import t from 'tap';
import { MESSAGES_FIELDS } from '../../../../../transports/http/dialects/anthropic/request-fields.ts';
import { forbiddenField } from '../../../../support/key-requests.ts';

const hi = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };

t.test('a request of a coding agent passes with a key that has every limit', async (t) => {
  const more = {
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      ...hi.messages,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { tool: { type: 'x' }, content: 'x' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'ok' }] }] },
    ],
    tools: [
      { name: 'f', input_schema: { type: 'object' } },
      { type: 'custom', name: 'g', input_schema: { type: 'object' } },
      { type: 'bash_20250124', name: 'bash' },
    ],
    thinking: { type: 'enabled', budget_tokens: 1024 },
    context_management: { edits: [{ type: 'clear_thinking_20251015' }, { type: 'clear_tool_uses_20250919' }] },
    metadata: { user_id: 'u' },
    output_config: { effort: 'high' },
    service_tier: 'auto',
    speed: 'standard',
  };
  t.equal(forbiddenField(MESSAGES_FIELDS, { ...hi, ...more }), undefined);
});

t.test('what costs apart from the tokens, at another price or from another model is refused', async (t) => {
  const system = (tool: object) => ({ messages: [...hi.messages, { role: 'system', content: [{ type: 'tool_addition', tool }] }] });
  for (const [more, field] of [
    [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools[0]'],
    [{ tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }, 'tools[0]'],
    [{ tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }, 'tools[0]'],
    [{ tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'dear' }] }, 'tools[0]'],
    [{ tools: [{ type: 'mcp_toolset', mcp_server_name: 's' }] }, 'tools[0]'],
    [{ mcp_servers: [{ type: 'url', url: 'http://10.0.0.1', name: 's' }] }, 'mcp_servers'],
    [{ container: 'c' }, 'container'],
    [{ fallbacks: [{ model: 'dear' }] }, 'fallbacks'],
    [{ fallbacks: 'default' }, 'fallbacks'],
    [{ compaction: { type: 'summarize' } }, 'compaction'],
    [{ context_management: { edits: [{ type: 'compact_20260112' }] } }, 'context_management.edits[0]'],
    [{ speed: 'fast' }, 'speed'],
    [{ inference_geo: 'us' }, 'inference_geo'],
    [{ service_tier: 'dear' }, 'service_tier'],
    [system({ type: 'tool_definition', definition: { type: 'web_search_20250305' } }), 'messages[1].content[0].tool.definition'],
  ] as const)
    t.equal(forbiddenField(MESSAGES_FIELDS, { ...hi, ...more }), field);
  t.equal(forbiddenField(MESSAGES_FIELDS, { ...hi, ...system({ type: 'tool_reference', name: 'f' }) }), undefined);
  t.equal(forbiddenField(MESSAGES_FIELDS, { ...hi, billing_policy: { type: 'billing_policy', bill_to: 'user_profile' } }, {}), 'billing_policy');
});
