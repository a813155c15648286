// Which models are asked for one request, and in which order: what its name means, as far as its key may use it, drawn by weights, without those that are too small.
//
// Nothing of this is worked out for a name that means one model, which is the usual case.
import { isObject } from '../../../core/base/json.ts';
import { bodyTokens, conversationOf, drawn, type FallbackClass, fitting, hasWeights, type ModelTarget } from '../../../core/index.ts';
import type { RouteContext } from '../wire/route.ts';
import { routeOf } from './client-model.ts';

/** The models to ask. */
export interface ModelPlan {
  /** At least one. */
  readonly targets: readonly ModelTarget[];
  /** The classes of failures after which the next one is asked; undefined for the usual ones. */
  readonly on: ReadonlySet<FallbackClass> | undefined;
  /** Those that are passed over, each with its reason. */
  readonly passed: readonly string[];
  /** The conversation of the request, if it had to be known. */
  readonly conversation: string | undefined;
}

/** What a client has sent. */
export interface SentBody {
  readonly value: unknown;
  /** The length in bytes. */
  readonly bytes: number;
}

type Context = Pick<RouteContext, 'core' | 'key' | 'req' | 'requestId'>;

const NONE: readonly string[] = [];
/** Every model has room for as much. */
const ANY_WINDOW = 2048;
/** Under which names protocols say how long an answer may be. */
const OUTPUT_FIELDS = ['max_completion_tokens', 'max_output_tokens', 'max_tokens', 'num_predict'] as const;

/** At once where nothing must be asked or read. Rejects as `routeOf` does. */
export function planOf(context: Context, model: string, sent: SentBody): ModelPlan | Promise<ModelPlan> {
  const route = routeOf(context, model);
  if (route instanceof Promise) return route.then((found) => ordered(context, found, sent));
  return ordered(context, route, sent);
}

type Route = Pick<ModelPlan, 'targets' | 'on'>;

function ordered(context: Context, { targets, on }: Route, sent: SentBody): ModelPlan | Promise<ModelPlan> {
  if (targets.length === 1) return { targets, on, passed: NONE, conversation: undefined };
  const body = isObject(sent.value) ? sent.value : {};
  const conversation = hasWeights(targets) ? conversationOf(context.req.headers, body) : undefined;
  const inTurn = hasWeights(targets) ? drawn(targets, `${context.key?.name ?? ''} ${conversation ?? context.requestId}`) : targets;
  const plan = { targets: inTurn, on, passed: NONE, conversation };
  const output = outputIn(body);
  return sent.bytes + output <= ANY_WINDOW ? plan : sized(context, plan, { tokens: bodyTokens(body, sent.bytes), output });
}

async function sized({ core }: Context, plan: ModelPlan, size: { readonly tokens: number; readonly output: number }): Promise<ModelPlan> {
  const windows = new Map(await Promise.all(plan.targets.map(async (target) => [target, await core.windowOf(target.adapter, target.model)] as const)));
  const { fit, small } = fitting(plan.targets, (target) => windows.get(target), size);
  return { ...plan, targets: fit, passed: small.map((target) => passedOver(target, 'context')) };
}

/** How a model that was passed over is told. */
export function passedOver({ adapter, model }: ModelTarget, reason: string): string {
  return `${adapter}/${model} ${reason}`;
}

function outputIn(body: Readonly<Record<string, unknown>>): number {
  const options = isObject(body['options']) ? body['options'] : {};
  for (const name of OUTPUT_FIELDS) {
    const most = body[name] ?? options[name];
    if (typeof most === 'number' && most > 0) return most;
  }
  return 0;
}
