// Creates and configures blocks. `enabled` is only the wanted state, as with a service of the system: a change of the configuration starts or stops no
// monitor, and the answer warns that it does not.
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../base/json.ts';
import { BlockhouseError, invalidRequest } from '../errors.ts';
import { CreateBlock } from '../schemas/block-api.ts';
import type { BlockConfig, Schedule } from '../schemas/block-config.ts';
import type { Warning } from '../schemas/chat.ts';
import { assertNewName } from '../schemas/names.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import type { Standing } from '../store/port.ts';
import type { ToolRule } from '../types.ts';
import type { Blocks } from './api.ts';
import type { Block } from './block.ts';
import { completeConfig } from './documents/document-codecs.ts';
import type { OperationsContext } from './operations.ts';
import type { WorkspaceContext } from './reply/block-context.ts';
import { assertTools, hasSkills, hasTools } from './reply/has-tools.ts';
import { applyPatch, type BaseURLCheck, type ScheduleCheck } from './status/config-rules.ts';
import { configWarnings } from './status/config-warnings.ts';

const checkCreate: Validator<CreateBlock> = compile(CreateBlock);

/** The operations on configurations. */
export function configOperations(context: OperationsContext): Pick<Blocks, 'create' | 'config' | 'updateConfig'> {
  const { blocks, change, gate } = context;
  return {
    create: (body) => gate.pass(() => create(context, body)),
    config: async (name) => (await blocks.find(name)).files.config.read(),
    updateConfig: (name, patch, { ifMatch } = {}) => change(name, (block) => update(block, patch, ifMatch)),
  };
}

/** A new block is stopped, even if its configuration has `enabled`. */
async function create({ world, blocks }: OperationsContext, body: unknown): ReturnType<Blocks['create']> {
  checkCreate(body);
  const { name } = body;
  assertNewName(name);
  const fresh = completeConfig({}, name, new Date(world.now()).toISOString());
  const config =
    body.config === undefined ? fresh : { ...patched(world, fresh, body.config, { place: 'config.', check: await scheduleCheck(body.config) }), rev: 1 };
  await blocks.settled(name);
  await blocks.dismiss(name);
  const unconfirmed = await world.store.blocks.create({ ...config, enabled: false });
  world.bus.emit('block.created', { block: name });
  await world.hookSecrets?.forgetHooks(name);
  await world.tools?.host.skills?.forget(name);
  if (unconfirmed !== undefined) throw unconfirmed; // the block exists anyway
  const unheeded = config.enabled ? [{ field: 'config.enabled', message: `A new block is stopped. To start it: blockhouse start ${name}` }] : [];
  return { name, warnings: [...configWarnings(body.config, 'config.'), ...unheeded] };
}

async function update(block: Block, patch: unknown, ifMatch: number | undefined): ReturnType<Blocks['updateConfig']> {
  const check = await scheduleCheck(patch);
  const config = await block.files.config.update((before) => {
    if (ifMatch !== undefined && ifMatch !== before.rev) {
      throw new BlockhouseError(
        'REVISION_MISMATCH',
        `The configuration is now at revision ${before.rev}, not ${ifMatch}. Read it again and repeat the change.`,
      );
    }
    const value = patched(block.world, before, patch, { place: '', check });
    return { value, result: value };
  });
  return { config, warnings: [...configWarnings(patch), ...enabledWarnings(block.name, await block.standing(), patch)] };
}

/** Adds a rule to `tools.allow`, unless it is there. Rejects like a change of the configuration. */
export async function addRule(block: Block, rule: ToolRule): Promise<void> {
  await block.files.config.update((before) => {
    const { tools } = before;
    const allow = tools?.allow ?? [];
    const isThere = allow.some((one) => isDeepStrictEqual(one, rule));
    const value = isThere ? before : patched(block.world, before, { tools: { ...tools, allow: [...allow, rule] } }, { place: '', check: undefined });
    return { value, result: undefined };
  });
}

/** Changes the schedules of a block, unless `change` says why they can't be. Resolves with that; undefined where they are changed. Rejects like a change of the configuration. */
export async function changeSchedules(block: Block, change: (schedules: readonly Schedule[]) => readonly Schedule[] | string): Promise<string | undefined> {
  const check = await scheduleCheck({ schedule: [null] });
  return block.files.config.update((before): { value: BlockConfig; result: string | undefined } => {
    const schedule = change(before.schedule);
    if (typeof schedule === 'string') return { value: before, result: schedule };
    const value = schedule === before.schedule ? before : patched(block.world, before, { schedule }, { place: '', check });
    return { value, result: undefined };
  });
}

/** A warning if the change sets `enabled` to something else than what the monitor does. */
function enabledWarnings(name: string, { isRunning }: Pick<Standing, 'isRunning'>, patch: unknown): Warning[] {
  const enabled = isObject(patch) ? patch['enabled'] : undefined;
  if (enabled === undefined || enabled === isRunning) return [];
  const message = isRunning
    ? `The monitor keeps running, but will not start when the server next starts. To stop it now: blockhouse stop ${name}`
    : `The monitor will start when the server next starts. To start it now: blockhouse start ${name}`;
  return [{ field: 'enabled', message }];
}

/** Loaded with the first schedule. */
async function scheduleCheck(patch: unknown): Promise<ScheduleCheck | undefined> {
  const schedules = isObject(patch) ? patch['schedule'] : undefined;
  return Array.isArray(schedules) && schedules.length > 0 ? (await import('../schedule/parts.ts')).assertSchedules : undefined;
}

/** `place` is the path of the patch in the body. */
function patched(
  world: WorkspaceContext,
  config: BlockConfig,
  patch: unknown,
  { place, check }: { readonly place: '' | 'config.'; readonly check: ScheduleCheck | undefined },
): BlockConfig {
  const { gateway } = world;
  const canonical = (name: string, field: string): string => {
    if (name === 'block') throw invalidRequest(`${place}${field}`, "can't be another block: a block asks models of providers");
    return gateway.readiness(name, undefined, `${place}${field}`).id;
  };
  const checkBaseURL: BaseURLCheck = (provider, baseURL, field) => gateway.checkBaseURL(provider, baseURL, field);
  const changed = applyPatch(config, patch, { canonical, checkBaseURL, at: new Date(world.now()).toISOString(), place, checkSchedules: check });
  const isMore = (hasTools(changed) && !hasTools(config)) || (hasSkills(changed) && !hasSkills(config));
  if (isMore) assertTools(world, changed, place);
  return changed;
}
