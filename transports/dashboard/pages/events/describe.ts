// An event as one line. Pure.
import type { Happened } from '../../data/events.ts';

/** Whom an event is about: a block, a provider, or the workspace. */
export function subjectOf({ data }: Happened): { readonly block?: string; readonly other?: string } {
  const { block, caller, name, adapter } = data as Readonly<Record<string, unknown>>;
  const found = [block, caller, name].find((value) => typeof value === 'string');
  if (found !== undefined) return { block: found as string };
  return typeof adapter === 'string' ? { other: adapter } : {};
}

const LEFT_OUT = new Set(['block', 'caller', 'name']);

/** The other fields as `name value`, in their order. */
export function detailsOf({ data }: Happened): string {
  return Object.entries(data)
    .filter(([name, value]) => !LEFT_OUT.has(name) && value !== undefined && value !== null)
    .map(([name, value]) => `${name} ${shortly(value)}`)
    .join(' · ');
}

/** True if each word occurs in the event's name, its subject or its details. */
export function matches(event: Happened, text: string): boolean {
  const all = `${event.name} ${Object.values(subjectOf(event)).join(' ')} ${detailsOf(event)}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

function shortly(value: unknown): string {
  if (Array.isArray(value)) return JSON.stringify(value);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([name, each]) => `${name} ${shortly(each)}`)
      .join(', ');
  return typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(2) : String(value);
}
