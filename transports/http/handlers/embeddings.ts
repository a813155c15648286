// Serves OpenAI's Embeddings: resolves the model, asks the providers that its name means, and writes the vectors.
import { clientField, readRequest } from '../../../dialects/openai-embeddings/request.ts';
import { toEmbeddings } from '../../../dialects/openai-embeddings/response.ts';
import { readCompatibleBody } from '../body.ts';
import { ok, type Reply } from '../reply.ts';
import type { RouteContext } from '../route.ts';
import { targetsOf } from './client-model.ts';
import { headersOf, inClientsWords, mayAskNext } from './dialect.ts';

/** The vectors of each text, in their order. */
export const embeddings = async (context: RouteContext): Promise<Reply<object>> => {
  const request = readRequest((await readCompatibleBody(context)).value);
  const targets = await targetsOf(context, request.model);
  let failure: unknown;
  for (const target of targets) {
    try {
      const { core, signal, requestId, key } = context;
      const answer = await core.embed({ ...request.embed, ...target }, { signal, requestId, key: key?.name });
      return ok(toEmbeddings(answer, request), headersOf(target, request.warnings));
    } catch (error) {
      failure = inClientsWords(error, FIELDS);
      if (!mayAskNext(failure)) break;
    }
  }
  throw failure;
};

const FIELDS = { field: clientField };
