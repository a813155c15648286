// Gemini's generateContent. Shapes: @google/genai `genai.d.ts`, GenerateContentResponse.
import { createGoogle } from '../../../adapters/google/index.ts';
import { parseJson } from '../../../core/base/json.ts';
import type { RecordedRequest } from '../../support/upstream.ts';
import { errorCase, type Meaning, type SentRequest, sse, type Wire } from '../wire.ts';

const RAW_STOPS: Partial<Record<Meaning['stop'], string>> = {
  end_turn: 'STOP',
  tool_use: 'STOP',
  max_tokens: 'MAX_TOKENS',
  content_filter: 'SAFETY',
  unknown: 'OTHER',
};

const usageOf = ({ usage }: Meaning) =>
  usage && {
    promptTokenCount: usage.input,
    ...(usage.cacheRead !== undefined && { cachedContentTokenCount: usage.cacheRead }),
    candidatesTokenCount: usage.output - (usage.reasoning ?? 0),
    ...(usage.reasoning !== undefined && { thoughtsTokenCount: usage.reasoning }),
    totalTokenCount: usage.input + usage.output,
  };
/** The state is on the first call; without a call, on the end of the text. */
const callParts = ({ toolCalls, reasoning }: Meaning) =>
  toolCalls.map(({ id, name, arguments: args }, index) => ({
    functionCall: { id, name, args },
    ...(reasoning !== undefined && index === 0 && { thoughtSignature: reasoning.state }),
  }));
const endOf = ({ toolCalls, reasoning }: Meaning) => (reasoning === undefined || toolCalls.length > 0 ? [] : [{ text: '', thoughtSignature: reasoning.state }]);
const thought = (text: string) => ({ text, thought: true });
const answer = (parts: unknown[], meaning: Meaning, finish: boolean) => ({
  candidates: [{ content: { role: 'model', parts }, ...(finish && { finishReason: RAW_STOPS[meaning.stop] }), index: 0 }],
  usageMetadata: usageOf(meaning),
  modelVersion: 'gemini-2.5-flash',
});
const error = (code: number, status: string, message: string, details: unknown[] = []) => ({ error: { code, message, status, details } });
const reason = (text: string) => ({ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: text });

interface Part {
  text?: string;
  functionCall?: { id?: string; name: string; args: Record<string, unknown> };
  functionResponse?: { id?: string; name: string; response: { output?: string; error?: string } };
}
interface Body {
  systemInstruction?: { parts: { text: string }[] };
  contents: { role: string; parts: Part[] }[];
  tools?: { functionDeclarations: { name: string }[] }[];
  generationConfig: { maxOutputTokens?: number; temperature?: number };
}

export const google: Wire = {
  name: 'google',
  adapter: 'google',
  model: 'gemini-2.5-flash',
  create: createGoogle,
  env: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'AIzaCanary0123456789abcdefghij' }),
  whole: (meaning) => ({
    type: 'application/json',
    body: Buffer.from(
      JSON.stringify(
        answer(
          [
            ...(meaning.reasoning === undefined ? [] : [thought(meaning.reasoning.text.join(''))]),
            ...(meaning.text.length > 0 ? [{ text: meaning.text.join('') }] : []),
            ...callParts(meaning),
            ...endOf(meaning),
          ],
          meaning,
          true,
        ),
      ),
    ),
  }),
  stream: (meaning) => ({
    type: 'text/event-stream',
    frames: [
      ...(meaning.reasoning?.text ?? []).map((text) => sse(answer([thought(text)], meaning, false))),
      ...meaning.text.map((text) => sse(answer([{ text }], meaning, false))),
      ...(meaning.toolCalls.length > 0 ? [sse(answer(callParts(meaning), meaning, false))] : []),
      sse(answer(endOf(meaning), meaning, true)),
    ],
    endFrames: 1,
  }),
  streamError: (message) => sse(error(503, 'UNAVAILABLE', message)),
  errors: [
    errorCase('a bad key, which is a 400 here', 400, error(400, 'INVALID_ARGUMENT', 'API key not valid.', [reason('API_KEY_INVALID')]), 'UPSTREAM_AUTH', false),
    errorCase('a missing permission', 403, error(403, 'PERMISSION_DENIED', 'denied'), 'UPSTREAM_AUTH', false),
    errorCase('an unknown model', 404, error(404, 'NOT_FOUND', 'models/x is not found'), 'UPSTREAM_REJECTED', false),
    errorCase('a bad request', 400, error(400, 'INVALID_ARGUMENT', 'bad schema'), 'UPSTREAM_REJECTED', false),
    errorCase('a region that is not served', 400, error(400, 'FAILED_PRECONDITION', 'location'), 'UPSTREAM_REJECTED', false),
    errorCase(
      'a rate limit',
      429,
      error(429, 'RESOURCE_EXHAUSTED', 'slow down', [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' }]),
      'UPSTREAM_RATE_LIMITED',
      true,
    ),
    errorCase('a failure', 500, error(500, 'INTERNAL', 'oops'), 'UPSTREAM_FAILED', true),
    errorCase('an overload, in an array', 503, [error(503, 'UNAVAILABLE', 'overloaded')], 'UPSTREAM_FAILED', true),
  ],
  readRequest({ body, path }: RecordedRequest): SentRequest {
    const sent = parseJson(body) as Body;
    const parts = sent.contents.flatMap(({ role, parts: list }) => list.map((part) => ({ role: role === 'model' ? 'assistant' : role, ...part })));
    return {
      model: decodeURIComponent(/\/models\/([^:]+):/.exec(path)?.[1] ?? ''),
      stream: path.includes(':streamGenerateContent?alt=sse'),
      system: sent.systemInstruction?.parts.map(({ text }) => text).join(''),
      texts: parts.filter(({ text }) => text !== undefined).map(({ role, text }) => `${role}: ${text}`),
      tools: (sent.tools ?? []).flatMap((tool) => tool.functionDeclarations.map(({ name }) => name)),
      calls: parts.flatMap(({ functionCall }) =>
        functionCall === undefined ? [] : [{ id: functionCall.id ?? '', name: functionCall.name, arguments: functionCall.args }],
      ),
      results: parts.flatMap(({ functionResponse }) =>
        functionResponse === undefined
          ? []
          : [
              {
                id: functionResponse.id ?? '',
                content: functionResponse.response.output ?? functionResponse.response.error ?? '',
                isError: functionResponse.response.error !== undefined,
              },
            ],
      ),
      maxTokens: sent.generationConfig.maxOutputTokens,
      temperature: sent.generationConfig.temperature,
    };
  },
  gaps: {
    stop_sequence: 'a stop sequence is reported as STOP',
    refusal: 'the API knows filters, no refusals',
    'end mark': 'a finish reason may be followed by usage, so that only the end of the body ends the stream',
    'cache writes': 'implicit caching has no write count',
    'retry-after header': 'the wait stands in the body (RetryInfo)',
    'call ids in a foreign replay': 'ids that Gemini did not make are not sent; calls and results are matched by order and name',
  },
  lines: true,
};
