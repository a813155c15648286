// The options of a call. Pure: types only.
import type { CallAccounts } from './account.ts';
import type { ClientHeaders } from './conversation.ts';

/** Options of a call, besides the request itself. */
export interface CallOptions {
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined;
  /** The id of the request in events and logs; generated if absent. */
  readonly requestId?: string | undefined;
  /**
   * Who makes the call, for example the name of a block. Callers take turns at a busy provider, and failures of one caller alone never pause it for the
   * others. A named `key` is a caller, too; all calls without either are one.
   */
  readonly caller?: string | undefined;
  /** The key of the message that a block (`caller`) answers. Failures of the call count for this key, as those of its own calls do, and the call takes turns as this key. Its limits don't hold. */
  readonly sentWith?: string | undefined;
  /** Those of the client's request, which may say what conversation it belongs to. */
  readonly headers?: ClientHeaders | undefined;
  /** The conversation of the request, where it has been worked out already. */
  readonly conversation?: string | undefined;
  /** The message of a block that the call is to answer. */
  readonly messageId?: string | undefined;
  /**
   * The name of the key that the client has presented; undefined for the token of the workspace. Its limits hold for the call, which is therefore refused
   * before `start` and without a workspace. Appears in facts and in the ledger of gateway calls.
   */
  readonly key?: string | undefined;
  /** The name by which the client has asked for the model, such as an alias. A key that may use this name may use the model; without it, the list of the key must have provider/model. */
  readonly askedAs?: string | undefined;
  /** The path that the client has called. Appears in facts. */
  readonly path?: string | undefined;
  /** Who keeps the account of the call, if it is not the gateway, whose ledger leaves it out then: a block has its own. Limits of a `key` don't hold for it. */
  readonly accounts?: CallAccounts | undefined;
  /** False for one attempt only: the caller asks another model rather than the same once more. */
  readonly repeats?: boolean | undefined;
  /** Any object, the same for all models that are asked for one request, which counts once in the limits of its key. */
  readonly ofRequest?: object | undefined;
  /** True leaves the limit of a request without `maxTokens` to the provider. Without it, the limit is 4096. */
  readonly leavesTokenLimit?: boolean | undefined;
  /** True leaves all tool calls but the first out of an answer whose request has `parallelToolCalls: false`: not every provider knows such a limit. */
  readonly limitsCalls?: boolean | undefined;
  /** For a large request: lets other work of the event loop run between its steps. */
  turn?(): Promise<void>;
}
