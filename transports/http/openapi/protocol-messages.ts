// The schemas of Anthropic's Messages. Pure: no I/O.
import { ANY, BOOLEAN, COUNT, FRAMES, frame, list, NUMBER, OBJECT, one, oneValue, orNull, ref, type Shape, STRING, shape } from './shapes.ts';

const event = (type: string, members: Readonly<Record<string, Shape>>) => frame(shape({ type: oneValue(type), ...members }), type);
const COUNTS = {
  input_tokens: COUNT,
  cache_creation_input_tokens: orNull(COUNT),
  cache_read_input_tokens: orNull(COUNT),
  output_tokens: COUNT,
  output_tokens_details: orNull(OBJECT),
  server_tool_use: orNull(OBJECT),
};
const ERROR = { error: shape({ type: STRING, message: STRING }, { details: OBJECT }) };
const END = { stop_reason: orNull(STRING), stop_sequence: orNull(STRING), stop_details: orNull(OBJECT), container: orNull(OBJECT) };
const QUESTION = { model: STRING, messages: { ...list(shape({ role: oneValue('user', 'assistant', 'system'), content: ANY })), minItems: 1 } };
const FURTHER = { system: ANY, tools: orNull(list(OBJECT)), tool_choice: ANY, thinking: orNull(OBJECT), output_config: orNull(OBJECT) };

/** By their names in the document. */
export const MESSAGES_SHAPES = {
  MessageRequest: shape(
    { ...QUESTION, max_tokens: COUNT },
    {
      ...FURTHER,
      stream: orNull(BOOLEAN),
      stop_sequences: orNull(list(STRING)),
      temperature: orNull(NUMBER),
      top_p: orNull(NUMBER),
      top_k: orNull(COUNT),
      metadata: orNull(OBJECT),
    },
  ),
  MessageCountRequest: shape(QUESTION, FURTHER),
  MessageCount: shape({ input_tokens: COUNT }),
  AnswerMessage: shape({
    id: STRING,
    type: oneValue('message'),
    role: oneValue('assistant'),
    model: STRING,
    content: list(ref('AnswerBlock')),
    ...END,
    diagnostics: orNull(OBJECT),
    usage: shape({ ...COUNTS, cache_creation: orNull(OBJECT), inference_geo: orNull(STRING), service_tier: orNull(STRING), speed: orNull(STRING) }),
  }),
  AnswerBlock: one(
    shape({ type: oneValue('text'), text: STRING }),
    shape({ type: oneValue('thinking'), thinking: STRING, signature: STRING }),
    shape({ type: oneValue('redacted_thinking'), data: STRING }),
    shape({ type: oneValue('tool_use'), id: STRING, name: STRING, input: OBJECT, caller: OBJECT }),
  ),
  MessageFrame: {
    ...one(
      event('message_start', { message: ref('AnswerMessage') }),
      event('ping', {}),
      event('content_block_start', { index: COUNT, content_block: ref('AnswerBlock') }),
      event('content_block_delta', {
        index: COUNT,
        delta: one(
          shape({ type: oneValue('text_delta'), text: STRING }),
          shape({ type: oneValue('thinking_delta'), thinking: STRING }),
          shape({ type: oneValue('signature_delta'), signature: STRING }),
          shape({ type: oneValue('input_json_delta'), partial_json: STRING }),
        ),
      }),
      event('content_block_stop', { index: COUNT }),
      event('message_delta', { delta: shape(END), usage: shape(COUNTS) }),
      event('message_stop', {}),
      event('error', ERROR),
    ),
    description: FRAMES,
  },
  MessageError: shape({ type: oneValue('error'), ...ERROR, request_id: STRING }),
};
