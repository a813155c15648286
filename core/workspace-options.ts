// The options for a workspace that is open. Pure: types only.

/** Options for running blocks. */
export interface WorkspaceOptions {
  /** True opens the workspace for the gateway alone: `blocks` throws WRONG_STATE, and no monitor runs. Another core can't open it meanwhile. */
  readonly gatewayOnly?: boolean;
  /** The most model calls that monitors make at the same time; the default is 16. */
  readonly monitorCalls?: number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** Epoch milliseconds, for times in files. */
  readonly clock?: () => number;
  /** From 0 to 1, for jitter. */
  readonly random?: () => number;
}
