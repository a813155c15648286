// What each field of a Chat Completions request decides. Pure: no I/O.
import type { RequestFields } from '../../../../core/index.ts';
import { MODELS, SERVICE_FIELDS, SPENDS, TOOL_PARTS } from '../shared/service-fields.ts';

/** The fields of `POST /v1/chat/completions`, and of the services that speak it. */
export const CHAT_FIELDS: RequestFields = {
  ...SERVICE_FIELDS,
  modalities: { decides: 'price', except: ['text'] }, // tokens of speech and of pictures have prices of their own
  moderation: MODELS,
  service_tier: { decides: 'price', except: ['auto', 'default', 'flex'] },
  tools: { decides: 'spends', types: ['function', 'custom'], parts: TOOL_PARTS },
  web_search_options: SPENDS,

  audio: 'answer', // without an effect unless modalities ask for speech
  frequency_penalty: 'answer',
  function_call: 'answer',
  functions: 'answer',
  logit_bias: 'answer',
  logprobs: 'answer',
  max_completion_tokens: 'answer',
  max_tokens: 'answer',
  messages: 'answer',
  metadata: 'answer',
  model: 'answer', // checked by itself, and replaced
  n: 'answer',
  parallel_tool_calls: 'answer',
  prediction: 'answer',
  presence_penalty: 'answer',
  prompt_cache_key: 'answer',
  prompt_cache_options: 'answer',
  prompt_cache_retention: 'answer',
  reasoning_effort: 'answer',
  response_format: 'answer',
  safety_identifier: 'answer',
  seed: 'answer',
  stop: 'answer',
  store: 'answer',
  stream: 'answer',
  stream_options: 'answer',
  temperature: 'answer',
  tool_choice: 'answer',
  top_logprobs: 'answer',
  top_p: 'answer',
  user: 'answer',
  verbosity: 'answer',
};
