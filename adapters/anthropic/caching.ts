// Cache marks of a request. They move from request to request, so they are set last, and thinking is not bound to them. Pure: no I/O.
import type { CacheMarks } from './content.ts';
import type { AnthropicRequest, CacheControl } from './schema.ts';

const EPHEMERAL: CacheControl = { type: 'ephemeral' };
const HOUR: CacheControl = { type: 'ephemeral', ttl: '1h' };
/** More are a 400. */
const MAX_MARKS = 4;

type Marked = { cache_control?: unknown };

/** Sets the caller's marks. */
export function setMarks(marks: CacheMarks): void {
  for (const { target, cache } of marks) target.cache_control = cache === '1h' ? HOUR : EPHEMERAL;
}

/** Three marks: the last tool, the last system block, the last block of the last user message. A mark that is there stays. */
export function markForCaching(body: AnthropicRequest): void {
  const lastUser = body.messages.findLast((message) => message.role === 'user');
  for (const list of [body.tools, body.system, lastUser?.content]) {
    const last: Marked | undefined = list?.at(-1);
    if (last !== undefined) last.cache_control ??= EPHEMERAL;
  }
}

/** Removes the first marks of more than four; true if there were more. Claude caches in this order: tools, system, messages. */
export function dropExtraMarks(body: AnthropicRequest): boolean {
  const blocks: Marked[] = [...(body.tools ?? []), ...(body.system ?? []), ...body.messages.flatMap(({ content }) => content)];
  const marked = blocks.filter((block) => block.cache_control !== undefined);
  for (const block of marked.slice(0, -MAX_MARKS)) delete block.cache_control;
  return marked.length > MAX_MARKS;
}
