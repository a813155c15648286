// Handlers of `/api/models`: what the names of models mean.
import {
  BlockhouseError,
  type Core,
  compile,
  type ModelsFile,
  type ModelTarget,
  type SetAlias,
  type SetDefaultProvider,
  schemas,
  type Validator,
} from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../wire/body.ts';
import { ok } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';

const checkAlias: Validator<SetAlias> = compile(schemas.SetAlias);
const checkDefault: Validator<SetDefaultProvider> = compile(schemas.SetDefaultProvider);

/** `{defaultProvider, aliases, models}`. */
export const list = async ({ core }: RouteContext) => {
  const { defaultProvider = null, aliases, patterns } = core.router.table();
  const shown = [...aliases.values(), ...patterns].map(({ name, targets, on }) => ({
    name,
    targets: targets.map(nameOf),
    ...(targets.some(({ weight }) => weight !== undefined) && { weights: targets.map(({ weight = null }) => weight) }),
    ...(on !== undefined && { on: [...on] }),
  }));
  return ok({ defaultProvider, aliases: shown, models: await core.router.offered() });
};

/** `{name, by, targets}`. Fails with MODEL_NOT_FOUND. */
export const resolve = async (context: RouteContext) => {
  const name = param(context, 'name');
  const { on, ...resolved } = await context.core.router.resolve(name);
  return ok({ name, ...resolved, ...(on !== undefined && { on: [...on] }) });
};

/** Sets the default provider; `{success, message}`. */
export const setDefault = async (context: RouteContext) => {
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  checkDefault(body);
  await fileOf(context.core).setDefault(body.defaultProvider ?? undefined);
  return ok({ success: true, message: body.defaultProvider === null ? 'There is no default provider.' : `The default provider is ${body.defaultProvider}.` });
};

/** Sets an alias; `{success, message}`. */
export const setAlias = async (context: RouteContext) => {
  const name = param(context, 'name');
  const body = await readJsonBody(context, OTHER_BODY_BYTES, false);
  checkAlias(body);
  await fileOf(context.core).setAlias(name, body.targets, body.on);
  return ok({ success: true, message: `${name} stands for ${inWords(body.targets)}.` });
};

/** Removes an alias; `{success, message}`. Fails with MODEL_NOT_FOUND. */
export const removeAlias = async (context: RouteContext) => {
  const name = param(context, 'name');
  if (!(await fileOf(context.core).setAlias(name, undefined)))
    throw new BlockhouseError('MODEL_NOT_FOUND', `There is no alias ${JSON.stringify(name.slice(0, 64))}.`);
  return ok({ success: true, message: `The alias ${name} is removed.` });
};

function inWords(targets: SetAlias['targets']): string {
  return targets.map((one) => (typeof one === 'string' ? one : `${one.model}${one.weight === undefined ? '' : ` (weight ${one.weight})`}`)).join(', then ');
}

function nameOf({ adapter, model }: ModelTarget): string {
  return `${adapter}/${model}`;
}

function fileOf({ modelsFile }: Core): ModelsFile {
  if (modelsFile === undefined) throw new Error('This core has no workspace.');
  return modelsFile;
}
