// What each field of a Responses request decides. Pure: no I/O.
import type { RequestFields } from '../../../../core/index.ts';
import { MODELS, SERVICE_FIELDS, SPENDS, TOOL_PARTS } from '../shared/service-fields.ts';

/** Tools that the client runs itself, and the search among tools, which costs nothing but tokens. */
const OWN_TOOLS = ['function', 'custom', 'namespace', 'tool_search', 'local_shell', 'apply_patch', 'computer', 'computer_use_preview'] as const;

/** The fields of `POST /v1/responses`. */
export const RESPONSES_FIELDS: RequestFields = {
  ...SERVICE_FIELDS,
  background: { decides: 'spends', except: [false] }, // goes on after the client has left
  input: { decides: 'spends', types: OWN_TOOLS, parts: TOOL_PARTS, within: ['tools'] },
  moderation: MODELS,
  multi_agent: SPENDS,
  prompt: SPENDS, // a stored one brings tools and a model of its own
  reasoning: { decides: 'price', members: ['mode'], except: ['standard'] },
  service_tier: { decides: 'price', except: ['auto', 'default', 'flex'] },
  tools: { decides: 'spends', types: OWN_TOOLS, parts: TOOL_PARTS },

  client_metadata: 'answer',
  context_management: 'answer', // the tokens of a summary are in the usage of the response
  frequency_penalty: 'answer',
  include: 'answer',
  instructions: 'answer',
  max_output_tokens: 'answer',
  max_tool_calls: 'answer',
  metadata: 'answer',
  model: 'answer', // checked by itself, and replaced
  parallel_tool_calls: 'answer',
  presence_penalty: 'answer',
  prompt_cache_key: 'answer',
  prompt_cache_options: 'answer',
  prompt_cache_retention: 'answer',
  safety_identifier: 'answer',
  store: 'answer',
  stream: 'answer',
  stream_options: 'answer',
  temperature: 'answer',
  text: 'answer',
  tool_choice: 'answer',
  top_logprobs: 'answer',
  top_p: 'answer',
  truncation: 'answer',
  user: 'answer',
};
