// The three protocols of clients before each provider: questions in them, and what their answers must have.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Wire } from '../conformance/wire.ts';
import type { TestServerOptions } from './server.ts';
import type { Answerer } from './upstream.ts';
import { startWireServer, type WireServer } from './wire-server.ts';

export type Fields = Record<string, unknown>;

export interface Client {
  readonly id: 'chat' | 'responses' | 'messages';
  readonly path: string;
  /** The wire that speaks the same protocol, so that requests to it pass as they are. */
  readonly native: string;
  /** The smallest question; `more` wins. */
  ask(model: string, more?: Fields): Fields;
  /** True if the stream says that it is whole. */
  hasEndMark(stream: string): boolean;
  /** True if the stream says that it broke off. */
  hasError(stream: string): boolean;
}

export const CLIENTS: readonly Client[] = [
  {
    id: 'chat',
    path: '/v1/chat/completions',
    native: 'openai-chat',
    ask: (model, more) => ({ model, messages: [{ role: 'user', content: 'hi' }], ...more }),
    hasEndMark: (stream) => /^data: ?\[DONE\]$/m.test(stream),
    hasError: (stream) => /^data: ?\{"error":/m.test(stream),
  },
  {
    id: 'responses',
    path: '/v1/responses',
    native: 'openai-responses',
    ask: (model, more) => ({ model, input: 'hi', ...more }),
    hasEndMark: (stream) => /^event: ?response\.(completed|incomplete)$/m.test(stream),
    hasError: (stream) => /^event: ?error$/m.test(stream),
  },
  {
    id: 'messages',
    path: '/v1/messages',
    native: 'anthropic',
    ask: (model, more) => ({ model, max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }], ...more }),
    hasEndMark: (stream) => /^event: ?message_stop$/m.test(stream),
    hasError: (stream) => /^event: ?error$/m.test(stream),
  },
];

/** A server before a provider of this wire; without the native lane unless it is asked for. */
export async function startTranslating(
  t: Test,
  wire: Wire,
  answer: Answerer,
  isNative = false,
  options: TestServerOptions = {},
): Promise<WireServer & { readonly model: string }> {
  const server = await startWireServer(t, wire, answer, options);
  writeFileSync(join(server.workspace, 'models.json'), JSON.stringify({ native: { [wire.adapter]: isNative } }));
  return { ...server, model: `${wire.adapter}/${wire.model}` };
}

/** The data of each frame of a stream; end marks that are no JSON are left out. */
export function dataOf(stream: string): Fields[] {
  return stream
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:') && !line.includes('[DONE]'))
    .map((line) => JSON.parse(line.slice(5)) as Fields);
}
