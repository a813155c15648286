// `tools` of a configuration with its defaults filled in. Pure: no I/O.
import { isObject } from '../base/json.ts';
import { BlockTools } from '../schemas/block-config.ts';
import { defaultsOf } from '../schemas/fields.ts';
import type { BlockConfig, ToolLimits } from '../types.ts';

type Given = NonNullable<BlockConfig['tools']>;
/** The limits of a run. */
export type RunLimits = Readonly<Required<ToolLimits>>;
/** All settings of a block's tools. */
export type ToolSettings = Readonly<Required<Omit<Given, 'limits' | 'approvals' | 'send'>>> & {
  readonly limits: RunLimits;
  readonly approvals: Readonly<Required<NonNullable<Given['approvals']>>>;
  readonly send: Readonly<Required<NonNullable<Given['send']>>>;
};

const DEFAULTS = defaultsOf(BlockTools.properties);

/** Undefined for a block without tools and skills. Of one with skills alone, those of tools without servers. */
export function toolSettings({ tools, skills = [] }: Pick<BlockConfig, 'tools'> & Partial<Pick<BlockConfig, 'skills'>>): ToolSettings | undefined {
  return (tools?.servers ?? []).length === 0 && skills.length === 0 ? undefined : allSettings(tools);
}

/** The same of any block: of one that has lost its tools, a run that has begun before goes on with those of tools without servers. */
export function allSettings(tools: BlockConfig['tools']): ToolSettings {
  const given: Readonly<Record<string, unknown>> = (tools ?? {}) as unknown as Record<string, unknown>;
  const all = Object.entries(DEFAULTS).map(([name, fallback]) => {
    const value = given[name];
    return [name, isObject(fallback) && isObject(value) ? { ...fallback, ...value } : (value ?? fallback)] as const;
  });
  return Object.fromEntries(all) as unknown as ToolSettings;
}
