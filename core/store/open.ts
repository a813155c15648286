// Picks the store of a workspace: its folder.
import { FileSettings } from './files/settings.ts';
import type { SettingStore } from './port.ts';

/** The settings of a workspace, which need no lock. `now` in monotonic milliseconds. */
export function openSettings(workspace: string, now?: () => number): SettingStore {
  return new FileSettings(workspace, now);
}
