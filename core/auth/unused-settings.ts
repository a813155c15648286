// What was probably meant by an entry or a field of auth.json that no adapter reads. Pure: no I/O.
import { nearest } from '../base/closest.ts';
import type { SettingsSpec } from './settings.ts';

interface Named {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly settings: SettingsSpec;
}

/** Longer names get no suggestion: they may be pasted keys. */
export const MAX_NAME_CHARACTERS = 32;

/** An entry, or a field of an entry, without effect. Names only; the values are secrets. */
export interface UnusedSetting {
  readonly entry: string;
  /** Absent when no adapter has the name of the entry. */
  readonly field?: string;
  /** What was probably meant, such as `openai` or `openai.apiKey`. */
  readonly meant?: string;
}

/** The entries and fields that no adapter reads. An entry counts once, whatever its fields. */
export function unusedSettings(adapters: readonly Named[], stored: Readonly<Record<string, object>>): UnusedSetting[] {
  return Object.entries(stored).flatMap(([entry, fields]): UnusedSetting[] => {
    const adapter = adapters.find(({ id }) => id === entry);
    if (adapter === undefined) return [withMeant({ entry }, meantEntry(adapters, entry))];
    const unread = Object.keys(fields).filter((field) => !Object.hasOwn(adapter.settings, field));
    return unread.map((field) => {
      const near = meant(field, Object.keys(adapter.settings));
      return withMeant({ entry, field }, near && `${entry}.${near}`);
    });
  });
}

/** An alias is not read from auth.json, so it is a near miss too. */
function meantEntry(adapters: readonly Named[], entry: string): string | undefined {
  const ids = new Map(adapters.flatMap(({ id, aliases }) => [id, ...aliases].map((name): [string, string] => [name, id])));
  const near = meant(entry, [...ids.keys()]);
  return near && ids.get(near);
}

function meant(name: string, candidates: readonly string[]): string | undefined {
  return name.length > MAX_NAME_CHARACTERS ? undefined : nearest(name, candidates);
}

function withMeant(unused: UnusedSetting, near: string | undefined): UnusedSetting {
  return near === undefined ? unused : { ...unused, meant: near };
}
