// Takes the secrets of a server out of what its tools return: a model would see them, and the journal would keep them. Pure: no I/O.
import { isObject } from '../../core/base/json.ts';
import type { ToolOutcome } from '../../core/index.ts';

const MASK = '[redacted]';

/** The same object where nothing is masked. Each secret is found as it is. */
export function maskedResult(outcome: ToolOutcome, secrets: readonly string[]): ToolOutcome {
  if (secrets.length === 0) return outcome;
  const { parts, structuredContent } = outcome;
  const masked = parts.map((part) => (part.text === undefined ? part : { ...part, text: textWithout(part.text, secrets) }));
  return { ...outcome, parts: masked, ...(structuredContent !== undefined && { structuredContent: valueWithout(structuredContent, secrets) }) };
}

function textWithout(text: string, secrets: readonly string[]): string {
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, MASK), text);
}

function valueWithout(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return textWithout(value, secrets);
  if (Array.isArray(value)) return value.map((item) => valueWithout(item, secrets));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [textWithout(name, secrets), valueWithout(inner, secrets)]));
}
