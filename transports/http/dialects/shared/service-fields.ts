// Fields that services take beside those of the protocols that they speak: an address may belong to a proxy, a router of models or a server of one's own.
// Pure: no I/O.
import type { FieldRule, RequestFields } from '../../../../core/index.ts';

/** A field that decides where a call goes, by which secret, or who pays for it. */
export const ADDRESS: FieldRule = { decides: 'address' };
/** The same at the top of a request alone: deeper, the word means something else, such as the region where a user is, or the URL of an image or of a server of tools. */
const PLACE: FieldRule = { decides: 'address', isCommonWord: true };
/** A field that can name further models. */
export const MODELS: FieldRule = { decides: 'models' };
/** The same, for a field that can say of each where it is. */
const MODEL_REQUESTS: FieldRule = { decides: 'models', holdsRequests: true };
/** A field whose costs are not among the tokens of the answer. */
export const SPENDS: FieldRule = { decides: 'spends' };
/** The same, for other models to ask, which can say of each where it is. */
export const FALLBACKS: FieldRule = { decides: 'spends', holdsRequests: true };
/** A field that brings input of the provider's store. */
export const UNSEEN: FieldRule = { decides: 'unseen' };
/** A field like `SPENDS` that can be switched off. */
const SWITCH: FieldRule = { decides: 'spends', except: [false] };

/** What a tool of OpenAI's protocols consists of. Proxies take a search of Google's, or other tools of their own, by the name of a further member. */
export const TOOL_PARTS = [
  'cache_control',
  'custom',
  'definition',
  'format',
  'function',
  'input_schema',
  'metadata',
  'output_schema',
  'parameters',
  'tool',
] as const;

/** Such fields as proxies, routers, hosts of open models and servers for one's own machine document them. A protocol's own entry wins. */
export const SERVICE_FIELDS: RequestFields = {
  api_base: ADDRESS,
  api_endpoint: ADDRESS,
  api_host: ADDRESS,
  api_key: ADDRESS,
  api_token: ADDRESS,
  api_url: ADDRESS,
  api_version: PLACE,
  auth_token: ADDRESS,
  authorization: PLACE,
  base_url: ADDRESS,
  byok: ADDRESS,
  credentials: PLACE,
  '*_api_base': ADDRESS,
  '*_api_key': ADDRESS,
  '*_base_url': ADDRESS,
  endpoint: PLACE,
  '*_endpoint': PLACE,
  host: PLACE,
  hostname: PLACE,
  url: PLACE,
  uri: PLACE,
  '*_url': PLACE,
  proxy: PLACE,
  proxies: PLACE,
  '*_proxy': PLACE,
  // Where a service sends the answer, or word of it.
  webhook: PLACE,
  callback: PLACE,
  callbacks: PLACE,
  '*_callback': PLACE,
  region: PLACE,
  region_name: ADDRESS,
  access_key_id: ADDRESS,
  secret_access_key: ADDRESS,
  session_token: ADDRESS,
  organization: PLACE,
  litellm_credential_name: ADDRESS,
  litellm_params: ADDRESS,
  user_config: ADDRESS,
  'aws_*': ADDRESS,
  'azure_*': ADDRESS,
  'vertex_*': ADDRESS,
  headers: PLACE,
  custom_headers: ADDRESS,
  default_headers: ADDRESS,
  extra_headers: ADDRESS,
  extra_query: ADDRESS,
  data_sources: PLACE, // with addresses and secrets of their own
  kv_transfer_params: ADDRESS,
  bootstrap_host: ADDRESS,
  bootstrap_port: ADDRESS,

  models: MODELS,
  model_list: MODEL_REQUESTS,
  route: MODELS,
  router: MODELS,
  provider: MODELS,
  provider_options: MODEL_REQUESTS,
  custom_llm_provider: MODELS,
  transforms: MODELS,
  compound_custom: MODELS,
  extra_body: MODEL_REQUESTS,
  tags: MODELS,
  safety_model: MODELS,

  // What brings tools, searches, agents or models of its own.
  agent: SPENDS,
  agent_id: SPENDS,
  agent_reference: SPENDS,
  bot_id: SPENDS,
  guardrails: SPENDS,
  plugins: SPENDS,
  preset: SPENDS,
  search_mode: SPENDS,
  skills: SPENDS,
  venice_parameters: { decides: 'spends', members: ['enable_web_search', 'enable_web_scraping', 'enable_x_search'], except: [false, 'off'] },
  // A proxy that repeats a call tells nobody of those before the last.
  max_retries: { decides: 'spends', except: [0] },
  num_retries: { decides: 'spends', except: [0] },
  retries: { decides: 'spends', except: [0] },
  retry: SWITCH,
  retry_count: { decides: 'spends', except: [0] },
  retry_policy: SPENDS,
  request_options: SPENDS,
  mock_testing_fallbacks: SWITCH,
  load_balancer: SPENDS,
  orq: SPENDS,
  // Whoever chooses when a proxy gives up waiting also chooses what a call counts that nobody has the end of.
  timeout: SPENDS,
  call_timeout: SPENDS,
  '*_timeout': SPENDS,
  additional_drop_params: SPENDS,
  grounding: SWITCH,
  search: SWITCH,
  use_search: SWITCH,
  vector_store_ids: SPENDS,
  web: SWITCH,
  fallbacks: FALLBACKS,
  default_fallbacks: FALLBACKS,
  fallback_providers: FALLBACKS,
  fallback_models: FALLBACKS,
  context_window_fallbacks: FALLBACKS,
  content_policy_fallbacks: FALLBACKS,
  context_window_fallback_dict: FALLBACKS,
  search_parameters: SPENDS,
  search_options: SPENDS,
  web_search_options: SPENDS,
  web_search: SWITCH,
  enable_search: SWITCH,
  enable_enhancement: SWITCH,
  force_search_enhancement: SWITCH,
  enable_deep_search: SWITCH,
  // By whatever name a service has a search.
  '*_search': SWITCH,
  '*_search_enabled': SWITCH,
  with_search_enhance: SWITCH,
  disable_search: 'answer',
  use_beam_search: 'answer',
  features: SPENDS, // Open WebUI switches searches and pictures on there
  tool_ids: SPENDS,
  research: SPENDS,
  enable_code_interpreter: SWITCH,
  scraping: SWITCH,
  youtube_transcripts: SWITCH,
  connectors: SPENDS,
  background: SWITCH,
  deferred: SWITCH,
  mcp_servers: SPENDS,
  cached_content: UNSEEN,
  conversation: UNSEEN,
  conversation_id: UNSEEN,
  knowledge_bases: UNSEEN,
  memory: UNSEEN,
  previous_response_id: UNSEEN,
  prompt_id: UNSEEN,
  thread_id: UNSEEN,

  // What a proxy hands to a provider of another protocol.
  additional_model_request_fields: MODEL_REQUESTS,
  inference_geo: { decides: 'price', except: ['global'] },
  performance_config: { decides: 'price' },
  speed: { decides: 'price', except: ['standard'] },
  usage: { decides: 'price', members: ['include'], except: [true] }, // whether the answer tells what it costs

  // How the answer is made or written.
  chat_template_kwargs: 'answer',
  grammar: 'answer',
  guided_choice: 'answer',
  guided_grammar: 'answer',
  guided_json: 'answer',
  guided_regex: 'answer',
  json_schema: 'answer',
  keep_alive: 'answer',
  prompt_mode: 'answer',
  reasoning: 'answer',
  reasoning_format: 'answer',
  session_id: 'answer',
  structured_outputs: 'answer',
  thinking: 'answer',
  user_id: 'answer',
};
