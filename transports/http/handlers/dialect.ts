// Serves a dialect: resolves the model, asks the providers that its name means, and writes the answer in the client's protocol.
//
// next-before-first-byte: the next model of an alias is asked only while nothing of an answer has been sent, and only after a failure that says nothing
//   about the request itself.
import { isObject } from '../../../core/base/json.ts';
import type { JsonOutline } from '../../../core/base/json-members.ts';
import {
  assertMayAsk,
  assertMayPass,
  BlockhouseError,
  type ChatDone,
  classOf,
  invalidRequest,
  isBlockTarget,
  mayAskNext,
  type ModelTarget,
  type StreamSink,
  toBlockhouseError,
  type Warning,
} from '../../../core/index.ts';
import type { AnswerContext, Dialect, DialectRequest, NativeLane } from '../dialects/shared/dialect.ts';
import { flag } from '../dialects/shared/fields.ts';
import { withMembers } from '../dialects/shared/json-edit.ts';
import { argumentValues } from '../dialects/shared/tool-calls.ts';
import { type CompatibleBody, readCompatibleBody } from '../wire/body.ts';
import { takeParsed } from '../wire/body-room.ts';
import { type JsonReply, ok, type Reply, STREAMED, Written } from '../wire/reply.ts';
import { forCaller, type RouteContext } from '../wire/route.ts';
import { SseWriter } from '../wire/sse.ts';
import { headersOf } from './answer-headers.ts';
import { askBlock } from './block-model.ts';
import { assertMayAskBlock, noBlockHere } from './compatible-blocks.ts';
import { Collector } from './collector.ts';
import { type Candidate, faultReply, forward, headersFrom } from './forward.ts';
import { type ModelPlan, passedOver, planOf } from './model-plan.ts';

const NO_BYTES = Buffer.alloc(0);

/** What a client has sent, and its translation once a provider needs it. */
class Job<E> {
  readonly dialect: Dialect<E>;
  readonly context: RouteContext;
  bytes: Buffer;
  body: unknown;
  readonly outline: JsonOutline | undefined;
  /** Set for a large body. */
  readonly turn: (() => Promise<void>) | undefined;
  #request: DialectRequest<E> | undefined;
  /** The models that are passed over, each with its reason. */
  readonly passed: string[] = [];
  /** The conversation that the request belongs to, if it had to be known. */
  conversation: string | undefined;

  constructor(dialect: Dialect<E>, context: RouteContext, { bytes, value, outline, turn }: CompatibleBody) {
    this.dialect = dialect;
    this.context = context;
    this.bytes = bytes;
    this.body = value;
    this.outline = outline;
    this.turn = turn;
  }

  /** Throws QUEUE_FULL if the arguments of its calls, which most protocols have as texts, have no room. */
  request(): DialectRequest<E> {
    if (this.#request !== undefined) return this.#request;
    const request = this.dialect.read(this.body);
    takeParsed(this.context, argumentValues(request.chat.messages));
    this.#request = request;
    return request;
  }

  headers(target: ModelTarget, warnings: readonly { readonly field: string }[]): Record<string, string> {
    return headersOf(target, warnings, this.dialect.answerHeaders?.(this.context.requestId), this.passed);
  }

  /** No other model will be asked: what only another one would need is not kept while this one answers. */
  release(): void {
    this.bytes = NO_BYTES;
    this.body = undefined;
  }
}

/** The handler of a dialect's route. */
export const speak =
  <E>(dialect: Dialect<E>) =>
  async (context: RouteContext): Promise<Reply<object>> => {
    const job = new Job(dialect, context, await readCompatibleBody(context, dialect.anyType));
    if (context.key !== undefined) assertMayAsk(context.key, dialect.fields, job.body);
    const model = askedModel(job);
    const found = planOf(context, model, { value: job.body, bytes: job.bytes.length });
    const plan = found instanceof Promise ? await found : found;
    const [first] = plan.targets;
    if (first !== undefined && isBlockTarget(first)) return await answerOfBlock(job, first.model, model);
    const ready = dialect.ready?.(new Asked(context.requestId, job.request()));
    return ready === undefined ? await answerOf(job, plan, model) : ok(ready);
  };

async function answerOfBlock<E>(job: Job<E>, block: string, model: string): Promise<Reply<object>> {
  const { dialect, context, body } = job;
  if (dialect.asksBlocks !== true) throw noBlockHere();
  assertMayAskBlock(context, block, model);
  const asked = new Asked(context.requestId, job.request());
  const ready = dialect.ready?.(asked);
  if (job.turn !== undefined) await job.turn();
  return ready === undefined ? await askBlock({ dialect, context, asked, body, block }) : ok(ready);
}

function askedModel<E>(job: Job<E>): string {
  const { body } = job;
  return isObject(body) && typeof body['model'] === 'string' && body['model'] !== '' ? body['model'] : job.request().model;
}

/** The error of a dialect as a reply. */
export const faultOf =
  (dialect: Dialect) =>
  (failure: BlockhouseError, requestId: string): JsonReply => ({ ...dialect.error(failure, requestId) });

async function answerOf<E>(job: Job<E>, { targets, on, passed, conversation }: ModelPlan, asked: string): Promise<Reply<object>> {
  let failure: unknown;
  if (passed.length > 0) job.passed.push(...passed);
  job.conversation = conversation;
  for (let index = 0; index < targets.length; index += 1) {
    const { adapter, model } = targets[index] as ModelTarget;
    const target = { adapter, model, isLast: index === targets.length - 1, askedAs: asked };
    try {
      const lane = laneOf(job, target);
      if (lane !== undefined) return await native(lane, job, target);
      const { stream } = job.request();
      if (target.isLast) job.release();
      if (job.turn !== undefined) await job.turn();
      return stream ? await streamed(job, target) : await whole(job, target);
    } catch (error) {
      failure = error;
      if (job.context.res.headersSent) break;
      if (!target.isLast && mayAskNext(error, on)) {
        job.passed.push(passedOver(target, classOf(toBlockhouseError(error)) ?? 'price'));
        continue; // next-before-first-byte
      }
      const reply = faultReply(toBlockhouseError(error), job.headers(target, []));
      if (reply !== undefined) return reply;
      break;
    }
  }
  throw withCure(failure, asked);
}

/** A program that can't be changed sends its own model name, and the provider that knows the name has no key: its first failure, and one that an alias ends. */
function withCure(failure: unknown, asked: string): unknown {
  if (!(failure instanceof BlockhouseError) || failure.code !== 'ADAPTER_NOT_CONFIGURED' || asked.includes('/')) return failure;
  const cure = `To let another model answer to this name: \`blockhouse alias set ${asked} <provider>/<model>\`.`;
  const forKeys = failure.forKeys === undefined ? undefined : `${failure.forKeys} ${cure}`;
  return new BlockhouseError(failure.code, `${failure.message} ${cure}`, { cause: failure, forKeys });
}

/** A lane, and what the request loses on it. */
interface OpenLane {
  readonly lane: NativeLane;
  readonly warnings: readonly Warning[];
}

/** Set if the provider speaks the client's protocol itself, and models.json does not say otherwise. */
function laneOf<E>({ dialect, context: { core }, body }: Job<E>, { adapter, model }: ModelTarget): OpenLane | undefined {
  const lane = dialect.native;
  if (lane === undefined || !isObject(body) || core.router.isTranslated(adapter)) return undefined;
  const warnings = core.lane(adapter, lane.path, model, body);
  return warnings === undefined ? undefined : { lane, warnings };
}

/** Not an async function: one that returns a promise costs three turns more than the promise itself. */
function native<E>({ lane: { path, toBody, broken }, warnings }: OpenLane, job: Job<E>, target: Candidate): Promise<Reply<object>> {
  const { dialect, body, bytes, outline, context } = job;
  const fields = body as Readonly<Record<string, unknown>>;
  const { url = '' } = context.req;
  const at = url.indexOf('?');
  const search = at < 0 ? '' : url.slice(at);
  if (context.key !== undefined) assertMayPass(context.key, dialect.fields, { body: fields, bytes, search, outline });
  const isStream = flag(fields, 'stream') === true; // some providers take a text or a number for a yes, and its usage would pass unread
  const sent = toBody?.(bytes, fields, target.model, outline) ?? { ...withMembers(bytes, { model: JSON.stringify(target.model) }, outline), hidesUsage: false };
  const request = { path, search, headers: headersFrom(context), fields, ...sent };
  if (target.isLast) job.release();
  const { conversation } = job;
  return forward({ target, request, headers: job.headers(target, warnings), broken: isStream ? broken : undefined, conversation }, context);
}

async function whole<E>(job: Job<E>, target: Candidate): Promise<Reply<object>> {
  const { dialect, context } = job;
  const request = job.request();
  const asked = new Asked(context.requestId, request);
  const collector = new Collector();
  const done = await ask(job, request, target, collector);
  const answer = dialect.answer(collector.answer(done), asked);
  return ok(new Written<object>(answer), job.headers(target, warningsOf(request, done.warnings)));
}

async function streamed<E>(job: Job<E>, target: Candidate): Promise<typeof STREAMED> {
  const { dialect, context } = job;
  const request = job.request();
  const writer = new SseWriter(context.res, context.requestId, context.server.sse, {
    frames: dialect.stream(new Asked(context.requestId, request)),
    headers: (warnings) => ({
      ...job.headers(target, warningsOf(request, warnings)),
      ...(dialect.streamType !== undefined && { 'content-type': dialect.streamType }),
    }),
    rates: context.rates,
  });
  try {
    writer.done(await ask(job, request, target, writer));
    return STREAMED;
  } catch (error) {
    writer.fail(forCaller(toBlockhouseError(error), context.key));
    throw error;
  }
}

async function ask<E>(
  { context: { core, signal, requestId, path, key, req, res }, turn, conversation }: Job<E>,
  request: DialectRequest<E>,
  { adapter, model, isLast, askedAs }: Candidate,
  sink: StreamSink,
): Promise<ChatDone> {
  try {
    return await core.pipe(Object.assign({ adapter, model }, request.chat), sink, {
      signal,
      requestId,
      path,
      key: key?.name,
      askedAs,
      leavesTokenLimit: true,
      limitsCalls: true,
      repeats: isLast,
      ofRequest: res,
      headers: req.headers,
      conversation,
      ...(turn !== undefined && { turn }),
    });
  } catch (error) {
    throw inClientsWords(error, request);
  }
}

/** A refused field by the name that the client knows. */
export function inClientsWords(error: unknown, { field }: Pick<DialectRequest, 'field'>): BlockhouseError {
  const failure = toBlockhouseError(error);
  const detail = failure.details?.[0];
  const name = detail === undefined ? undefined : field?.(detail.path);
  return detail === undefined || name === undefined ? failure : invalidRequest(name, detail.message);
}

/** What was ignored of a request, by the names that the client knows. */
function warningsOf<E>({ warnings, field }: DialectRequest<E>, ofGateway: readonly Warning[] = []): readonly Warning[] {
  return ofGateway.length === 0 ? warnings : [...warnings, ...ofGateway.map((warning) => ({ ...warning, field: field?.(warning.field) ?? warning.field }))];
}

/** A request from the moment that it was understood. */
class Asked<E> implements AnswerContext<E> {
  readonly requestId: string;
  readonly request: DialectRequest<E>;
  readonly created = this.now();
  readonly #startedAt = performance.now();

  constructor(requestId: string, request: DialectRequest<E>) {
    this.requestId = requestId;
    this.request = request;
  }

  now(): number {
    return Math.floor(Date.now() / 1000);
  }

  elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }
}
