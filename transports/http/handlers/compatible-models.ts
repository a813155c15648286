// `GET /v1/models` and `/v1/models/{id}` in the two shapes that clients read.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { BlockhouseError, invalidRequest, isBlockTarget, type OfferedModel } from '../../../core/index.ts';
import { ANTHROPIC } from '../dialects/anthropic/index.ts';
import { OPENAI_CHAT } from '../dialects/openai-chat/index.ts';
import { queryNumber, queryValue } from '../wire/query.ts';
import { type JsonReply, ok } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';
import { findBlock } from './compatible-blocks.ts';
import { type ListForm, offeredAs, offeredTo, targetsOf } from './client-model.ts';

/** No provider tells when each of its models was made, and clients only show it. */
const CREATED = Date.parse('2026-01-01T00:00:00Z');

const MAX_PAGE = 1000;
const PAGE_PARAMETERS = ['limit', 'after_id', 'before_id'] as const;

/** The names that are offered: OpenAI's list, or Anthropic's for a client that sends `anthropic-version`. */
export const list = async (context: RouteContext) => {
  const { req } = context;
  if (!isAnthropic(req.headers)) return ok(await offeredAs(context, OPENAI_LIST));
  const headers = ANTHROPIC.answerHeaders?.(context.requestId);
  if (PAGE_PARAMETERS.every((name) => queryValue(req, name) === undefined)) return ok(await offeredAs(context, ANTHROPIC_LIST), headers);
  const { page, hasMore } = pageOf(await offeredTo(context), req);
  const data = page.map(anthropic);
  return ok({ data, has_more: hasMore, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }, headers);
};

/** One name, offered or not, as long as it resolves. Fails with MODEL_NOT_FOUND, and with KEY_FORBIDDEN for a model that the key may not use. */
export const one = async (context: RouteContext) => {
  const model = await found(context, param(context, 'id'));
  return isAnthropic(context.req.headers) ? ok(anthropic(model), ANTHROPIC.answerHeaders?.(context.requestId)) : ok(openAi(model));
};

/** An error in the shape that the client reads. */
export const fault = (failure: BlockhouseError, requestId: string, headers: IncomingHttpHeaders): JsonReply => ({
  ...(isAnthropic(headers) ? ANTHROPIC : OPENAI_CHAT).error(failure, requestId),
});

function isAnthropic(headers: IncomingHttpHeaders): boolean {
  return headers['anthropic-version'] !== undefined;
}

async function found(context: RouteContext, id: string): Promise<OfferedModel> {
  const [first] = await targetsOf(context, id);
  if (first === undefined) throw new BlockhouseError('MODEL_NOT_FOUND', `There is no model ${JSON.stringify(id.slice(0, 64))}.`);
  if (isBlockTarget(first)) await findBlock(context, first.model, id);
  return { id, adapter: first.adapter };
}

/** A page of Anthropic's list: the models after or before a given one, `limit` at most, and never more than MAX_PAGE. Throws INVALID_REQUEST. */
function pageOf(models: readonly OfferedModel[], req: IncomingMessage): { readonly page: readonly OfferedModel[]; readonly hasMore: boolean } {
  const [after, before] = [queryValue(req, 'after_id'), queryValue(req, 'before_id')];
  const limit = queryNumber(req, 'limit') ?? MAX_PAGE;
  if (queryValue(req, 'limit') !== undefined && (limit < 1 || limit > MAX_PAGE)) throw invalidRequest('limit', `must be from 1 to ${MAX_PAGE}`);
  if (after !== undefined && before !== undefined) throw invalidRequest('before_id', "can't be given together with after_id");
  if (before !== undefined) {
    const rest = models.slice(0, placeOf(models, 'before_id', before));
    return { page: rest.slice(Math.max(0, rest.length - limit)), hasMore: rest.length > limit };
  }
  const rest = after === undefined ? models : models.slice(placeOf(models, 'after_id', after) + 1);
  return { page: rest.slice(0, limit), hasMore: rest.length > limit };
}

function placeOf(models: readonly OfferedModel[], field: string, id: string): number {
  const place = models.findIndex((model) => model.id === id);
  if (place < 0) throw invalidRequest(field, 'is no model of the list');
  return place;
}

function openAi({ id, adapter }: OfferedModel) {
  return { id, object: 'model', created: CREATED / 1000, owned_by: adapter };
}

function anthropic({ id }: OfferedModel) {
  return { type: 'model', id, display_name: id.slice(id.indexOf('/') + 1), created_at: new Date(CREATED).toISOString() };
}

const OPENAI_LIST: ListForm<{ readonly object: string; readonly data: readonly ReturnType<typeof openAi>[] }> = {
  opening: '{"object":"list","data":',
  one: openAi,
  closing: () => '}',
};

const ANTHROPIC_LIST: ListForm<{ readonly data: readonly ReturnType<typeof anthropic>[] }> = {
  opening: '{"data":',
  one: anthropic,
  closing: (models) => `,"has_more":false,"first_id":${JSON.stringify(models[0]?.id ?? null)},"last_id":${JSON.stringify(models.at(-1)?.id ?? null)}}`,
};
