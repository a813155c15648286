// The tools of a Messages request. Pure: no I/O.
import { isObject } from '../../../../core/base/json.ts';
import { type ChatRequest, invalidRequest, type Tool } from '../../../../core/index.ts';
import type { ToolNames } from '../shared/conversation.ts';
import { type Fields, list, objectAt, optionalObject, requiredText, text } from '../shared/fields.ts';
import { cacheOf, type Notes } from './content.ts';

const NONE: ReturnType<typeof readTools> = { tools: [], left: new Set() };

/** The client's own tools; those that Anthropic itself runs are left out with a warning. Throws INVALID_REQUEST naming the field. */
export function readTools(
  body: Fields,
  names: ToolNames,
  { warnings, sources }: Notes,
): { readonly tools: readonly Tool[]; readonly left: ReadonlySet<string> } {
  const given = list(body, 'tools');
  if (given === undefined) return NONE;
  const left = new Set<string>();
  const tools = given.flatMap((one, index) => {
    const path = `tools.${index}`;
    const tool = objectAt(one, path);
    if (tool['type'] != null && tool['type'] !== 'custom') {
      left.add(String(tool['name']));
      warnings.push({ field: path, message: 'A tool that the provider runs itself is not available, so it was left out.' });
      return [];
    }
    const description = text(tool, 'description', `${path}.description`);
    return [
      sources.note<Tool>(
        {
          name: names.toOurs(requiredText(tool, 'name', `${path}.name`)),
          ...(description !== undefined && { description }),
          ...(isObject(tool['input_schema']) && { parameters: tool['input_schema'] }),
          ...cacheOf(tool),
        },
        path,
      ),
    ];
  });
  return { tools, left };
}

/** Throws INVALID_REQUEST for a choice that can't be met. */
export function readChoice(
  body: Fields,
  names: ToolNames,
  left: ReadonlySet<string>,
): { readonly toolChoice?: ChatRequest['toolChoice'] | undefined; readonly parallelToolCalls?: boolean | undefined } {
  const choice = optionalObject(body, 'tool_choice');
  if (choice === undefined) return {};
  const parallelToolCalls = choice['disable_parallel_tool_use'] === true ? false : undefined;
  switch (choice['type']) {
    case 'auto':
      return { parallelToolCalls };
    case 'any':
      return { toolChoice: 'required', parallelToolCalls };
    case 'none':
      return { toolChoice: 'none' };
    case 'tool': {
      const name = requiredText(choice, 'name', 'tool_choice.name');
      if (left.has(name)) throw invalidRequest('tool_choice.name', `names a tool that the provider runs itself (${name}), which is not available here`);
      return { toolChoice: { name: names.toOurs(name) }, parallelToolCalls };
    }
    default:
      throw invalidRequest('tool_choice.type', 'must be auto, any, tool or none');
  }
}
