// Cache points of a request, for the models that take them. Pure: no I/O.
//
// Points move from request to request, so those of tools and system text are set last, and reasoning is not bound to them.
import type { Prompt, Turn } from '../../core/index.ts';
import { cachePoint } from './content.ts';
import { isNova } from './models.ts';
import type { BedrockRequest } from './schema.ts';

/** More are a 400. */
const MOST_POINTS = 4;

/** The caller's points, and with `cacheControl` one after the tools, the system text and the last user message. Nova caches no tools. */
export function addCachePoints(body: BedrockRequest, model: string, prompt: Prompt): void {
  const isMarked = prompt.systemCache !== undefined || prompt.tools.some(({ cache }) => cache !== undefined) || prompt.turns.some(hasParts);
  if (!isMarked && !prompt.cacheControl) return;
  const { system, toolConfig } = body;
  if (toolConfig !== undefined && !isNova(model)) addToTools(toolConfig.tools, prompt);
  // Behind the caller's own text, which is the first element.
  if (system !== undefined && prompt.systemCache !== undefined && prompt.system !== undefined) system.splice(1, 0, cachePoint(prompt.systemCache));
  if (prompt.cacheControl) {
    for (const list of [system, body.messages.findLast(({ role }) => role === 'user')?.content]) {
      const last = list?.at(-1);
      if (last !== undefined && !('cachePoint' in last)) list?.push(cachePoint('5m'));
    }
  }
  if (isMarked) dropExtraPoints(body);
}

function hasParts(turn: Turn): boolean {
  return turn.role !== 'tool' && turn.parts !== undefined;
}

function addToTools(tools: NonNullable<BedrockRequest['toolConfig']>['tools'], prompt: Prompt): void {
  const marked = prompt.tools.map(({ cache }) => cache);
  for (let index = marked.length - 1; index >= 0; index -= 1) {
    if (marked[index] !== undefined) tools.splice(index + 1, 0, cachePoint(marked[index]));
  }
  const last = tools.at(-1);
  if (prompt.cacheControl && last !== undefined && !('cachePoint' in last)) tools.push(cachePoint('5m'));
}

/** Removes the first points of more than four, in the order of a cache: tools, system, messages. */
function dropExtraPoints(body: BedrockRequest): void {
  const lists: object[][] = [body.toolConfig?.tools ?? [], body.system ?? [], ...body.messages.map(({ content }) => content)];
  let extra = lists.reduce((sum, list) => sum + list.filter((item) => 'cachePoint' in item).length, 0) - MOST_POINTS;
  for (const list of lists) {
    for (let index = 0; index < list.length && extra > 0; index += 1) {
      if (!('cachePoint' in (list[index] as object))) continue;
      list.splice(index, 1);
      index -= 1;
      extra -= 1;
    }
  }
}
