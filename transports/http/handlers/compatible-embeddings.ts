// Serves a protocol for embeddings: resolves the model, asks the providers that its name means, and writes the vectors.
import { assertMayAsk, type RequestFields } from '../../../core/index.ts';
import type { ReadEmbeddings } from '../dialects/shared/embeddings.ts';
import { readCompatibleBody } from '../wire/body.ts';
import { ok, type Reply } from '../wire/reply.ts';
import type { RouteContext } from '../wire/route.ts';
import { headersOf } from './answer-headers.ts';
import { targetsOf } from './client-model.ts';
import { inClientsWords, mayAskNext } from './dialect.ts';

/** The handler of a route that reads its request with `read`. `fields` says what each of its fields decides. `anyType` takes bodies under every media type. */
export const embedWith =
  (read: ReadEmbeddings, fields: RequestFields, anyType = false) =>
  async (context: RouteContext): Promise<Reply<object>> => {
    const { core, signal, requestId, key, res } = context;
    const { value } = await readCompatibleBody(context, anyType);
    if (key !== undefined) assertMayAsk(key, fields, value);
    const request = read(value);
    let failure: unknown;
    const targets = await targetsOf(context, request.model);
    for (const target of targets) {
      try {
        const response = await core.embed(
          { ...request.embed, ...target },
          { signal, requestId, key: key?.name, askedAs: request.model, repeats: target === targets.at(-1), ofRequest: res },
        );
        return ok(request.answer(response), headersOf(target, request.warnings));
      } catch (error) {
        failure = inClientsWords(error, request);
        if (!mayAskNext(failure)) break;
      }
    }
    throw failure;
  };
