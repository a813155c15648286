// Fields that services take beside those of the protocols that they speak: an address may belong to a proxy, a router of models or a server of one's own.
// Pure: no I/O.
import type { FieldRule, RequestFields } from '../core/index.ts';

/** A field that decides where a call goes, by which secret, or who pays for it. */
export const ADDRESS: FieldRule = { decides: 'address' };
/** A field that can name further models. */
export const MODELS: FieldRule = { decides: 'models' };
/** A field whose costs are not among the tokens of the answer. */
export const SPENDS: FieldRule = { decides: 'spends' };
/** A field that brings input of the provider's store. */
export const UNSEEN: FieldRule = { decides: 'unseen' };
/** A field like `SPENDS` that can be switched off. */
const SWITCH: FieldRule = { decides: 'spends', except: [false] };

/** Such fields as proxies, routers, hosts of open models and servers for one's own machine document them. A protocol's own entry wins. */
export const SERVICE_FIELDS: RequestFields = {
  api_base: ADDRESS,
  api_key: ADDRESS,
  api_version: ADDRESS,
  apikey: ADDRESS,
  base_url: ADDRESS,
  baseurl: ADDRESS,
  region: ADDRESS,
  accesskeyid: ADDRESS,
  secretaccesskey: ADDRESS,
  sessiontoken: ADDRESS,
  organization: ADDRESS,
  user_config: ADDRESS,
  'aws_*': ADDRESS,
  'azure_*': ADDRESS,
  'vertex_*': ADDRESS,
  headers: ADDRESS,
  extra_headers: ADDRESS,
  default_headers: ADDRESS,
  extra_query: ADDRESS,
  kv_transfer_params: ADDRESS,
  bootstrap_host: ADDRESS,
  bootstrap_port: ADDRESS,

  models: MODELS,
  model_list: MODELS,
  route: MODELS,
  router: MODELS,
  provider: MODELS,
  provider_options: MODELS,
  provideroptions: MODELS,
  custom_llm_provider: MODELS,
  preset: MODELS,
  transforms: MODELS,
  compound_custom: MODELS,
  extra_body: MODELS,
  tags: MODELS,

  plugins: SPENDS,
  fallbacks: SPENDS,
  fallback_models: SPENDS,
  context_window_fallbacks: SPENDS,
  content_policy_fallbacks: SPENDS,
  search_parameters: SPENDS,
  search_options: SPENDS,
  web_search: SWITCH,
  enable_search: SWITCH,
  background: SWITCH,
  deferred: SWITCH,
  mcp_servers: SPENDS,

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
  usage: 'answer',
  user_id: 'answer',
};
