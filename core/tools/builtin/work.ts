// What the built-in tools that write ask of the blocks. Pure: types only.
import type { AwaitedMessage, ChainLink, ChatEntry, RunRecord, Schedule } from '../../types.ts';

/** A message to another block. The same `clientId` is the same message. */
export interface MessageToBlock {
  readonly to: string;
  readonly content: string;
  readonly clientId: string;
  readonly chain: readonly ChainLink[];
}

/** The conversation of a block, as far as it says what a message has used. */
export interface ReadConversation {
  entries(): Promise<readonly ChatEntry[]>;
  steps(messageId: string): Promise<readonly RunRecord[]>;
}

/** Works on the blocks of the workspace. Each member rejects with a BlockhouseError, where nothing was written. */
export interface BlockWork {
  /** Resolves with the id of the message when it is stored. */
  send(message: MessageToBlock): Promise<string>;
  /** Waits for the outcome of a message. Rejects with CANCELLED when `signal` fires. */
  answer(block: string, messageId: string, options: { readonly waitMs: number; readonly signal: AbortSignal }): Promise<AwaitedMessage>;
  conversation(block: string): Promise<ReadConversation>;
  /** Changes the schedules of a block, unless `change` says why they can't be. Resolves with that. */
  changeSchedules(block: string, change: (schedules: readonly Schedule[]) => readonly Schedule[] | string): Promise<string | undefined>;
}
