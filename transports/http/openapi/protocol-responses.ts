// The schemas of OpenAI's Responses. Pure: no I/O.
import { ANY, BOOLEAN, COUNT, FRAMES, frame, list, NUMBER, OBJECT, one, oneValue, orNull, ref, type Shape, STRING, shape } from './shapes.ts';

const STATUS = oneValue('in_progress', 'completed', 'incomplete');
const TEXT_PART = shape({ type: oneValue('output_text'), text: STRING, annotations: list(OBJECT), logprobs: list(OBJECT) });
const SUMMARY_PART = shape({ type: oneValue('summary_text'), text: STRING });
const PLACE = { item_id: STRING, output_index: COUNT };

/** The frame of an event with these members. */
const event = (type: string, members: Readonly<Record<string, Shape>>, optional: Readonly<Record<string, Shape>> = {}) =>
  frame(shape({ type: oneValue(type), sequence_number: COUNT, ...members }, optional), type);

/** In the order in which they come. */
const EVENTS = [
  ...['response.created', 'response.in_progress'].map((type) => event(type, { response: ref('Response') })),
  event('response.output_item.added', { output_index: COUNT, item: ref('ResponseItem') }),
  ...['added', 'done'].map((what) => event(`response.reasoning_summary_part.${what}`, { ...PLACE, summary_index: COUNT, part: SUMMARY_PART })),
  event('response.reasoning_summary_text.delta', { ...PLACE, summary_index: COUNT, delta: STRING }),
  event('response.reasoning_summary_text.done', { ...PLACE, summary_index: COUNT, text: STRING }),
  ...['added', 'done'].map((what) => event(`response.content_part.${what}`, { ...PLACE, content_index: COUNT, part: TEXT_PART })),
  event('response.output_text.delta', { ...PLACE, content_index: COUNT, delta: STRING, logprobs: list(OBJECT) }),
  event('response.output_text.done', { ...PLACE, content_index: COUNT, text: STRING, logprobs: list(OBJECT) }),
  event('response.function_call_arguments.delta', { ...PLACE, delta: STRING }),
  event('response.function_call_arguments.done', { ...PLACE, name: STRING, arguments: STRING }),
  event('response.custom_tool_call_input.delta', { ...PLACE, delta: STRING }),
  event('response.custom_tool_call_input.done', { ...PLACE, input: STRING }),
  event('response.output_item.done', { output_index: COUNT, item: ref('ResponseItem') }),
  ...['response.completed', 'response.incomplete', 'response.failed'].map((type) => event(type, { response: ref('Response') })),
  event('error', { code: STRING, message: STRING, param: orNull(STRING), error: OBJECT }),
  shape({ data: oneValue('[DONE]') }),
];

/** By their names in the document. */
export const RESPONSES_SHAPES = {
  ResponseRequest: shape(
    { model: STRING, input: { anyOf: [STRING, list(OBJECT)] } },
    {
      stream: orNull(BOOLEAN),
      instructions: orNull(STRING),
      tools: orNull(list(OBJECT)),
      tool_choice: ANY,
      include: orNull(list(STRING)),
      reasoning: orNull(OBJECT),
      text: orNull(OBJECT),
      max_output_tokens: orNull(COUNT),
      temperature: orNull(NUMBER),
      top_p: orNull(NUMBER),
      metadata: orNull(OBJECT),
    },
  ),
  Response: shape({
    id: STRING,
    object: oneValue('response'),
    created_at: COUNT,
    completed_at: orNull(COUNT),
    status: oneValue('in_progress', 'completed', 'incomplete', 'failed'),
    error: orNull(shape({ code: STRING, message: STRING })),
    incomplete_details: orNull(shape({ reason: STRING })),
    model: STRING,
    output: list(ref('ResponseItem')),
    background: BOOLEAN,
    previous_response_id: orNull(STRING),
    store: BOOLEAN,
    instructions: ANY,
    max_output_tokens: orNull(COUNT),
    max_tool_calls: orNull(COUNT),
    parallel_tool_calls: BOOLEAN,
    presence_penalty: NUMBER,
    frequency_penalty: NUMBER,
    prompt_cache_key: orNull(STRING),
    safety_identifier: orNull(STRING),
    service_tier: STRING,
    temperature: NUMBER,
    tool_choice: ANY,
    top_logprobs: COUNT,
    top_p: NUMBER,
    truncation: STRING,
    metadata: OBJECT,
    user: orNull(STRING),
    reasoning: shape({ effort: orNull(STRING), summary: orNull(STRING) }),
    text: shape({ format: OBJECT }),
    tools: list(OBJECT),
    usage: orNull(
      shape({
        input_tokens: COUNT,
        input_tokens_details: shape({ cached_tokens: COUNT, cache_write_tokens: COUNT }),
        output_tokens: COUNT,
        output_tokens_details: shape({ reasoning_tokens: COUNT }),
        total_tokens: COUNT,
      }),
    ),
  }),
  ResponseItem: {
    ...one(
      shape({ id: STRING, type: oneValue('message'), status: STATUS, role: oneValue('assistant'), content: list(TEXT_PART) }),
      shape({ id: STRING, type: oneValue('reasoning'), summary: list(SUMMARY_PART) }, { encrypted_content: STRING }),
      shape({ id: STRING, type: oneValue('function_call'), status: STATUS, call_id: STRING, name: STRING, arguments: STRING }, { namespace: STRING }),
      shape({ id: STRING, type: oneValue('custom_tool_call'), status: STATUS, call_id: STRING, name: STRING, input: STRING }, { namespace: STRING }),
    ),
    description: 'An item of the output. In a stream, each is done before the next is added.',
  },
  ResponseFrame: { ...one(...EVENTS), description: `${FRAMES} The last one is \`[DONE]\`, which is no JSON and has no name.` },
};
