// What waits for people, of all blocks, where several servers share a store. Pure: types only.
import type { Approval, RunRecord } from '../types.ts';

/** A call that waits, or has waited, for a person. */
export interface StoredApproval {
  /** As it was asked for. */
  readonly approval: Approval;
  /** The name that its block has now. */
  readonly block: string;
  /** Undefined while it waits. */
  readonly decision: Extract<RunRecord, { readonly t: 'decision' }> | undefined;
}

/** The place of an approval in a list: its deadline, or when it was decided, and its id. */
export interface ApprovalPlace {
  /** ISO 8601. */
  readonly at: string;
  readonly id: string;
}

/** Which approvals are listed. */
export interface ListedApprovals {
  /** Undefined for those that wait, the next deadline first; otherwise those that were decided so, the newest first. */
  readonly decisions: readonly string[] | undefined;
  /** The name of a block. */
  readonly block?: string | undefined;
  /** What comes after this one. */
  readonly after?: ApprovalPlace | undefined;
  readonly limit: number;
}

/** Approvals of all blocks but archived ones. Each member is one question to the store, however many blocks there are. Rejects with STORE_UNREACHABLE. */
export interface ApprovalStore {
  list(query: ListedApprovals): Promise<readonly StoredApproval[]>;
  /** Undefined if there is none with this id. Of a block that was imported twice, the older one. */
  find(id: string): Promise<StoredApproval | undefined>;
}
