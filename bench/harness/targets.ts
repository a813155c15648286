// Who is asked, with what bytes, and what a right answer of theirs is.
import { MARK_START } from '../servers/marks.ts';
import { SILENT_MODEL, streamModel, wholeModel } from '../servers/model.ts';
import { type FramingName, WIRE } from '../servers/wire.ts';
import type { Server } from './processes.ts';

export interface WholeCall {
  readonly request: Buffer;
  /** The same question in other conversations, sent in turn after it; undefined for none. */
  readonly others?: readonly Buffer[];
  /** The text that must stand in the answer. */
  readonly text: string;
}

export interface StreamCall {
  readonly request: Buffer;
  readonly frames: number;
  /** Must come after the last frame. */
  readonly endMark: string;
}

/** A server under load. `pid` is 0 where its processor time is not of interest. */
export interface Target {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  whole(size: number): WholeCall;
  stream(frames: number, everyMs: number): StreamCall;
  silent(): StreamCall;
}

const SHORT_PROMPT = 'Say in one sentence what a gateway is good for, and in another one what it costs.';

function promptOf(size: number): string {
  return size <= SHORT_PROMPT.length ? SHORT_PROMPT : `${SHORT_PROMPT} `.repeat(Math.ceil(size / SHORT_PROMPT.length)).slice(0, size);
}

const answerOf = (size: number): string => 'word '.repeat(Math.ceil(size / 5)).slice(0, size);

interface Shape {
  readonly path: (model: string, stream: boolean) => string;
  readonly body: (model: string, prompt: string, stream: boolean) => string;
  readonly endMark: string;
  readonly headers?: string;
  readonly conversations?: Conversations | undefined;
}

/** So many conversations, told apart by a header, or by what they begin with. */
export interface Conversations {
  readonly count: number;
  readonly by: 'session' | 'beginning';
}

export function targetOf(server: Server, name: string, shape: Shape): Target {
  const call = (model: string, prompt: string, stream: boolean, headers = ''): Buffer => {
    const body = shape.body(model, prompt, stream);
    const head = `POST ${shape.path(model, stream)} HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\ncontent-type: application/json\r\n`;
    return Buffer.from(`${head}${shape.headers ?? ''}${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  const others = (size: number): Pick<WholeCall, 'others'> => {
    const { conversations: { count, by } = { count: 0, by: 'beginning' } } = shape;
    if (count === 0) return {};
    const of = (each: number): Buffer =>
      by === 'session'
        ? call(wholeModel(size), promptOf(size), false, `x-blockhouse-session: session-${10_000 + each}\r\n`)
        : call(wholeModel(size), `${10_000 + each} ${promptOf(size).slice(6)}`, false);
    return { others: Array.from({ length: count }, (_, each) => of(each)) };
  };
  const { endMark } = shape;
  return {
    name,
    port: server.port,
    pid: server.pid,
    whole: (size) => ({ request: call(wholeModel(size), promptOf(size), false), text: answerOf(size), ...others(size) }),
    stream: (frames, everyMs) => ({ request: call(streamModel(frames, everyMs), SHORT_PROMPT, true), frames, endMark }),
    silent: () => ({ request: call(SILENT_MODEL, SHORT_PROMPT, true), frames: 1, endMark }),
  };
}

/** The provider's own request: for the direct call, and for the pipe. */
export function providerTarget(server: Server, framing: FramingName): Target {
  const wire = WIRE[framing];
  return targetOf(server, server.name, {
    path: (model, stream) => wire.path(model, stream),
    body: (model, prompt, stream) => wire.request(model, prompt, stream),
    endMark: wire.endMark,
  });
}

interface GatewayTargetOptions {
  readonly connection?: string;
  readonly token?: string;
  readonly conversations?: Conversations;
}

/** Keys of which no limit is reached, and none is larger than somebody would set it: one without limits, one with a cap, and one with every limit, in a group with every limit. */
export async function makeKeys(server: Server): Promise<Readonly<Record<'plain' | 'capped' | 'limited', string>>> {
  const figures = { inFlight: 1000, requestsPerMinute: 1e7, tokensPerMinute: 1e9, unpriced: 'allow' };
  const caps = { usdPerDay: 1e6, usdPerWeek: 1e6, usdPerMonth: 1e6, tokensPerDay: 1e12, tokensPerMonth: 1e12 };
  const call = async (method: string, path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  };
  const make = async (name: string, limits: object): Promise<string> => String((await call('POST', '/api/keys', { name, ...limits }))['key']);
  await call('PUT', '/api/key-groups/team', { ...figures, ...caps });
  return {
    plain: await make('plain', {}),
    capped: await make('capped', { tokensPerDay: 1e12 }),
    limited: await make('limited', { group: 'team', models: ['openai/*'], ...figures, ...caps }),
  };
}

/** `connection`: a connection to the same upstream, instead of the adapter. `token`: the key of another caller. */
export function gatewayTarget(server: Server, framing: FramingName, { connection, token = server.token, conversations }: GatewayTargetOptions = {}): Target {
  const adapter = connection ?? WIRE[framing].adapter;
  return targetOf(server, connection ?? 'gateway', {
    path: () => '/v1/chat',
    body: (model, prompt, stream) => JSON.stringify({ adapter, model, messages: [{ role: 'user', content: prompt }], ...(stream && { stream }) }),
    headers: `authorization: Bearer ${token}\r\n`,
    conversations,
    endMark: 'event: done',
  });
}

/** The protocols that clients bring with them. */
export type ClientProtocol = 'chat' | 'responses' | 'messages';

const CLIENT_SHAPES: Readonly<Record<ClientProtocol, { readonly path: string; readonly prompt: string; readonly limit: string; readonly endMark: string }>> = {
  chat: { path: '/v1/chat/completions', prompt: 'messages', limit: 'max_tokens', endMark: 'data: [DONE]' },
  responses: { path: '/v1/responses', prompt: 'input', limit: 'max_output_tokens', endMark: 'data: [DONE]' },
  messages: { path: '/v1/messages', prompt: 'messages', limit: 'max_tokens', endMark: 'event: message_stop' },
};

/** The same question in the protocol of a client. */
export function clientTarget(server: Server, protocol: ClientProtocol): Target {
  const { path, prompt: name, limit, endMark } = CLIENT_SHAPES[protocol];
  return targetOf(server, 'gateway', {
    path: () => path,
    body: (model, prompt, stream) =>
      JSON.stringify({ model: `openai/${model}`, [name]: [{ role: 'user', content: prompt }], [limit]: 4096, ...(stream && { stream }) }),
    headers: `authorization: Bearer ${server.token}\r\n`,
    endMark,
  });
}

/** Throws unless the answer holds the whole text, and no mark of a stream. */
export function assertWhole(name: string, status: number, body: string, text: string): void {
  if (status !== 200 || !body.includes(JSON.stringify(text)) || body.includes(MARK_START))
    throw new Error(`${name} answered ${status} with something else: ${body.slice(0, 500)}`);
}
