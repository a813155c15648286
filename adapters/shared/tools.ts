// Tool handling that several providers share: ids of calls, texts of results, schemas of parameters. Pure: no I/O.
import type { PromptToolResult } from '../../core/index.ts';

/** What is left of an id that gets a number. */
const NUMBERED_CHARACTERS = 56;

/**
 * Maps foreign tool-call ids to ids that the provider accepts; the same id always gives the same result. `make` gives an id where the usual form is not allowed.
 * The work grows as the ids do, also if a client chooses them so that all would become the same.
 */
export function idMapper(allowed: RegExp, make?: (id: string) => string): (id: string) => string {
  // Most conversations have no calls.
  let mapped: Map<string, string> | undefined;
  let taken: Set<string> | undefined;
  /** The last number of each beginning. */
  let numbers: Map<string, number> | undefined;
  return (id) => {
    mapped ??= new Map();
    taken ??= new Set();
    const known = mapped.get(id);
    if (known !== undefined) return known;
    const wanted = allowed.test(id) ? id : (make?.(id) ?? `call_${id.slice(-48).replace(/[^a-zA-Z0-9_-]/g, '_')}`);
    let candidate = wanted;
    if (taken.has(wanted)) {
      numbers ??= new Map();
      const beginning = make === undefined ? wanted.slice(0, NUMBERED_CHARACTERS) : id;
      let n = numbers.get(beginning) ?? 1;
      do {
        n += 1;
        candidate = make?.(`${id} ${n}`) ?? `${beginning}_${n}`;
      } while (taken.has(candidate));
      numbers.set(beginning, n);
    }
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
