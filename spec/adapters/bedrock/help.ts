// What the specs of this folder build their cases from.
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { CREDENTIAL_SETTINGS } from '../../../adapters/bedrock/credentials.ts';
import type { ChatContext } from '../../../adapters/shared/provider.ts';
import { type Environment, resolveSettings } from '../../../core/auth/settings.ts';
import type { ChatEvent, Prompt, ResolvedSettings } from '../../../core/index.ts';

export const CLAUDE = 'global.anthropic.claude-sonnet-5-5';
export const LLAMA = 'us.meta.llama3-3-70b-instruct-v1:0';
export const NOVA = 'amazon.nova-pro-v1:0';

/** The adapter's settings as the gateway resolves them. */
export function settingsFrom(from: { env?: Environment; config?: Record<string, string>; stored?: Record<string, string> } = {}): ResolvedSettings {
  const spec = {
    region: { env: ['AWS_REGION', 'AWS_DEFAULT_REGION'] },
    ...CREDENTIAL_SETTINGS,
    endpoint: { env: ['AWS_ENDPOINT_URL_BEDROCK_RUNTIME', 'AWS_ENDPOINT_URL'], storedOnly: true as const },
    controlEndpoint: { env: ['AWS_ENDPOINT_URL_BEDROCK', 'AWS_ENDPOINT_URL'], storedOnly: true as const },
  };
  return resolveSettings(spec, { config: from.config, stored: from.stored, env: from.env ?? {} });
}

export function promptOf(part: Partial<Prompt> = {}): Prompt {
  return {
    system: undefined,
    turns: [{ role: 'user', text: 'hi' }],
    tools: [],
    maxTokens: undefined,
    defaultMaxTokens: 4096,
    temperature: undefined,
    cacheControl: false,
    warnings: [],
    ...part,
  };
}

export function contextOf(prompt: Partial<Prompt> = {}, rest: Partial<Omit<ChatContext, 'prompt'>> = {}): ChatContext {
  return { model: CLAUDE, settings: settingsFrom(), stream: false, ...rest, prompt: promptOf(prompt) };
}

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString()),
  (text) => Buffer.from(text),
);

export function frameOf(headers: Record<string, string>, payload: string): Buffer {
  const typed = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, { type: 'string' as const, value }]));
  return Buffer.from(codec.encode({ headers: typed, body: Buffer.from(payload) }));
}

export function eventFrame(type: string, payload: unknown): Buffer {
  return frameOf({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, JSON.stringify(payload));
}

/** The frames of an answer: each pair is an event's type and payload. */
export function streamOf(...events: [type: string, payload: unknown][]): Buffer {
  return Buffer.concat(events.map(([type, payload]) => eventFrame(type, payload)));
}

export function textOf(events: readonly ChatEvent[]): string {
  return events.map((event) => (event.type === 'text' ? event.text : '')).join('');
}

/** From providers.md's source, captured on the wire and checked by an independent computation of the checksums. */
export const HEX_TEXT_FRAME =
  '000000950000005789cbb35e0b3a6576656e742d74797065070011636f6e74656e74426c6f636b44656c74610d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d74797065070005' +
  '6576656e747b22636f6e74656e74426c6f636b496e646578223a302c2264656c7461223a7b2274657874223a2248c3a9227d7ddae7d374';
export const HEX_EXCEPTION_FRAME =
  '0000008800000061de0175f40f3a657863657074696f6e2d747970650700137468726f74746c696e67457863657074696f6e0d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d747970' +
  '65070009657863657074696f6e7b226d657373616765223a22736c6f7720646f776e227d832ee072';
