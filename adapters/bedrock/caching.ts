// Cache points of a request, for the models that take them. Pure: no I/O.
//
// Points move from request to request, so those of tools and system text are set last, and reasoning is not bound to them.
import type { ContentPart, Prompt, Turn, Warning } from '../../core/index.ts';
import { TOO_MANY_MARKS } from '../shared/claude.ts';
import { cachePoint, takesPointBehind } from './content.ts';
import { isNova, takesHour } from './models.ts';
import type { BedrockRequest, CachePoint } from './schema.ts';

/** More are a 400. */
const MAX_POINTS = 4;
const NOT_TOOLS: Warning = { field: 'tools', message: 'Nova does not cache tools, so their marks for caching were not sent.' };

/**
 * The caller's points, and with `cacheControl` one after the tools, the system text and the last user message. Nova caches no tools. The
 * warnings say what was not sent.
 */
export function addCachePoints(body: BedrockRequest, model: string, prompt: Prompt): Warning[] {
  const hasMarkedTool = prompt.tools.some(({ cache }) => cache !== undefined);
  const isMarked = prompt.systemParts !== undefined || hasMarkedTool || prompt.turns.some(mayHavePoints);
  if (!isMarked && !prompt.cacheControl) return [];
  const { system, toolConfig } = body;
  if (toolConfig !== undefined && !isNova(model)) addToTools(toolConfig.tools, prompt);
  if (system !== undefined) addBehind(system, prompt.systemParts ?? []);
  if (prompt.cacheControl) {
    for (const list of [system, body.messages.findLast(({ role }) => role === 'user')?.content]) {
      const last = list?.at(-1);
      if (last !== undefined && !('cachePoint' in last) && takesPointBehind(last)) list?.push(cachePoint('5m'));
    }
  }
  if (!isMarked) return [];
  return [...(hasMarkedTool && isNova(model) ? [NOT_TOOLS] : []), ...fitPoints(body, model)];
}

function mayHavePoints(turn: Turn): boolean {
  if (turn.role === 'tool') return turn.results.some(({ parts }) => parts !== undefined);
  return turn.parts !== undefined || (turn.role === 'assistant' && turn.toolCalls.some(({ cache }) => cache !== undefined));
}

/** Adds a point after each element whose origin has a mark. */
function addBehind(list: object[], origins: readonly { readonly cache?: ContentPart['cache'] }[]): void {
  for (const [index, { cache }] of [...origins.entries()].reverse()) if (cache !== undefined) list.splice(index + 1, 0, cachePoint(cache));
}

function addToTools(tools: NonNullable<BedrockRequest['toolConfig']>['tools'], prompt: Prompt): void {
  addBehind(tools, prompt.tools);
  const last = tools.at(-1);
  if (prompt.cacheControl && last !== undefined && !('cachePoint' in last)) tools.push(cachePoint('5m'));
}

/** Keeps what the model takes of the caller's points; the warnings say what it does not. */
function fitPoints(body: BedrockRequest, model: string): Warning[] {
  const lists: object[][] = [body.toolConfig?.tools ?? [], body.system ?? [], ...body.messages.map(({ content }) => content)];
  const warnings = dropExtraPoints(lists) ? [TOO_MANY_MARKS] : [];
  if (!takesHour(model) && shorten(lists))
    warnings.push({ field: 'messages', message: `${model} is not known to cache for an hour, so it caches for five minutes.` });
  return warnings;
}

/** Removes the first points of more than four, in the order of a cache: tools, system, messages. True if there were more. */
function dropExtraPoints(lists: readonly object[][]): boolean {
  const tooMany = lists.reduce((sum, list) => sum + list.filter((item) => 'cachePoint' in item).length, 0) - MAX_POINTS;
  let extra = tooMany;
  for (const list of lists) {
    for (let index = 0; index < list.length && extra > 0; index += 1) {
      if (!('cachePoint' in (list[index] as object))) continue;
      list.splice(index, 1);
      index -= 1;
      extra -= 1;
    }
  }
  return tooMany > 0;
}

/** Makes points of an hour ones of five minutes; true if there were any. */
function shorten(lists: readonly object[][]): boolean {
  const long = lists.flat().filter((item): item is CachePoint => 'cachePoint' in item && (item as CachePoint).cachePoint.ttl !== undefined);
  for (const { cachePoint: point } of long) delete point.ttl;
  return long.length > 0;
}
