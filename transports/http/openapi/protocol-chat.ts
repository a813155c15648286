// The schemas of OpenAI's Chat Completions and Completions, of its embeddings and of its models. Pure: no I/O.
import { ANY, BOOLEAN, COUNT, FRAMES, frame, list, NUMBER, OBJECT, one, oneValue, orNull, ref, STRING, shape } from './shapes.ts';

const FINISH = oneValue('stop', 'length', 'tool_calls', 'content_filter');
const TOOL_CALL = one(
  shape({ id: STRING, type: oneValue('function'), function: shape({ name: STRING, arguments: STRING }) }, { extra_content: OBJECT }),
  shape({ id: STRING, type: oneValue('custom'), custom: shape({ name: STRING, input: STRING }) }, { extra_content: OBJECT }),
);
const PIECE = shape({ index: COUNT }, { id: STRING, type: oneValue('function', 'custom'), function: OBJECT, custom: OBJECT, extra_content: OBJECT });
const HEAD = { id: STRING, created: COUNT, model: STRING };
const COMPLETION = { ...HEAD, object: oneValue('text_completion') };
const CHOICE = { text: STRING, index: COUNT, logprobs: { type: 'null' } };
const ENDS = 'The last one of a whole answer is `[DONE]`, which is no JSON; the last one of a broken one is an error.';
const FURTHER = { service_tier: orNull(STRING), system_fingerprint: orNull(STRING) };

/** By their names in the document. */
export const CHAT_SHAPES = {
  ChatCompletionRequest: shape(
    { model: STRING, messages: { ...list(shape({ role: oneValue('system', 'developer', 'user', 'assistant', 'tool') }, { content: ANY })), minItems: 1 } },
    {
      stream: orNull(BOOLEAN),
      stream_options: orNull(shape({}, { include_usage: BOOLEAN })),
      max_completion_tokens: orNull(COUNT),
      max_tokens: orNull(COUNT),
      temperature: orNull(NUMBER),
      top_p: orNull(NUMBER),
      tools: orNull(list(OBJECT)),
      tool_choice: ANY,
      response_format: ANY,
      reasoning_effort: ANY,
    },
  ),
  ChatCompletion: shape(
    {
      ...HEAD,
      object: oneValue('chat.completion'),
      choices: list(
        shape({
          index: COUNT,
          message: shape(
            { role: oneValue('assistant'), content: orNull(STRING), refusal: orNull(STRING), annotations: list(OBJECT) },
            { reasoning_content: STRING, tool_calls: list(TOOL_CALL) },
          ),
          logprobs: orNull(OBJECT),
          finish_reason: FINISH,
        }),
      ),
      usage: ref('ChatCompletionUsage'),
    },
    FURTHER,
  ),
  ChatCompletionUsage: shape({
    prompt_tokens: COUNT,
    completion_tokens: COUNT,
    total_tokens: COUNT,
    prompt_tokens_details: shape({ cached_tokens: COUNT, cache_write_tokens: COUNT }),
    completion_tokens_details: shape({ reasoning_tokens: COUNT }),
  }),
  ChatCompletionChunk: shape(
    {
      ...HEAD,
      object: oneValue('chat.completion.chunk'),
      choices: list(
        shape(
          {
            index: COUNT,
            delta: shape(
              {},
              { role: oneValue('assistant'), content: orNull(STRING), refusal: orNull(STRING), reasoning_content: STRING, tool_calls: list(PIECE) },
            ),
            finish_reason: orNull(FINISH),
          },
          { logprobs: orNull(OBJECT) },
        ),
      ),
    },
    { ...FURTHER, usage: orNull(ref('ChatCompletionUsage')) },
  ),
  ChatCompletionFrame: {
    ...one(frame(ref('ChatCompletionChunk')), frame(ref('OpenAIError')), frame(oneValue('[DONE]'))),
    description: `${FRAMES} ${ENDS}`,
  },
  CompletionRequest: shape(
    { model: STRING, prompt: { anyOf: [STRING, { ...list(STRING), minItems: 1, maxItems: 1 }] } },
    {
      stream: orNull(BOOLEAN),
      stream_options: orNull(shape({}, { include_usage: BOOLEAN })),
      max_tokens: orNull(COUNT),
      temperature: orNull(NUMBER),
      top_p: orNull(NUMBER),
      stop: ANY,
      seed: orNull(NUMBER),
    },
  ),
  Completion: shape({ ...COMPLETION, choices: list(shape({ ...CHOICE, finish_reason: FINISH })), usage: ref('ChatCompletionUsage') }),
  CompletionChunk: shape({ ...COMPLETION, choices: list(shape({ ...CHOICE, finish_reason: orNull(FINISH) })) }, { usage: ref('ChatCompletionUsage') }),
  CompletionFrame: {
    ...one(frame(ref('CompletionChunk')), frame(ref('OpenAIError')), frame(oneValue('[DONE]'))),
    description: `${FRAMES} ${ENDS}`,
  },
  OpenAIError: shape({ error: shape({ message: STRING, type: STRING, param: orNull(STRING), code: orNull(STRING) }) }),
  EmbeddingsRequest: shape(
    { model: STRING, input: ANY },
    { encoding_format: orNull(oneValue('float', 'base64')), dimensions: orNull(COUNT), user: orNull(STRING) },
  ),
  Embeddings: shape({
    object: oneValue('list'),
    data: list(shape({ object: oneValue('embedding'), index: COUNT, embedding: { anyOf: [list(NUMBER), STRING] } })),
    model: STRING,
    usage: shape({ prompt_tokens: COUNT, total_tokens: COUNT }),
  }),
  CompatibleModel: one(
    shape({ id: STRING, object: oneValue('model'), created: COUNT, owned_by: STRING }),
    shape({ type: oneValue('model'), id: STRING, display_name: STRING, created_at: STRING }),
  ),
  CompatibleModels: one(
    shape({ object: oneValue('list'), data: list(ref('CompatibleModel')) }),
    shape({ data: list(ref('CompatibleModel')), has_more: BOOLEAN, first_id: orNull(STRING), last_id: orNull(STRING) }),
  ),
};
