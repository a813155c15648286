import t from 'tap';
import { CHAT_FIELDS } from '../../../../../transports/http/dialects/openai-chat/request-fields.ts';
import { RESPONSES_FIELDS } from '../../../../../transports/http/dialects/openai-responses/request-fields.ts';
import { SERVICE_FIELDS } from '../../../../../transports/http/dialects/shared/service-fields.ts';
import { forbiddenField } from '../../../../support/key-requests.ts';

t.test('names are in lower case, as they are looked up', async (t) => {
  for (const name of Object.keys(SERVICE_FIELDS)) t.equal(name, name.toLowerCase());
});

t.test('no key gives an address or a secret to a proxy, however it is written', async (t) => {
  for (const name of [
    'api_base',
    'base_url',
    'baseURL',
    'api_key',
    'apiKey',
    'user_config',
    'extra_headers',
    'aws_role_name',
    'vertex_credentials',
    'kv_transfer_params',
    'openai_api_base',
    'openai_base_url',
    'anthropicBaseURL',
    'OPENAI_API_KEY',
    'azure_endpoint',
    'endpoint_url',
    'custom-endpoint',
    'proxy',
    'proxies',
    'proxy_url',
    'https_proxy',
    'url',
    'uri',
    'host',
    'hostname',
    'server_url',
    'webhook',
    'webhook.url',
    'callback',
    'callbacks',
    'callback_url',
    'success_callback',
  ])
    t.equal(forbiddenField(SERVICE_FIELDS, { [name]: 'x' }, {}), name);
});

t.test('what content and tools call a URL or a host is free', async (t) => {
  const EVERYWHERE = { url: 'https://a.example', host: 'a', proxy: 'b', server_url: 'https://a.example', callback_url: 'c', webhook: 'd' };
  const tool = { type: 'function', function: { name: 'f', parameters: { properties: { ...EVERYWHERE, openai_api_base: {} } } }, ...EVERYWHERE };
  const content = [
    { type: 'image_url', image_url: { url: 'https://a.example/a.png' } },
    { type: 'input_file', file_url: 'https://a.example/a.pdf' },
  ];
  t.equal(forbiddenField(SERVICE_FIELDS, { tools: [tool], messages: [{ role: 'user', content }] }, {}), undefined);
});

t.test('no key with a list of models names further ones to a router', async (t) => {
  for (const [name, value] of [
    ['models', ['dear']],
    ['route', 'fallback'],
    ['provider', { order: ['dear'] }],
    ['preset', 'dear'],
    ['transforms', ['middle-out']],
    ['plugins', [{ id: 'web' }]],
    ['fallbacks', [{ model: 'dear' }]],
    ['fallbackModels', ['dear']],
    ['extra-body', { models: ['dear'] }],
  ] as const) {
    t.equal(forbiddenField(SERVICE_FIELDS, { [name]: value }, { models: ['*'] }), name);
    t.equal(forbiddenField(SERVICE_FIELDS, { [name]: value }, {}), undefined, name);
  }
});

t.test('no key with a cap switches on what costs besides the tokens, nor the usage off', async (t) => {
  for (const [name, value] of [
    ['enable_enhancement', true],
    ['forceSearchEnhancement', true],
    ['enable_deep_search', true],
    ['use_web_search', true],
    ['internetSearch', { mode: 1 }],
    ['webSearchEnabled', true],
    ['with_search_enhance', true],
    ['features', { web_search: true }],
    ['tool_ids', [1]],
    ['research', { web_search: {} }],
    ['enable_code_interpreter', true],
    ['scraping', true],
    ['youtube_transcripts', true],
    ['connectors', [{ id: 'web-search' }]],
    ['agent_id', 'x'],
    ['bot_id', 'x'],
    ['default_fallbacks', ['x']],
    ['fallback_providers', ['x']],
  ] as const)
    t.equal(forbiddenField(SERVICE_FIELDS, { [name]: value }, { tokensPerDay: 1 }), name);
  const search = { googleSearch: {} };
  t.equal(forbiddenField(CHAT_FIELDS, { tools: [search] }, { tokensPerDay: 1 }), 'tools[0].googleSearch');
  t.equal(forbiddenField(RESPONSES_FIELDS, { tools: [search] }, { tokensPerDay: 1 }), 'tools[0].googleSearch');
  t.equal(forbiddenField(RESPONSES_FIELDS, { input: [{ tools: [search] }] }, { tokensPerDay: 1 }), 'input[0].tools[0].googleSearch');
  t.equal(forbiddenField(SERVICE_FIELDS, { safety_model: 'x' }, { usdPerDay: 1 }), 'safety_model');
});

t.test('no key with a cap brings what is stored at a service, however it names it', async (t) => {
  for (const name of ['previous_response_id', 'previousResponseId', 'conversation', 'conversation_id', 'thread_id', 'memory', 'prompt_id', 'cachedContent']) {
    t.equal(forbiddenField(SERVICE_FIELDS, { [name]: 'x' }, { tokensPerDay: 1 }), name);
    t.equal(forbiddenField(SERVICE_FIELDS, { [name]: 'x' }, {}), undefined, name);
  }
});

t.test('how an answer is written is free for every key', async (t) => {
  const body = {
    guided_json: { type: 'object' },
    chat_template_kwargs: { mode: 'x' },
    reasoning: { effort: 'low' },
    min_p: 0.1,
    background: false,
    enable_search: false,
  };
  t.equal(forbiddenField(SERVICE_FIELDS, body), undefined);
});
