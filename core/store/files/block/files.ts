// The five files of one block, and the archive of its chat. costs.json and pulse.json are derived files: the first can be made again from the ledger,
// the second from the actor.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseBytes } from '../../../base/strict-json.ts';
import { undefinedFor } from '../../../base/undefined-for.ts';
import { formatChat, withoutKeys } from '../../../block/conversation/chat-file.ts';
import { countedOf } from '../../../block/conversation/counts.ts';
import { splitOld } from '../../../block/conversation/retention.ts';
import { formatFile, parseConfig } from '../../../block/documents/document-codecs.ts';
import type { BlockFile, Timing } from '../../../bus.ts';
import { invalidRequest } from '../../../errors.ts';
import type { BlockConfig } from '../../../schemas/block-config.ts';
import type { BlockContents, Conversation, Entries, ScheduleStates } from '../../port.ts';
import type { BlockListener, DamageListener } from '../../store.ts';
import { replaceFile } from '../atomic-file.ts';
import { ChatArchive } from '../chat/chat-archive.ts';
import { FileConversation } from '../chat/conversation.ts';
import { RunJournals } from '../chat/run-journals.ts';
import type { ContentRoom } from '../../parts/content-room.ts';
import { JsonFile, type JsonFileOptions } from '../json-file.ts';
import { isPassingFault, readFault, readRegular } from '../regular-file.ts';
import { BLOCK_FILE_LIMITS, type FileLimits } from '../../parts/block-layout.ts';
import { DOCUMENTS, type DocumentCodec, SCHEDULES } from '../../parts/documents.ts';
import { MAX_ARCHIVED_LINES, MAX_JOURNAL_BYTES, parseRunLines } from '../../parts/run-lines.ts';

/** The files of a block, each with its one writer. */
export type BlockFileSet = { readonly [F in BlockFile]: JsonFile<BlockContents[F]> } & { readonly conversation: Conversation };

/** The names of the files that every block has. */
export const FILE_NAMES = ['config', 'memory', 'costs', 'pulse', 'chat'] as const satisfies readonly BlockFile[];

const CHAT_CURE = 'Repair it by hand. You can move old messages to a file in chat-archive.';

/** Opens the files in `folder`. `now` gives ISO time; `timing` measures the writes that are flushed. */
export function openFiles(
  folder: string,
  name: string,
  listener: DamageListener & Pick<BlockListener, 'onChanged'>,
  now: () => string,
  { timing, room }: { readonly timing?: Timing | undefined; readonly room?: ContentRoom } = {},
): BlockFileSet {
  const file = <F extends BlockFile>(
    id: F,
    parts: Pick<JsonFileOptions<BlockContents[F]>, 'parse' | 'missing' | 'format' | 'onForeign' | 'cure' | 'dropped'>,
    options: { readonly derived?: true; beforeWrite?(value: BlockContents[F]): Promise<BlockContents[F]> } = {},
  ): JsonFile<BlockContents[F]> => {
    const { bytes, values }: FileLimits = BLOCK_FILE_LIMITS[`${id}.json`];
    return new JsonFile<BlockContents[F]>(join(folder, `${id}.json`), {
      ...parts,
      timing: options.derived === undefined ? timing : undefined,
      maxBytes: bytes,
      ...(values !== undefined && { maxValues: values }),
      ...(options.beforeWrite !== undefined && { beforeWrite: options.beforeWrite }),
      ...(options.derived && { derived: { onRebuilt: (reason: string) => listener.onRebuilt(id, reason) } }),
      onChanged: (_value, change) => {
        if (!change.quiet) listener.onChanged(id, change);
      },
      onDamaged: (reason, copy) => listener.onDamaged(id, reason, copy),
    });
  };
  const archive = new ChatArchive(join(folder, 'chat-archive'));
  const moveOld = async (entries: Entries): Promise<Entries> => {
    const { kept, old } = splitOld(entries);
    if (old.length > 0) await archive.append(old, now());
    return kept;
  };
  const dropped = room && { room, outlineOf: countedOf };
  const chat = file('chat', { ...DOCUMENTS.chat, cure: CHAT_CURE, dropped }, { beforeWrite: moveOld });
  return {
    config: file('config', { parse: (value) => parseConfig(value, name, now()), format: formatFile, onForeign: withNextRevision }),
    memory: file('memory', DOCUMENTS.memory),
    costs: file('costs', DOCUMENTS.costs, { derived: true }),
    pulse: file('pulse', DOCUMENTS.pulse, { derived: true }),
    chat,
    conversation: new FileConversation({ chat, archive, runs: new RunJournals(join(folder, 'runs')), at: now }),
  };
}

/** schedule.json, which is there once a schedule was seen. Readers see a change by `onOther`. */
export function openSchedules(folder: string, onOther: () => void): JsonFile<ScheduleStates> {
  const { bytes } = BLOCK_FILE_LIMITS['schedule.json'];
  const cure = 'Repair it by hand, or remove it: its schedules then go on from now.';
  return new JsonFile<ScheduleStates>(join(folder, 'schedule.json'), { ...SCHEDULES, maxBytes: bytes, cure, onChanged: onOther, onDamaged: onOther });
}

/** The texts of the files of a new block besides config.json, by file name. */
export function freshFiles(): [name: string, text: string][] {
  return Object.entries<DocumentCodec<unknown>>(DOCUMENTS).map(([id, { missing, format }]) => [`${id}.json`, format(missing())]);
}

/** Checks the files that came with an imported configuration, and takes out of chat.json what names keys of elsewhere. Throws INVALID_REQUEST, which names the first one that can't be used. */
export async function checkFiles(folder: string): Promise<void> {
  let chat: Entries = [];
  for (const [id, { parse }] of Object.entries<DocumentCodec<unknown>>({ ...DOCUMENTS, schedule: SCHEDULES })) {
    const name = `${id}.json` as keyof typeof BLOCK_FILE_LIMITS;
    const { bytes, values }: FileLimits = BLOCK_FILE_LIMITS[name];
    try {
      const content = await readRegular(join(folder, name), bytes);
      const value = content === undefined ? undefined : parse(parseBytes(content, values));
      if (id === 'chat' && value !== undefined) chat = value as Entries;
    } catch (error) {
      if (isPassingFault(error)) throw error;
      throw invalidRequest('', `The ${name} in the archive can't be used: ${readFault(error as Error)}.`);
    }
  }
  await checkJournals(folder);
  const own = withoutKeys(chat);
  if (own !== chat) await replaceFile(join(folder, 'chat.json'), formatChat(own));
}

/** Of the runs: what can't be read could not be ended in the copy. */
async function checkJournals(folder: string): Promise<void> {
  const names = (await readdir(join(folder, 'runs')).catch(undefinedFor('ENOENT'))) ?? [];
  for (const name of names.filter((one) => one.endsWith('.jsonl')).sort()) {
    const content = await readRegular(join(folder, 'runs', name), MAX_JOURNAL_BYTES);
    try {
      if (content !== undefined) await parseRunLines(content, MAX_ARCHIVED_LINES);
    } catch (error) {
      throw invalidRequest('', `The runs/${name} in the archive can't be used: ${(error as Error).message}.`);
    }
  }
}

/** Reads all files; of the conversation, what counts. Throws BLOCK_DAMAGED. */
export async function readContents({ config, memory, costs, pulse, chat }: BlockFileSet): Promise<BlockContents> {
  const read = await Promise.all([config.read(), memory.read(), costs.read(), chat.outline(), pulse.read()]);
  return { config: read[0], memory: read[1], costs: read[2], chat: read[3], pulse: read[4] };
}

/** An edit by hand also gets a new revision, so that `ifMatch` protects it from being overwritten. */
function withNextRevision(before: BlockConfig, found: BlockConfig): BlockConfig {
  return found.rev > before.rev ? found : { ...found, rev: before.rev + 1 };
}
