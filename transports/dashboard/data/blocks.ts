// What can be done with a block. Each rejects with an ApiError.
import type { BlockConfigPatch } from '../../../core/types.ts';
import { call, post } from './http.ts';

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
  const { data } = await call<{ readonly archive?: string; readonly archived?: string } | undefined>('DELETE', blockURL(name));
  return data?.archive ?? data?.archived;
}

export async function createBlock(name: string, config: BlockConfigPatch): Promise<void> {
  await post('/api/blocks', { name, config });
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
