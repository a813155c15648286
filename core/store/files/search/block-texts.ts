// What was said in the folder of a block, active or archived: its messages and answers, and what it remembers. Reads only.
import { join } from 'node:path';
import { tryParseJson } from '../../../base/json.ts';
import { parseBytes } from '../../../base/strict-json.ts';
import { wholeEntry } from '../../../block/conversation/chat-file.ts';
import type { ChatEntry } from '../../../schemas/chat-entry.ts';
import { BLOCK_FILE_LIMITS, type FileLimits } from '../../parts/block-layout.ts';
import { DOCUMENTS } from '../../parts/documents.ts';
import type { SaidBy } from '../../store.ts';
import { ChatArchive } from '../chat/chat-archive.ts';
import { stampOfAll } from '../file-stamp.ts';
import { readRegular } from '../regular-file.ts';

/** One text and where it stands. */
export interface SaidText {
  readonly by: SaidBy;
  /** Of the entry or the fact; '' for the summary. */
  readonly id: string;
  /** ISO 8601; '' if it is not known. */
  readonly at: string;
  readonly text: string;
}

/** Changes whenever a text may have changed: entries go into the archive of a chat only when chat.json is written. Never throws. */
export function stampOfTexts(folder: string): number {
  return stampOfAll([join(folder, 'chat.json'), join(folder, 'memory.json')]);
}

/** Rejects with an Error for a file that is damaged. */
export async function* textsOf(folder: string): AsyncGenerator<SaidText> {
  const archive = new ChatArchive(join(folder, 'chat-archive'));
  const active: readonly ChatEntry[] = await documentIn(folder, 'chat');
  const activeIds = new Set(active.map(({ id }) => id));
  for (const month of archive.months())
    for await (const lines of archive.lines(month))
      for (const line of lines) {
        const entry = wholeEntry(tryParseJson(line));
        if (entry !== undefined && !activeIds.has(entry.id)) yield said(entry);
      }
  for (const entry of active) yield said(entry);
  const { summary, summaryUpdatedAt, facts } = await documentIn(folder, 'memory');
  if (summary !== '') yield { by: 'summary', id: '', at: summaryUpdatedAt ?? '', text: summary };
  for (const { id, createdAt, text } of facts) yield { by: 'fact', id, at: createdAt ?? '', text };
}

/** An entry that a person has just written may have neither id nor time. */
function said({ role, content, id, timestamp }: Partial<ChatEntry> & Pick<ChatEntry, 'role' | 'content'>): SaidText {
  return { by: role === 'user' ? 'message' : 'answer', id: id ?? '', at: timestamp ?? '', text: content };
}

async function documentIn<D extends 'chat' | 'memory'>(folder: string, document: D): Promise<ReturnType<(typeof DOCUMENTS)[D]['missing']>> {
  const { parse, missing } = DOCUMENTS[document];
  const { bytes, values }: FileLimits = BLOCK_FILE_LIMITS[`${document}.json`];
  const content = await readRegular(join(folder, `${document}.json`), bytes);
  const value = content === undefined ? missing() : parse(parseBytes(content, values));
  return value as ReturnType<(typeof DOCUMENTS)[D]['missing']>;
}
