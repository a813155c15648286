// Serves the count of tokens of a dialect: as the provider of the model counts them, or estimated. Never an inference.
import type { DialectRequest } from '../../../dialects/dialect.ts';
import { readCompatibleBody } from '../body.ts';
import { ok, type Reply } from '../reply.ts';
import type { RouteContext } from '../route.ts';
import { targetsOf } from './client-model.ts';
import { headersOf, inClientsWords } from './dialect.ts';

/** The handler of a route that reads its request with `read` and answers `{input_tokens}`. */
export const countTokens =
  (read: (body: unknown) => DialectRequest) =>
  async (context: RouteContext): Promise<Reply<object>> => {
    const { core, signal, requestId, key } = context;
    const request = read((await readCompatibleBody(context)).value);
    const [target] = await targetsOf(context, request.model);
    if (target === undefined) throw new Error('An alias without a model.');
    const { tokens, isEstimated } = await core
      .countTokens({ ...request.chat, ...target }, { signal, requestId, key: key?.name, askedAs: request.model })
      .catch((error: unknown) => {
        throw inClientsWords(error, request);
      });
    return ok({ input_tokens: tokens }, { ...headersOf(target, request.warnings), ...(isEstimated && { 'x-blockhouse-estimated': 'true' }) });
  };
