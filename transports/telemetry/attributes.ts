// The names of attributes. Those of the semantic conventions (1.45) stand as they do in https://opentelemetry.io/docs/specs/semconv/; a test holds them against the package that has
// them all. Ours begin with `blockhouse.`. Pure: no I/O.
import { Key } from './protobuf.ts';

/** Of the conventions for HTTP, errors and generative AI. */
export const CONVENTION = {
  method: 'http.request.method',
  originalMethod: 'http.request.method_original',
  resend: 'http.request.resend_count',
  status: 'http.response.status_code',
  route: 'http.route',
  path: 'url.path',
  scheme: 'url.scheme',
  address: 'server.address',
  port: 'server.port',
  error: 'error.type',
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  agent: 'gen_ai.agent.name',
  toolName: 'gen_ai.tool.name',
  toolCall: 'gen_ai.tool.call.id',
  toolType: 'gen_ai.tool.type',
  requestModel: 'gen_ai.request.model',
  stream: 'gen_ai.request.stream',
  responseModel: 'gen_ai.response.model',
  responseId: 'gen_ai.response.id',
  finishReasons: 'gen_ai.response.finish_reasons',
  firstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheRead: 'gen_ai.usage.cache_read.input_tokens',
  cacheWrite: 'gen_ai.usage.cache_creation.input_tokens',
  tokenType: 'gen_ai.token.type',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  systemInstructions: 'gen_ai.system_instructions',
} as const;

/** Of our own, where the conventions have nothing. */
export const OWN = {
  requestId: 'blockhouse.request_id',
  connection: 'blockhouse.connection',
  /** The label of the key of the connection. */
  credential: 'blockhouse.credential',
  /** The name of the client's key. */
  key: 'blockhouse.key',
  asked: 'blockhouse.asked_model',
  attempt: 'blockhouse.attempt',
  next: 'blockhouse.retry.next',
  delay: 'blockhouse.retry.delay_ms',
  cost: 'blockhouse.cost_usd',
  block: 'blockhouse.block',
  message: 'blockhouse.message_id',
  channel: 'blockhouse.channel',
  outcome: 'blockhouse.outcome',
  trigger: 'blockhouse.trigger',
  approval: 'blockhouse.approval_id',
  /** So much content waited for its export that this span has none. */
  contentDropped: 'blockhouse.content_dropped',
} as const;

const NAMES = { ...CONVENTION, ...OWN } as const;
const BY_NAME = new Map<string, Key>(Object.values(NAMES).map((name) => [name, new Key(name)]));

/** All of them as spans take them. */
export const KEY = Object.fromEntries(Object.entries(NAMES).map(([short, name]) => [short, keyNamed(name)])) as Readonly<Record<keyof typeof NAMES, Key>>;

/** Also one that is none of ours. */
export function keyNamed(name: string): Key {
  return BY_NAME.get(name) ?? new Key(name);
}
