// Examples of the gateway and the server for the published contract. Pure: no I/O.
import type { Example } from './example.ts';

const USER = { role: 'user', content: 'How is the weather in Oslo?' };
const CALL = { id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' } };
const TOOLS = [
  {
    name: 'get_weather',
    description: 'The weather in a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
];
const TO_OLLAMA = { adapter: 'ollama', model: 'gemma4' };
const FROM_OLLAMA = { provider: 'ollama', model: 'gemma4' };
const USAGE = { inputTokens: 11, outputTokens: 3, totalTokens: 14 };
const OLLAMA = {
  id: 'ollama',
  displayName: 'Ollama',
  authRequired: false,
  defaultModel: 'gemma4',
  defaultBaseURL: 'http://127.0.0.1:11434',
  supportsStreaming: true,
  envVars: ['OLLAMA_BASE_URL'],
};
const ASK_FOR_KEY = 'OpenAI needs a key: set OPENAI_API_KEY, or openai.apiKey in auth.json (`blockhouse auth set openai`).';

/** The examples by name. */
export const GATEWAY_EXAMPLES = {
  Question: { of: 'ChatRequest', summary: 'A question', value: { ...TO_OLLAMA, messages: [{ role: 'user', content: 'hello' }] } },
  StreamedQuestion: {
    of: 'ChatRequest',
    summary: 'A question whose answer is streamed',
    value: { ...TO_OLLAMA, messages: [{ role: 'user', content: 'hello' }], stream: true, config: { maxTokens: 200, temperature: 0.2 } },
  },
  QuestionWithReasoning: {
    of: 'ChatRequest',
    summary: 'A question whose answer is streamed with the reasoning and the pieces of tool calls',
    value: { ...TO_OLLAMA, messages: [USER], tools: TOOLS, stream: { reasoning: true, toolDeltas: true }, config: { reasoning: { effort: 'high' } } },
  },
  QuestionWithTools: { of: 'ChatRequest', summary: 'A question, and a tool that may be called', value: { ...TO_OLLAMA, messages: [USER], tools: TOOLS } },
  ToolResults: {
    of: 'ChatRequest',
    summary: 'The results of the called tool',
    value: {
      ...TO_OLLAMA,
      messages: [USER, { role: 'assistant', content: '', toolCalls: [CALL] }, { role: 'tool', toolResults: [{ toolCallId: 'call_1', content: '4 °C, rain' }] }],
      tools: TOOLS,
    },
  },
  Answer: {
    of: 'ChatResponse',
    summary: 'An answer',
    value: { ...FROM_OLLAMA, message: { role: 'assistant', content: 'Hello!' }, usage: USAGE, stopReason: 'end_turn' },
  },
  AnswerWithToolCall: {
    of: 'ChatResponse',
    summary: 'A call of a tool',
    value: { ...FROM_OLLAMA, message: { role: 'assistant', content: '', toolCalls: [CALL] }, usage: USAGE, stopReason: 'tool_use' },
  },
  StartEvent: { of: 'ChatEvent', summary: 'The first event', value: { event: 'start', data: FROM_OLLAMA } },
  ContentEvent: { of: 'ChatEvent', summary: 'A piece of the answer', value: { event: 'content', data: { text: 'Hel' } } },
  ReasoningEvent: { of: 'ChatEvent', summary: 'A piece of the reasoning', value: { event: 'reasoning', data: { text: 'The user asks' } } },
  ToolCallStartEvent: {
    of: 'ChatEvent',
    summary: 'A tool call begins',
    value: { event: 'toolCallStart', data: { index: 0, id: 'call_1', name: 'get_weather' } },
  },
  ToolCallDeltaEvent: {
    of: 'ChatEvent',
    summary: 'A piece of the arguments of a tool call',
    value: { event: 'toolCallDelta', data: { index: 0, text: '{"city":' } },
  },
  DoneEvent: { of: 'ChatEvent', summary: 'The end of an answer', value: { event: 'done', data: { usage: USAGE, stopReason: 'end_turn' } } },
  ErrorEvent: {
    of: 'ChatEvent',
    summary: 'The end of an answer that failed',
    value: {
      event: 'error',
      data: {
        error: 'The provider stopped in the middle of its answer for 120 s.',
        status: 502,
        code: 'UPSTREAM_TIMEOUT',
        requestId: 'req_46c8a32cf6c801a960927a83',
        retryable: true,
      },
    },
  },
  GatewayIsUp: {
    of: 'GatewayHealth',
    summary: 'The gateway is up',
    value: { status: 'ok', version: '0.1.0', adapters: ['openai', 'ollama'], store: { kind: 'files' } },
  },
  ServerLookedAt: {
    of: 'DeepHealth',
    summary: 'One provider fails',
    value: {
      status: 'degraded',
      version: '0.1.0',
      disk: { freeBytes: 53_687_091_200, writeMs: 4, error: null },
      providers: [
        { name: 'openai', state: 'failing', lastOkAt: '2026-11-23T08:00:00.000Z', lastFailureAt: '2026-11-23T08:10:00.000Z', lastCode: 'UPSTREAM_FAILED' },
      ],
    },
  },
  Adapters: { of: 'AdapterList', summary: 'One provider', value: { adapters: [OLLAMA] } },
  Models: { of: 'ModelList', summary: 'Two models', value: { provider: 'ollama', models: ['gemma4:latest', 'qwen3:8b'], count: 2 } },
  CheckWithKey: { of: 'VerifyRequest', summary: 'A key that is not stored', value: { config: { apiKey: 'a-key-of-yours' } } },
  CheckPassed: {
    of: 'VerifyResult',
    status: 200,
    summary: 'The provider is reachable',
    value: { provider: 'ollama', ok: true, detail: 'The daemon at http://127.0.0.1:11434 is reachable; 2 models are available.' },
  },
  CheckFailed: { of: 'VerifyResult', status: 503, summary: 'A key is missing', value: { provider: 'openai', ok: false, detail: ASK_FOR_KEY } },
  ServerIsUp: {
    of: 'ServerHealth',
    summary: 'The server is up',
    value: { status: 'ok', version: '0.1.0', uptimeSeconds: 86_400.5, blocks: 3, monitorsRunning: 2 },
  },
  ValidToken: { of: 'AuthStatus', summary: 'The token is valid', value: { authenticated: true } },
  AdapterStates: {
    of: 'AdapterStatusList',
    summary: 'One provider is ready',
    value: { adapters: [{ ...OLLAMA, ready: true, hasSecret: false }] },
  },
  Settings: {
    of: 'SettingList',
    summary: 'One address',
    value: { settings: [{ adapter: 'ollama', field: 'baseURL', value: 'http://127.0.0.1:11434', source: 'OLLAMA_BASE_URL' }] },
  },
} as const satisfies Record<string, Example>;
