// The conversation of one block in its files: chat.json has the active entries, and chat-archive/ the older ones. Claims say nothing here, because this
// process has the workspace alone.
import { appendMessage, begin, cancel, entryIn, nextIn, queueAgain, recover, requeue, requeueAll, settle } from '../../../block/conversation/chat-changes.ts';
import { completeEntries, isWaiting } from '../../../block/conversation/chat-file.ts';
import { countQueue } from '../../../block/conversation/counts.ts';
import { EntryIds } from '../../../block/conversation/entry-ids.ts';
import type { QueueCounts } from '../../../schemas/block-pulse.ts';
import type { MessageFound } from '../../../schemas/chat-api.ts';
import type { ChatEntry } from '../../../schemas/chat-entry.ts';
import type { RunRecord } from '../../../types.ts';
import type {
  Added,
  AppendOptions,
  BackInQueue,
  Cancelled,
  Change,
  Claim,
  Conversation,
  Entries,
  MessageToAppend,
  Outcome,
  PagePlace,
  Recovered,
  RecoverRules,
  Settled,
} from '../../port.ts';
import type { JsonFile } from '../json-file.ts';
import type { ChatArchive } from './chat-archive.ts';
import { findEntry, pageOf } from './chat-history.ts';
import type { RunJournals } from './run-journals.ts';

/** What a conversation works with. */
export interface FileConversationOptions {
  readonly chat: JsonFile<Entries>;
  readonly archive: ChatArchive;
  readonly runs: RunJournals;
  /** The present time, ISO 8601. */
  at(): string;
}

/** One block's conversation. */
export class FileConversation implements Conversation {
  readonly #chat: JsonFile<Entries>;
  readonly #archive: ChatArchive;
  readonly #runs: RunJournals;
  readonly #at: () => string;
  readonly #ids: EntryIds;

  constructor({ chat, archive, runs, at }: FileConversationOptions) {
    this.#chat = chat;
    this.#archive = archive;
    this.#runs = runs;
    this.#at = at;
    this.#ids = new EntryIds(() => Date.parse(at()));
  }

  newId(): string {
    return this.#ids.next();
  }

  async border(): Promise<string> {
    this.#ids.follow(await this.#chat.read().catch(() => []));
    return this.#ids.next();
  }

  entries(): Promise<Entries> {
    return this.#chat.read();
  }

  async counts(): Promise<QueueCounts> {
    return countQueue(await this.#chat.outline());
  }

  async page(place: PagePlace): Promise<Entries> {
    return pageOf(this.#archive, await this.#chat.read(), place);
  }

  async message(id: string, seen?: Entries): Promise<MessageFound> {
    return findEntry(this.#archive, seen ?? (await this.#chat.read()), id);
  }

  async append(message: MessageToAppend): Promise<Added | { readonly archivedId: string }> {
    const { clientId } = message;
    const { clientIds } = this.#archive;
    if (clientId !== undefined) await clientIds.load();
    const at = this.#at();
    return this.#chat.update((entries): Change<Entries, Added | { readonly archivedId: string }> => {
      const isActive = clientId !== undefined && entries.some((entry) => entry.clientId === clientId);
      const archivedId = clientId === undefined || isActive ? undefined : clientIds.get(clientId);
      if (archivedId !== undefined) return { value: entries, result: { archivedId } };
      return appendMessage(completeEntries(entries, this.#ids, at), { ...message, id: this.#ids.next(), at });
    });
  }

  async recover(_claim: Claim, rules: RecoverRules): Promise<Recovered> {
    const inOrder = (entries: Entries): Entries => {
      const at = this.#at();
      return recover(completeEntries(entries, this.#ids, at), { now: Date.parse(at), at, ...rules });
    };
    const before = await this.#chat.read();
    if (inOrder(before) === before) return recovered(before, before); // usually nothing changes, and then no write is needed
    return this.#chat.update((entries) => {
      const value = inOrder(entries);
      return { value, result: recovered(value, entries) };
    });
  }

  begin(_claim: Claim, id: string): Promise<ChatEntry | undefined> {
    return this.#chat.update((entries) => begin(entries, id, this.#at()));
  }

  async settle(_claim: Claim, id: string, outcome: Outcome, answer: ChatEntry | undefined): Promise<Settled | undefined> {
    return (await this.#chat.update((entries) => settle(entries, id, outcome, answer))) ? { answer } : undefined;
  }

  requeue(_claim: Claim, id: string, how: BackInQueue): Promise<boolean> {
    return this.#chat.update((entries) => requeue(entries, id, how));
  }

  requeueAll(): Promise<void> {
    return this.#chat.update((entries) => ({ value: requeueAll(entries), result: undefined }));
  }

  cancel(id: string): Promise<Cancelled> {
    return this.#chat.update((entries) => cancel(entries, id, this.#at()));
  }

  retry(id: string, cap: number): Promise<ChatEntry> {
    return this.#chat.update((entries) => queueAgain(entries, entryIn(entries, id), { at: this.#at(), cap }));
  }

  appendSteps(_claim: Claim | undefined, messageId: string, from: number, records: readonly RunRecord[], options?: AppendOptions): Promise<void> {
    return this.#runs.append(messageId, from, records, options);
  }

  steps(messageId: string): Promise<readonly RunRecord[]> {
    return this.#runs.read(messageId);
  }

  result(messageId: string, ref: string): Promise<Uint8Array | undefined> {
    return this.#runs.result(messageId, ref);
  }

  keepResult(_claim: Claim, messageId: string, ref: string, bytes: Uint8Array): Promise<void> {
    return this.#runs.keepResult(messageId, ref, bytes);
  }

  async clearSteps(): Promise<number> {
    const waiting = (await this.#chat.read()).filter(isWaiting);
    return this.#runs.clear(waiting.map(({ id }) => id));
  }
}

function recovered(entries: Entries, before: Entries): Recovered {
  const over = entries === before ? [] : entries.filter((entry, index) => entry !== before[index] && isOver(entry));
  return { queued: countQueue(entries).queued, next: nextIn(entries), over };
}

function isOver({ status }: ChatEntry): boolean {
  return status === 'failed' || status === 'expired';
}
