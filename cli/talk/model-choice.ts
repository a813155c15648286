// Which model a message goes to when the command does not say so in full.
import type { AdapterStatus, Core } from '../../core/index.ts';
import { CliError } from '../terminal/exit-codes.ts';
import { oneLine } from '../terminal/output.ts';

/** A provider and one of its models. */
export interface ModelChoice {
  readonly adapter: string;
  readonly model: string;
}

/** What a choice needs besides. */
export interface ChoiceContext {
  readonly signal: AbortSignal;
  /** How this person calls `blockhouse`. */
  readonly command: string;
}

/**
 * Completes a choice. A model may be an alias of models.json, whose first model is meant, or have its provider before it, as `provider/model`. Any
 * other model belongs to the ready provider that lists it. If neither is named, the only ready provider is meant; with several, the person must
 * choose, because a wrong choice could cost money. Rejects with a CliError that says what to add.
 */
export async function chooseModel(
  core: Core,
  { adapter, model }: Partial<Record<keyof ModelChoice, string | undefined>>,
  { signal, command }: ChoiceContext,
): Promise<ModelChoice> {
  if (adapter !== undefined) return { adapter, model: model ?? (await modelOf(core, adapter, { signal, command })) };
  const [named] = model === undefined ? [] : (core.router.named(model)?.targets ?? []);
  if (named?.adapter === 'block')
    throw new CliError('usage', oneLine(`${model} is a block, which has its own conversation; talk to it with \`${command} attach ${named.model}\`.`));
  if (named !== undefined) return named;
  const ready = (await core.status({ signal })).filter((status) => status.ready);
  const [only, ...others] = ready;
  if (only === undefined) throw new CliError('credentials', noneReady(core, command));
  if (others.length === 0) return { adapter: only.id, model: model ?? (await usualModel(core, only, signal)) };
  const ids = ready.map(({ id }) => id).join(', ');
  if (model === undefined) throw new CliError('usage', `Several providers are ready (${ids}); choose one, for instance with \`-a ${only.id}\`.`);
  for (const { id } of ready) if ((await core.models(id, { signal })).models.includes(model)) return { adapter: id, model };
  throw new CliError('usage', `No ready provider (${ids}) lists the model ${oneLine(model)}; name its provider with --provider.`);
}

/** The default model of a provider. A connection has none, since that of its protocol belongs to another service; a server with one model has that one. */
async function modelOf(core: Core, adapter: string, { signal, command }: ChoiceContext): Promise<string> {
  const { defaultModel } = core.adapter(adapter);
  if (core.adapterIdOf(adapter) !== adapter || core.adapterIds().includes(adapter)) return defaultModel;
  const { models } = await core.models(adapter, { signal });
  if (models.length === 1 && models[0] !== undefined) return models[0];
  throw new CliError('usage', `The connection ${adapter} has no default model; name one with --model. \`${command} models ${adapter}\` lists them.`);
}

/** Connections are never chosen unasked, since each call may cost money. */
function noneReady(core: Core, command: string): string {
  const [connection] = core.connections.list().filter(({ name, ready }) => ready && !core.adapterIds().includes(name));
  const hint = connection === undefined ? '' : `, or name a model of a connection, such as \`-m ${connection.name}/<model>\``;
  return `No provider is ready yet; \`${command} providers\` shows what each one needs${hint}.`;
}

/** The default model; for a provider that does not have it, such as a local daemon with other models, the first that it has. */
async function usualModel(core: Core, { id, defaultModel }: AdapterStatus, signal: AbortSignal): Promise<string> {
  const { models } = await core.models(id, { signal });
  return models.includes(defaultModel) ? defaultModel : (models[0] ?? defaultModel);
}
