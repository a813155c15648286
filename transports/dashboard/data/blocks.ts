// What can be done with a block. Each rejects with an ApiError.
import type { BlockConfigPatch } from '../../../core/types.ts';
import { call, post, respond } from './http.ts';

/** The path of a block, or of something below it. */
export function blockURL(name: string, below = ''): string {
  return `/api/blocks/${encodeURIComponent(name)}${below}`;
}

export async function startBlock(name: string): Promise<void> {
  await post(blockURL(name, '/start'));
}

export async function stopBlock(name: string): Promise<void> {
  await post(blockURL(name, '/stop'));
}

export async function restartBlock(name: string): Promise<void> {
  await post(blockURL(name, '/restart'));
}

/** Resolves with the name of the archive. */
export async function archiveBlock(name: string): Promise<string | undefined> {
  const { data } = await call<{ readonly archiveName?: string } | undefined>('DELETE', blockURL(name));
  return data?.archiveName;
}

/** Deletes an archived block for good. */
export async function deleteArchive(archived: string): Promise<void> {
  await call('DELETE', `/api/archive/${encodeURIComponent(archived)}`);
}

export async function createBlock(name: string, config: BlockConfigPatch): Promise<void> {
  await post('/api/blocks', { name, config });
}

/** Saves the block's files as the browser saves a download. */
export async function exportBlock(name: string): Promise<void> {
  const response = await respond('GET', blockURL(name, '/export'));
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = `${name}.tar.gz`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Clears memory, costs and state; with `isHard` the logs, too. */
export async function resetBlock(name: string, isHard: boolean): Promise<void> {
  await post(blockURL(name, `/reset${isHard ? '?hard=true' : ''}`));
}

/** Resolves with the new name. */
export async function renameBlock(name: string, to: string): Promise<string> {
  return (await post<{ readonly name: string }>(blockURL(name, '/rename'), { name: to })).name;
}

/** Does the same to many, eight at a time; resolves with what failed, by name. */
export async function toEach(names: readonly string[], act: (name: string) => Promise<unknown>, progress: (done: number) => void): Promise<readonly string[]> {
  const waiting = [...names];
  const failed: string[] = [];
  let done = 0;
  const work = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      try {
        await act(name);
      } catch (error) {
        failed.push(`${name}: ${(error as Error).message}`);
      }
      done += 1;
      progress(done);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return failed;
}
