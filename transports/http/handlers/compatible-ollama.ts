// What Ollama's own API says of its models and of itself. Its chats are served by dialect.ts.
import { createHash } from 'node:crypto';
import { BlockhouseError, isBlockTarget, type OfferedModel } from '../../../core/index.ts';
import { objectBody, requiredText, text } from '../dialects/shared/fields.ts';
import { readCompatibleBody } from '../wire/body.ts';
import { ok, Written } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';
import { findBlock } from './compatible-blocks.ts';
import { type ListForm, offeredAs, targetsOf } from './client-model.ts';

/** Clients ask for a least version of Ollama; this is the one whose API is served here. */
const API_VERSION = '0.12.6';
const MANAGING: ReadonlySet<string> = new Set(['pull', 'push', 'create', 'copy', 'delete', 'blobs']);
/** No provider tells when each of its models was made, and clients only show it. */
const MODIFIED = '2026-01-01T00:00:00Z';

/** What clients look for at the address of a server. */
export const hello = () => ok(new Written<string>('Ollama is running', 'text/plain; charset=utf-8'));

/** The version of the API. */
export const version = () => ok({ version: API_VERSION });

/** The names that are offered, as `GET /v1/models` has them. */
export const tags = async (context: RouteContext) => ok(await offeredAs(context, TAGS));

/** No model is loaded here. */
export const running = () => ok({ models: [] });

/** One model, offered or not, as long as its name resolves. Fails with MODEL_NOT_FOUND, and with KEY_FORBIDDEN for a model that the key may not use. */
export const show = async (context: RouteContext) => {
  const body = objectBody((await readCompatibleBody(context, true)).value);
  const name = text(body, 'model') || requiredText(body, 'name');
  const { core, signal, requestId, key } = context;
  const [first] = await targetsOf(context, name);
  if (first === undefined) throw new BlockhouseError('MODEL_NOT_FOUND', `There is no model ${JSON.stringify(name.slice(0, 64))}.`);
  const { adapter, model } = first;
  if (isBlockTarget(first)) {
    await findBlock(context, model, name);
    return ok({ ...shown(adapter), model_info: { 'general.architecture': adapter, 'general.basename': model }, capabilities: ['completion'] });
  }
  const { parts = [], options = [] } = core.adapter(adapter).supports ?? {};
  const contextLength = await core.contextLength(adapter, model, { signal, requestId, key: key?.name, askedAs: name });
  return ok({
    ...shown(adapter),
    model_info: {
      'general.architecture': adapter,
      'general.basename': model,
      ...(contextLength !== undefined && { [`${adapter}.context_length`]: contextLength }),
    },
    capabilities: ['completion', 'tools', ...(parts.includes('image') ? ['vision'] : []), ...(options.includes('reasoning') ? ['thinking'] : [])],
  });
};

/** What clients look for, and what no model here has. */
function shown(adapter: string) {
  return { modelfile: '', parameters: '', template: '', details: detailsOf(adapter), modified_at: MODIFIED };
}

/** Whatever else Ollama's API has, which is mostly what changes the models of a machine. */
export const refuse = (context: RouteContext): never => {
  const operation = param(context, 'operation').slice(0, 100);
  const [first = ''] = operation.split('/');
  const reason = MANAGING.has(first)
    ? 'Blockhouse does not manage models; do that with the Ollama that runs them.'
    : 'docs/compatible-ollama.md lists what there is.';
  throw new BlockhouseError('NOT_FOUND', `There is no /api/${operation} here. ${reason}`);
};

/** Ollama's own list shows the beginning of a digest, so there must be one. */
function toTag({ id, adapter }: OfferedModel) {
  const digest = createHash('sha256').update(id).digest('hex');
  return { name: id, model: id, modified_at: MODIFIED, size: 0, digest, details: detailsOf(adapter) };
}

function detailsOf(adapter: string) {
  return { parent_model: '', format: '', family: adapter, families: [adapter], parameter_size: '', quantization_level: '' };
}

const TAGS: ListForm<{ readonly models: readonly ReturnType<typeof toTag>[] }> = { opening: '{"models":', one: toTag, closing: () => '}' };
