// Serves a protocol for embeddings: resolves the model, asks the providers that its name means, and writes the vectors.
import { assertMayAsk, classOf, isBlockTarget, mayAskNext, type RequestFields } from '../../../core/index.ts';
import type { ReadEmbeddings } from '../dialects/shared/embeddings.ts';
import { readCompatibleBody } from '../wire/body.ts';
import { ok, type Reply } from '../wire/reply.ts';
import type { RouteContext } from '../wire/route.ts';
import { noBlockHere } from './compatible-blocks.ts';
import { headersOf } from './answer-headers.ts';
import { inClientsWords } from './dialect.ts';
import { passedOver, planOf } from './model-plan.ts';

/** The handler of a route that reads its request with `read`. `fields` says what each of its fields decides. `anyType` takes bodies under every media type. */
export const embedWith =
  (read: ReadEmbeddings, fields: RequestFields, anyType = false) =>
  async (context: RouteContext): Promise<Reply<object>> => {
    const { core, signal, requestId, path, key, req, res } = context;
    const { value, bytes } = await readCompatibleBody(context, anyType);
    if (key !== undefined) assertMayAsk(key, fields, value);
    const request = read(value);
    let failure: unknown;
    const { targets, on, passed } = await planOf(context, request.model, { value, bytes: bytes.length });
    const [first] = targets;
    if (first !== undefined && isBlockTarget(first)) throw noBlockHere();
    const over = [...passed];
    for (const [index, { adapter, model }] of targets.entries()) {
      const target = { adapter, model };
      try {
        const response = await core.embed(
          { ...request.embed, ...target },
          { signal, requestId, path, key: key?.name, askedAs: request.model, repeats: index === targets.length - 1, ofRequest: res, headers: req.headers },
        );
        return ok(request.answer(response), headersOf(target, request.warnings, undefined, over));
      } catch (error) {
        failure = inClientsWords(error, request);
        if (!mayAskNext(failure, on)) break;
        over.push(passedOver(target, classOf(inClientsWords(error, request)) ?? 'price'));
      }
    }
    throw failure;
  };
