// What a connection may be called. Pure: no I/O.
import { isSection } from './secret-sections.ts';

/** True for a name that a connection may have. */
export function isConnectionName(name: string): boolean {
  return /^[a-z][a-z0-9-]{0,31}$/.test(name) && name !== 'block' && !isSection(name);
}
