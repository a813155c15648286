// What is wrong with the settings of a server whose tools are approved, for `doctor`: settings that name a tool have no effect where there is none of that name. Pure: no I/O.
import { isObject } from '../../core/base/json.ts';
import { type Catalogue, marksOf, type ToolDefinition } from '../../core/index.ts';

/** What is wrong, and what to do. */
export interface SettingsFault {
  readonly problem: string;
  readonly fix: string;
}

const NAME_IT = 'Name a tool that `blockhouse tools ls` shows as approved, or remove the setting.';

/** Of one server. */
export function settingsFaults({ tools, settings }: Pick<Catalogue, 'tools' | 'settings'>, server: string): SettingsFault[] {
  const own = settings[server] ?? {};
  const toolOf = (name: string): ToolDefinition | undefined => tools.find((one) => one.server === server && one.tool === name);
  const faults: SettingsFault[] = [];
  const add = (problem: string, fix: string): void => void faults.push({ problem, fix });
  for (const [tool, { tool: asked }] of Object.entries(own.probe ?? {})) {
    const probe = toolOf(asked);
    const unasked = 'so what becomes of its calls after a crash stays unknown';
    if (toolOf(tool) === undefined) add(`it has a probe for ${shown(tool)}, which is no approved tool of it`, NAME_IT);
    else if (probe === undefined) add(`the probe of ${shown(tool)} asks ${shown(asked)}, which is no approved tool of it, ${unasked}`, NAME_IT);
    else if (!marksOf(probe, own).readOnly)
      add(
        `the probe of ${shown(tool)} asks ${shown(asked)}, which has not the mark readOnly, ${unasked}`,
        'Name it in `marks.readOnly`, if it only reads and its server says so (`readOnlyHint`), or ask another tool.',
      );
  }
  for (const [tool, given] of Object.entries(own.keyArguments ?? {})) {
    const argument = typeof given === 'string' ? given : given.argument;
    const { inputSchema } = toolOf(tool) ?? {};
    if (inputSchema === undefined) add(`keyArguments names ${shown(tool)}, which is no approved tool of it`, NAME_IT);
    else if (isObject(inputSchema['properties']) && !Object.hasOwn(inputSchema['properties'], argument))
      add(`keyArguments gives ${shown(tool)} the id of the call as ${shown(argument)}, which its schema does not have`, 'Name an argument of the tool.');
  }
  return faults;
}

function shown(name: string): string {
  return name.slice(0, 64);
}
