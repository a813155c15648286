// A user who may not do everything: root may, and so becomes nobody for a while. POSIX.
import { chmodSync } from 'node:fs';

const NOBODY = 65_534;

/** Does `work` as somebody who can rename what is in `folder`, and can't remove what is in `folder/closed`. */
export async function withoutRights<T>(folder: string, closed: string, work: () => Promise<T>): Promise<T> {
  chmodSync(folder, 0o777);
  chmodSync(closed, 0o500);
  const wasRoot = process.getuid?.() === 0;
  if (wasRoot) process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    if (wasRoot) process.seteuid?.(0);
  }
}
