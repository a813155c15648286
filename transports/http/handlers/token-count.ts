// Serves the count of tokens of a dialect: as the provider of the model counts them, or estimated. Never an inference.
import { assertMayAsk, isBlockTarget } from '../../../core/index.ts';
import type { Dialect, DialectRequest } from '../dialects/shared/dialect.ts';
import { argumentValues } from '../dialects/shared/tool-calls.ts';
import { readCompatibleBody } from '../wire/body.ts';
import { takeParsed } from '../wire/body-room.ts';
import { ok, type Reply } from '../wire/reply.ts';
import type { RouteContext } from '../wire/route.ts';
import { headersOf } from './answer-headers.ts';
import { noBlockHere } from './compatible-blocks.ts';
import { targetsOf } from './client-model.ts';
import { inClientsWords } from './dialect.ts';

/** The handler of a route that reads its request with `read`, where `dialect` says what each field decides, and answers `{input_tokens}`. */
export const countTokens =
  (read: (body: unknown) => DialectRequest, { fields, answerHeaders }: Pick<Dialect, 'fields' | 'answerHeaders'>) =>
  async (context: RouteContext): Promise<Reply<object>> => {
    const { core, signal, requestId, key } = context;
    const { value, turn } = await readCompatibleBody(context);
    if (key !== undefined) assertMayAsk(key, fields, value);
    const request = read(value);
    takeParsed(context, argumentValues(request.chat.messages));
    if (turn !== undefined) await turn();
    const [target] = await targetsOf(context, request.model);
    if (target === undefined) throw new Error('An alias without a model.');
    const { adapter, model } = target;
    if (isBlockTarget(target)) throw noBlockHere();
    const { tokens, isEstimated } = await core
      .countTokens({ ...request.chat, adapter, model }, { signal, requestId, key: key?.name, askedAs: request.model, ...(turn !== undefined && { turn }) })
      .catch((error: unknown) => {
        throw inClientsWords(error, request);
      });
    return ok(
      { input_tokens: tokens },
      { ...headersOf(target, request.warnings, answerHeaders?.(requestId)), ...(isEstimated && { 'x-blockhouse-estimated': 'true' }) },
    );
  };
