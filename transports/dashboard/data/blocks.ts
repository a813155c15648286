// What can be done with a block. Each rejects with an ApiError.
import type { BlockConfig, BlockConfigPatch } from '../../../core/types.ts';
import { saveAs } from '../base/save-as.ts';
import { ApiError } from './api-error.ts';
import type { Why } from './cures.ts';
import { call, get, post, respond } from './http.ts';
import { blockURL } from './paths.ts';

export async function startBlock(name: string): Promise<void> {
  await post(blockURL(name, '/start'));
}

export async function stopBlock(name: string): Promise<void> {
  await post(blockURL(name, '/stop'));
}

export async function restartBlock(name: string): Promise<void> {
  await post(blockURL(name, '/restart'));
}

/** Why it is as it is, and what helps. */
export async function readWhy(name: string): Promise<Why> {
  return get<Why>(blockURL(name, '/why'));
}

/** Ends a reply, or takes back a message that waits. */
export async function cancelMessage(block: string, id: string): Promise<void> {
  await post(blockURL(block, `/chat/${encodeURIComponent(id)}/cancel`));
}

/** Queues a message again. */
export async function retryMessage(block: string, id: string): Promise<void> {
  await post(blockURL(block, `/chat/${encodeURIComponent(id)}/retry`));
}

/** What is asked again: the text and the model where they differ; `clientId` makes a repetition harmless. */
export interface Again {
  readonly message?: string;
  /** With its provider before it. */
  readonly model?: string;
  readonly clientId: string;
}

/** Asks the last message of a block again. */
export async function askAgain(block: string, id: string, again: Again): Promise<void> {
  await post(blockURL(block, `/chat/${encodeURIComponent(id)}/again`), again);
}

/** Resolves with the name of the archive. */
export async function archiveBlock(name: string): Promise<string | undefined> {
  const { data } = await call<{ readonly archiveName?: string } | undefined>('DELETE', blockURL(name));
  return data?.archiveName;
}

/** Puts an archived block back, under its former name if none is given; with `starts` it runs again. Resolves with its name. */
export async function restoreBlock(archived: string, { name, starts = false }: { readonly name?: string; readonly starts?: boolean } = {}): Promise<string> {
  const { name: given } = await post<{ readonly name: string }>(`/api/archive/${encodeURIComponent(archived)}/restore`, name === undefined ? {} : { name });
  if (starts) await startBlock(given);
  return given;
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
  saveAs(`${name}.tar.gz`, await response.blob());
}

/** Clears memory, costs and state; with `isHard` the logs, too. */
export async function resetBlock(name: string, isHard: boolean): Promise<void> {
  await post(blockURL(name, `/reset${isHard ? '?hard=true' : ''}`));
}

/** Resolves with the new name. */
export async function renameBlock(name: string, to: string): Promise<string> {
  return (await post<{ readonly name: string }>(blockURL(name, '/rename'), { name: to })).name;
}

/** Somebody else may change the configuration at the same time, but not this often. */
const MAX_TRIES = 5;

/** Changes a configuration as it is now; resolves with false where `change` leaves it. What others change in between is kept. */
export async function changeConfig(name: string, change: (config: BlockConfig) => BlockConfigPatch | undefined): Promise<boolean> {
  const path = blockURL(name, '/config');
  for (let left = MAX_TRIES; ; left -= 1) {
    const { data, etag } = await call<{ readonly config: BlockConfig }>('GET', path);
    const body = change(data.config);
    if (body === undefined) return false;
    try {
      await call('PUT', path, { body, headers: etag === undefined ? {} : { 'if-match': etag } });
      return true;
    } catch (error) {
      if (left === 1 || !(error instanceof ApiError) || error.code !== 'REVISION_MISMATCH') throw error;
    }
  }
}

/** Adds a tag to a block or takes it away; resolves with false if it was so already. */
export function setTag(name: string, tag: string, isWanted: boolean): Promise<boolean> {
  return changeConfig(name, ({ tags }) => {
    const others = tags.filter((each) => each !== tag);
    if (others.length < tags.length === isWanted) return undefined;
    return { tags: isWanted ? [...others, tag] : others };
  });
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
