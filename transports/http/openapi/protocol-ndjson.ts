// The schemas of Ollama's API, whose streams are lines of JSON. Pure: no I/O.
import { ANY, BOOLEAN, COUNT, list, NUMBER, OBJECT, one, oneValue, ref, type Shape, STRING, shape } from './shapes.ts';

const HEAD = { model: STRING, created_at: STRING };
const END = {
  done: { type: 'boolean', const: true },
  done_reason: STRING,
  total_duration: COUNT,
  load_duration: COUNT,
  prompt_eval_count: COUNT,
  prompt_eval_duration: COUNT,
  eval_count: COUNT,
  eval_duration: COUNT,
};
const PIECE = { done: { type: 'boolean', const: false } };
const CALL = shape({ id: STRING, function: shape({ index: COUNT, name: STRING, arguments: OBJECT }) });
const MESSAGE = { message: shape({ role: oneValue('assistant'), content: STRING }, { thinking: STRING, tool_calls: list(CALL) }) };
const RESPONSE = { response: STRING };
const THINKING = { thinking: STRING };
const LOGPROBS = { logprobs: list(OBJECT) };
const DETAILS = shape({ parent_model: STRING, format: STRING, family: STRING, families: list(STRING), parameter_size: STRING, quantization_level: STRING });
const LINES = 'One line of the body, which is JSON. The last line of a whole answer has `done: true`; the last one of a broken answer is an error.';
const ASKED = { stream: BOOLEAN, format: ANY, options: OBJECT, think: ANY, keep_alive: ANY };

const lineOf = (answer: Readonly<Record<string, Shape>>, optional: Readonly<Record<string, Shape>>) => ({
  ...one(shape({ ...HEAD, ...answer, ...PIECE }, optional), shape({ ...HEAD, ...answer, ...END }, optional), ref('OllamaError')),
  description: LINES,
});

/** By their names in the document. */
export const NDJSON_SHAPES = {
  OllamaChatRequest: shape({ model: STRING }, { ...ASKED, messages: list(OBJECT), tools: list(OBJECT) }),
  OllamaChatAnswer: shape({ ...HEAD, ...MESSAGE, ...END }, LOGPROBS),
  OllamaChatLine: lineOf(MESSAGE, LOGPROBS),
  OllamaGenerateRequest: shape({ model: STRING }, { ...ASKED, prompt: STRING, system: STRING, images: list(STRING) }),
  OllamaGenerateAnswer: shape({ ...HEAD, ...RESPONSE, ...END }, { ...THINKING, ...LOGPROBS }),
  OllamaGenerateLine: lineOf(RESPONSE, { ...THINKING, ...LOGPROBS }),
  OllamaEmbedRequest: shape({ model: STRING }, { input: ANY, dimensions: COUNT }),
  OllamaEmbed: shape({ model: STRING, embeddings: list(list(NUMBER)), total_duration: COUNT, load_duration: COUNT, prompt_eval_count: COUNT }),
  OllamaOldEmbedRequest: shape({ model: STRING }, { prompt: STRING }),
  OllamaOldEmbed: shape({ embedding: list(NUMBER) }),
  OllamaModels: shape({ models: list(shape({ name: STRING, model: STRING, modified_at: STRING, size: COUNT, digest: STRING, details: DETAILS })) }),
  OllamaRunning: shape({ models: list(OBJECT) }),
  OllamaModel: shape({
    modelfile: STRING,
    parameters: STRING,
    template: STRING,
    details: DETAILS,
    model_info: OBJECT,
    capabilities: list(STRING),
    modified_at: STRING,
  }),
  OllamaShowRequest: shape({}, { model: STRING, name: STRING }),
  OllamaVersion: shape({ version: STRING }),
  OllamaError: shape({ error: STRING }),
};
