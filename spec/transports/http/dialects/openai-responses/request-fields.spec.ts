import t from 'tap';
import { RESPONSES_FIELDS } from '../../../../../transports/http/dialects/openai-responses/request-fields.ts';
import { forbiddenField } from '../../../../support/key-requests.ts';

const hi = { model: 'm', input: [{ role: 'user', content: [{ type: 'input_text', text: 'hi' }] }] };

t.test('a request of a coding agent passes with a key that has every limit', async (t) => {
  const more = {
    instructions: 'Be brief.',
    tools: [
      { type: 'function', name: 'shell', parameters: { type: 'object' } },
      { type: 'custom', name: 'patch', format: { type: 'grammar', definition: 'x' } },
      { type: 'namespace', name: 'crm', tools: [{ type: 'function', name: 'find' }] },
      { type: 'local_shell' },
      { type: 'tool_search' },
    ],
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'high', summary: 'auto' },
    store: false,
    background: false,
    service_tier: 'flex',
    prompt_cache_key: 'k',
    client_metadata: { a: 'b' },
    text: { verbosity: 'low' },
  };
  t.equal(forbiddenField(RESPONSES_FIELDS, { ...hi, ...more }), undefined);
});

t.test('what goes on without the client, costs apart from the tokens or has a model of its own is refused', async (t) => {
  for (const [more, field] of [
    [{ background: true }, 'background'],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
    [{ multi_agent: { enabled: true } }, 'multi_agent'],
    [{ tools: [{ type: 'image_generation', model: 'dear' }] }, 'tools[0]'],
    [{ tools: [{ type: 'web_search' }] }, 'tools[0]'],
    [{ tools: [{ type: 'mcp', server_url: 'http://10.0.0.1' }] }, 'tools[0]'],
    [{ tools: [{ type: 'shell', environment: { type: 'container_auto' } }] }, 'tools[0].environment'],
    [{ tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'file_search' }] }] }, 'tools[0].tools[0]'],
    [{ input: [...hi.input, { type: 'additional_tools', role: 'developer', tools: [{ type: 'code_interpreter' }] }] }, 'input[1].tools[0]'],
    [{ reasoning: { mode: 'pro' } }, 'reasoning.mode'],
    [{ service_tier: 'priority' }, 'service_tier'],
  ] as const)
    t.equal(forbiddenField(RESPONSES_FIELDS, { ...hi, ...more }), field);
});

t.test('input that is stored at the provider is refused to a key with a cap', async (t) => {
  for (const [more, field] of [
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ conversation: 'conv_1' }, 'conversation'],
    [{ previous_response_id: null, conversation: null }, undefined],
  ] as const)
    t.equal(forbiddenField(RESPONSES_FIELDS, { ...hi, ...more }), field);
});
