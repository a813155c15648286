// Serves a dialect: resolves the model, asks the providers that its name means, and writes the answer in the client's protocol.
//
// next-before-first-byte: the next model of an alias is asked only while nothing of an answer has been sent, and only after a failure that says nothing
//   about the request itself.
import { type AnswerPiece, type BlockhouseError, type ChatDone, type ModelTarget, type StreamSink, toBlockhouseError } from '../../../core/index.ts';
import type { Dialect, DialectRequest, WholeAnswer } from '../../../dialects/dialect.ts';
import { COMPATIBLE_BODY_BYTES, readJsonBody } from '../body.ts';
import { type JsonReply, ok, type Reply, STREAMED } from '../reply.ts';
import type { RouteContext } from '../route.ts';
import { SseWriter, type StreamFrames } from '../sse.ts';

/** Failures of one model after which another may still answer. */
const NEXT: ReadonlySet<string> = new Set([
  'UPSTREAM_UNREACHABLE',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_FAILED',
  'UPSTREAM_MALFORMED',
  'UPSTREAM_RATE_LIMITED',
  'UPSTREAM_AUTH',
  'ADAPTER_NOT_CONFIGURED',
  'QUEUE_FULL',
  'TOO_MANY_CONNECTIONS',
]);

/** The handler of a dialect's route. */
export const speak =
  <E>(dialect: Dialect<E>) =>
  async (context: RouteContext): Promise<Reply<object>> => {
    const request = dialect.read(await readJsonBody(context, COMPATIBLE_BODY_BYTES, false));
    const { core, key } = context;
    const { targets } = await core.router.resolve(request.model);
    if (key !== undefined) await core.accounts?.admit(key, [request.model, ...targets.map(({ adapter, model }) => `${adapter}/${model}`)]);
    const ready = dialect.ready?.(answerContext(request, context));
    if (ready !== undefined) return ok(ready);
    return request.stream ? streamed(dialect, request, targets, context) : whole(dialect, request, targets, context);
  };

/** The error of a dialect as a reply. */
export const faultOf =
  (dialect: Dialect) =>
  (failure: BlockhouseError, requestId: string): JsonReply => ({ ...dialect.error(failure, requestId) });

async function whole<E>(dialect: Dialect<E>, request: DialectRequest<E>, targets: readonly ModelTarget[], context: RouteContext): Promise<Reply<object>> {
  const asked = answerContext(request, context);
  let failure: unknown;
  for (const [index, target] of targets.entries()) {
    const collector = new Collector();
    try {
      const done = await ask(request, target, collector, context);
      const answer = dialect.answer(collector.answer(done), asked);
      return ok(answer, headersOf(target, [...request.warnings, ...(done.warnings ?? [])]));
    } catch (error) {
      failure = error;
      if (index === targets.length - 1 || !NEXT.has(toBlockhouseError(error).code)) break;
    }
  }
  throw failure;
}

async function streamed<E>(dialect: Dialect<E>, request: DialectRequest<E>, targets: readonly ModelTarget[], context: RouteContext): Promise<typeof STREAMED> {
  const { res, requestId, server } = context;
  let failure: unknown;
  for (const [index, target] of targets.entries()) {
    const stream = dialect.stream(answerContext(request, context));
    const frames: StreamFrames = {
      start: () => '',
      content: (fragments) => stream.pieces(fragments.map((text) => ({ type: 'text', text }))),
      pieces: (pieces) => stream.pieces(pieces),
      done: (done) => stream.done(done),
      error: (fault) => stream.error(fault),
      keepAlive: () => stream.keepAlive(),
    };
    const headers = { ...headersOf(target, request.warnings), ...(dialect.streamType !== undefined && { 'content-type': dialect.streamType }) };
    const writer = new SseWriter(res, requestId, server.sse, { frames, headers });
    try {
      writer.done(await ask(request, target, writer, context));
      return STREAMED;
    } catch (error) {
      failure = error;
      const fault = toBlockhouseError(error);
      const isLast = index === targets.length - 1 || !NEXT.has(fault.code) || writer.opened; // next-before-first-byte
      if (isLast) writer.fail(fault);
      else writer.stop();
      if (isLast) break;
    }
  }
  throw failure;
}

function ask<E>(
  { chat }: DialectRequest<E>,
  { adapter, model }: ModelTarget,
  sink: StreamSink,
  { core, signal, requestId, key }: RouteContext,
): Promise<ChatDone> {
  return core.pipe({ ...chat, adapter, model }, sink, { signal, requestId, key: key?.name });
}

function answerContext<E>(request: DialectRequest<E>, { requestId }: RouteContext) {
  const startedAt = performance.now();
  return { requestId, created: Math.floor(Date.now() / 1000), elapsedMs: () => performance.now() - startedAt, request };
}

/** Field names only: a value may be a secret, and a header has no room for prose. */
function headersOf({ adapter, model }: ModelTarget, warnings: readonly { readonly field: string }[]): Record<string, string> {
  const fields = [...new Set(warnings.map(({ field }) => field))].join('; ').replace(/[^\x20-\x7e]/g, '?');
  return {
    'x-blockhouse-model': `${adapter}/${model}`.replace(/[^\x20-\x7e]/g, '?'),
    ...(fields !== '' && { 'x-blockhouse-warnings': fields.slice(0, 2048) }),
  };
}

/** The parts of a whole answer are bounded like those of `/v1/chat`: the adapters refuse more than they may hold. */
class Collector implements StreamSink {
  readonly whole = true;
  readonly opened = false;
  readonly opensInMs = Number.POSITIVE_INFINITY;
  readonly #pieces: WholeAnswer['pieces'][number][] = [];

  start(): void {
    // The answer says at its end which model it is from.
  }

  content(fragments: readonly string[]): boolean {
    return this.pieces(fragments.map((text) => ({ type: 'text', text })));
  }

  pieces(pieces: readonly AnswerPiece[]): boolean {
    for (const piece of pieces) {
      if (piece.type === 'toolCallStart' || piece.type === 'toolCallDelta') continue;
      const last = this.#pieces.at(-1);
      if (piece.type !== 'toolCall' && last?.type === piece.type) this.#pieces[this.#pieces.length - 1] = { type: piece.type, text: last.text + piece.text };
      else this.#pieces.push(piece);
    }
    return true;
  }

  onceWritable(resume: () => void): void {
    resume();
  }

  answer(done: ChatDone): WholeAnswer {
    return { pieces: this.#pieces, done };
  }
}
