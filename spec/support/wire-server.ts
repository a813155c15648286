// A whole server before a provider's own bytes: for what has to hold over HTTP for each of the five.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { parseJson } from '../../core/base/json.ts';
import type { Meaning, Wire } from '../conformance/wire.ts';
import { anthropic } from '../conformance/wires/anthropic.ts';
import { bedrock } from '../conformance/wires/bedrock.ts';
import { google } from '../conformance/wires/google.ts';
import { ollama } from '../conformance/wires/ollama.ts';
import { openaiChat } from '../conformance/wires/openai-chat.ts';
import { openaiResponses } from '../conformance/wires/openai-responses.ts';
import { startServer, type TestServer, type TestServerOptions } from './server.ts';
import { type Answerer, startUpstream } from './upstream.ts';

/** All five providers; OpenAI's two endpoints count each. */
export const WIRES: readonly Wire[] = [bedrock, openaiResponses, openaiChat, google, anthropic, ollama];

export const PLAIN: Meaning = { text: ['Hel', 'lo'], toolCalls: [], stop: 'end_turn', usage: { input: 12, output: 5 } };

export interface WireServer extends TestServer {
  /** A chat request of this wire. */
  chat(parts?: Record<string, unknown>): Record<string, unknown>;
}

export async function startWireServer(t: Test, wire: Wire, answer: Answerer, options: TestServerOptions = {}): Promise<WireServer> {
  const upstream = await startUpstream(t, answer);
  const server = await startServer(t, { adapters: [wire.create()], retries: 0, env: wire.env(upstream.url), ...options });
  if (wire.stored !== undefined) writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify(wire.stored));
  const chat = (parts: Record<string, unknown> = {}) => ({
    adapter: wire.adapter,
    model: wire.model,
    messages: [{ role: 'user', content: 'hi' }],
    ...parts,
  });
  return { ...server, upstream, chat };
}

/** Gives the same meaning in the form that was asked for. */
export function answerWith(wire: Wire, meaning: Meaning = PLAIN): Answerer {
  return (request, res) => {
    if (request.method === 'GET') return void res.end('{}');
    const streamed = wire.readRequest(request).stream;
    const { type } = streamed ? wire.stream(meaning) : wire.whole(meaning);
    res.writeHead(200, { 'content-type': type });
    res.end(streamed ? Buffer.concat(wire.stream(meaning).frames) : wire.whole(meaning).body);
  };
}

/** Every string below `value` that stands under one of these names. */
export function stringsNamed(value: unknown, names: ReadonlySet<string>): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => (typeof inner === 'string' && names.has(name) ? [inner] : stringsNamed(inner, names)));
}

export function bodyOf(request: { readonly body: string } | undefined): unknown {
  return parseJson(request?.body ?? 'null');
}
