// A small file system, to see what happens when it is full.
import { execFileSync } from 'node:child_process';

/** Runs `use` with the small file system mounted on `folder`; answers with a reason when this machine does not allow that. */
export async function withSmallDisk(folder: string, use: () => Promise<void>, size = '256k'): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux may mount a small tmpfs';
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    return `no tmpfs here: ${(error as Error).message.split('\n')[0]}`;
  }
  await use().finally(() => execFileSync('umount', [folder]));
  return undefined;
}
