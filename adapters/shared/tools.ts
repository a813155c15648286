// Tool handling that several providers share: ids of calls, texts of results, schemas of parameters. Pure: no I/O.
import type { PromptToolResult } from '../../core/index.ts';

/** Maps foreign tool-call ids to ids that the provider accepts; the same id always gives the same result. `make` gives an id where the usual form is not allowed. */
export function idMapper(allowed: RegExp, make?: (id: string) => string): (id: string) => string {
  // Most conversations have no calls.
  let mapped: Map<string, string> | undefined;
  let taken: Set<string> | undefined;
  return (id) => {
    mapped ??= new Map();
    taken ??= new Set();
    const known = mapped.get(id);
    if (known !== undefined) return known;
    let candidate = allowed.test(id) ? id : (make?.(id) ?? `call_${id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(-48)}`);
    for (let n = 2; taken.has(candidate); n += 1) candidate = make?.(`${id} ${n}`) ?? `${candidate.slice(0, 56)}_${n}`;
    taken.add(candidate);
    mapped.set(id, candidate);
    return candidate;
  };
}

/** The text of a tool result for providers without a flag for failure: a failed one begins with "Error: ". */
export function outputText({ content, isError }: PromptToolResult): string {
  return isError && !/^\W*error\b/i.test(content) ? `Error: ${content}` : content;
}

/** `parameters` of a tool as an object schema; providers refuse one without type or properties. */
export function objectSchema(parameters: Record<string, unknown> | undefined): Record<string, unknown> {
  return { ...parameters, type: 'object', properties: parameters?.['properties'] ?? {} };
}
