// The settings of a workspace as small files, which people may edit.
import { join } from 'node:path';
import type { Setting, SettingCodec, SettingName, SettingState, SettingStore } from '../port.ts';
import { closeToOthers, type FileState, FreshFile, readState, type Turn } from './fresh-file.ts';

/** `maxBytes`: what servers of tools say of themselves may be much. */
const FILES: Readonly<Record<SettingName, { readonly name: string; readonly isSecret: boolean; readonly maxBytes?: number }>> = {
  halt: { name: 'halted.json', isSecret: false },
  keys: { name: 'keys.json', isSecret: true },
  models: { name: 'models.json', isSecret: false },
  token: { name: '.api-token', isSecret: true },
  mcp: { name: 'mcp.json', isSecret: true },
  'mcp-pins': { name: 'mcp-pins.json', isSecret: true, maxBytes: 16 * 1024 * 1024 },
};

/** The settings in a folder. */
export class FileSettings implements SettingStore {
  readonly #workspace: string;
  readonly #now: (() => number) | undefined;
  readonly #turn: Turn | undefined;
  readonly #files: FreshFile[] = [];

  /** `now` in monotonic milliseconds. */
  constructor(workspace: string, now?: () => number, turn?: Turn) {
    this.#workspace = workspace;
    this.#now = now;
    this.#turn = turn;
  }

  /** Looks at all files that are open: another process may have changed one a moment ago. */
  look(): void {
    for (const file of this.#files) file.refresh(true);
  }

  open<T>(name: SettingName, codec: SettingCodec<T>, onChange: (state: SettingState<T>) => void): Setting<T> {
    const place = this.#placeOf(name);
    let state: SettingState<T> = { good: undefined, fault: undefined };
    const take = (found: FileState): void => {
      if (FILES[name].isSecret) closeToOthers(place, found); // before it is parsed: a damaged file may hold secrets, too
      state = parsed(found, codec, state.good);
      onChange(state);
    };
    const file = new FreshFile(place, take, this.#now, this.#turn, FILES[name].maxBytes);
    this.#files.push(file);
    return {
      place,
      now: () => {
        file.refresh();
        return state;
      },
      look: async () => file.refresh(true),
      update: (change) =>
        file.rewrite(() => {
          const next = change(state);
          return next === undefined ? undefined : (codec.format(next) ?? null);
        }),
    };
  }

  async check<T>(name: SettingName, codec: SettingCodec<T>): Promise<SettingState<T>> {
    return parsed(readState(this.#placeOf(name), FILES[name].maxBytes), codec, undefined);
  }

  #placeOf(name: SettingName): string {
    return join(this.#workspace, FILES[name].name);
  }
}

function parsed<T>(found: FileState, codec: SettingCodec<T>, before: T | undefined): SettingState<T> {
  try {
    if (found.kind === 'unreadable') throw new Error(found.reason);
    return { good: codec.parse(found.kind === 'text' ? found.text : undefined), fault: undefined };
  } catch (error) {
    return { good: before, fault: (error as Error).message.replace(/\.$/, '') };
  }
}
