// Who works on which block, where several servers share a store. Pure: types only.
import type { BlockState } from '../schemas/block-pulse.ts';

/** A block as the store knows it. */
export interface BlockRef {
  readonly name: string;
  /** The store's number of the block, which never comes again; 0 where a block has only its name. */
  readonly block: number;
}

/** The right to work on a block. One server has it at a time. M2: of two servers that believe to have it, the store accepts the later one only. */
export interface Claim extends BlockRef {
  /** The server's `node`. */
  readonly owner: string;
  /** Greater with each owner of the block. */
  readonly fence: number;
}

/** How a block is given back. */
export interface Rest {
  readonly state: BlockState;
  /** ISO 8601: look again then. Null: when something comes. */
  readonly dueAt: string | null;
}

/** What others ask of a block that this server has. */
export interface Wish extends BlockRef {
  /** The message to cancel. Null: the block is to be given back when the reply under way is over, because it is stopped, or another server needs it. */
  readonly cancel: string | null;
}

/** How a block stands, as all servers see it. */
export interface Standing {
  /** Messages are answered, now or as soon as a server has room. */
  readonly isRunning: boolean;
  readonly state: BlockState;
  /** The `node` of the server that has it; null while nobody has. */
  readonly heldBy: string | null;
}

/** What a look finds. */
export interface Found {
  /** What others ask of the blocks of this server. A wish ends with the release, or with the message. */
  readonly wishes: readonly Wish[];
  /** The blocks of this server that have something to do, also those whose claim was answered into a broken connection. */
  readonly mine: readonly Claim[];
  /** Blocks that have something to do and that nobody had, those that wait longest first. Not shared: those to start with the server, once. */
  readonly claimed: readonly Claim[];
}

/**
 * One server among those that share a workspace, from its joining to its end. M1: its id is never used again. All reject with STORE_UNREACHABLE; `look` and
 * `take` with LEASE_LOST, too.
 */
export interface Membership {
  readonly node: string;
  /** False where this server alone has the workspace: nothing comes from elsewhere, so nothing is looked for, and no block is given back while it waits. */
  readonly isShared: boolean;
  /** Nothing is taken for work any more, and what it has is given back as soon as no reply is under way. */
  readonly isDraining: boolean;
  /** Fires when nothing that was claimed may be written any more. Join again. */
  readonly lost: AbortSignal;
  /** Monotonic milliseconds until which what was claimed is surely ours. No model call begins after it. */
  readonly sureUntil: number;
  /** Takes blocks that nobody has, `room` at most, and says what else there is to do. */
  look(room: number): Promise<Found>;
  /** Takes one block. Who has it already gets the same claim. Rejects with BLOCK_NOT_FOUND. */
  take(ref: BlockRef): Promise<Claim | { readonly heldBy: string }>;
  /** Asks the server that has a block to give it back. Who asks takes it then. */
  askFor(ref: BlockRef): Promise<void>;
  /** False if the block is not ours any more. Whatever waits in it, or broke off, is due. */
  release(claim: Claim, rest: Rest): Promise<boolean>;
}
