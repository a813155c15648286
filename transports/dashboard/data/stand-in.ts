// The echo block, whose provider is `stand-in` and answers without a model, for a person who looks around.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { BlockAdapter, BlockConfig, ServerHealth } from '../../../core/types.ts';
import { archiveBlock, createBlock, deleteArchive, startBlock } from './blocks.ts';
import { type Entry, rows } from './fleet.ts';
import { get } from './http.ts';
import { blockURL } from './paths.ts';
import { serverHealth } from './server.ts';
import { drafts } from './services.ts';
import { pinned } from './settings.ts';

/** The adapter of an echo block, as the server names it. Undefined until the server has answered, and if it has no echo provider. */
const standIn = signal<BlockAdapter | undefined>(undefined);
const NAME = 'stand-in';

/** Whether the server has the echo provider. It is asked once. */
export function useStandIn(): boolean {
  useEffect(() => {
    if (standIn.peek() === undefined) void serverHealth().then(take, () => undefined); // without an answer, a line says so on every page
  }, []);
  return standIn.value !== undefined;
}

function take(health: ServerHealth): void {
  standIn.value = health.standIn;
}

/** True for a block that answers without a model. */
export function isStandIn({ config: { adapter } }: { readonly config: Pick<Entry['config'], 'adapter'> }): boolean {
  return standIn.value !== undefined && adapter?.provider === standIn.value.provider;
}

/** Makes an echo block and starts it; resolves with its name. Rejects with an ApiError. */
export async function makeStandIn(description: string): Promise<string> {
  const name = [NAME, ...Array.from({ length: 100 }, (_, index) => `${NAME}-${index + 2}`)].find((each) => !rows.peek().has(each)) ?? NAME;
  await createBlock(name, { description, ...(standIn.value && { adapter: standIn.value }) });
  await startBlock(name);
  return name;
}

/** Deletes an echo block for good, with its draft and its pin. Resolves with false, and keeps the block, if somebody has given it a model. Rejects with an ApiError. */
export async function removeStandIn(name: string): Promise<boolean> {
  const { config } = await get<{ readonly config: BlockConfig }>(blockURL(name, '/config'));
  if (!isStandIn({ config })) return false;
  const archived = await archiveBlock(name);
  if (archived !== undefined) await deleteArchive(archived);
  drafts.write(name, '');
  pinned.value = pinned.peek().filter((each) => each !== name);
  return true;
}
