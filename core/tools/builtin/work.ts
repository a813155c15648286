// What the built-in tools that write ask of the blocks. Pure: types only.
import type { ChainLink } from '../../types.ts';

/** A message to another block. The same `clientId` is the same message. */
export interface MessageToBlock {
  readonly to: string;
  readonly content: string;
  readonly clientId: string;
  readonly chain: readonly ChainLink[];
}

/** The outcome of a message to another block. */
export interface BlockReply {
  /** Undefined while there is none. */
  readonly text: string | undefined;
  readonly isFailed: boolean;
  /** Why there is no answer, for the model. */
  readonly note: string;
  /** Tokens of all calls of models that it has taken, those of further blocks included. */
  readonly tokens: number;
}

/** A message of a block to itself. The same id is the same one. */
export interface LaterMessage {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly message: string;
}

/** Works on the blocks of the workspace. Each member rejects with a BlockhouseError, where nothing was written. */
export interface BlockWork {
  /** Resolves with the id of the message when it is stored. */
  send(message: MessageToBlock): Promise<string>;
  /** Waits for its outcome, at most until an instant in epoch milliseconds. Rejects with CANCELLED when `signal` fires. */
  reply(wait: {
    readonly from: string;
    readonly to: string;
    readonly messageId: string;
    readonly until: number;
    readonly signal: AbortSignal;
  }): Promise<BlockReply>;
  /** Adds a schedule to a block that runs once. Resolves with why it could not; undefined where it is there. */
  later(block: string, message: LaterMessage): Promise<string | undefined>;
}
