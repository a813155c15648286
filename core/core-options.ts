// The options of a core: what they are, and that each is known.
import type { Environment } from './auth/settings.ts';
import { nearest } from './base/closest.ts';
import type { QueueLimits } from './gateway/queue.ts';
import type { Adapter, ContentTap, NoticeSender, UpstreamTimeouts } from './ports.ts';
import type { StoreConnection } from './store/store.ts';
import type { ToolHost } from './tools/port.ts';

/** Options for running blocks. */
export interface WorkspaceOptions {
  /** True opens the workspace for the gateway alone: `blocks` throws WRONG_STATE, and no monitor runs. Another core can't open it meanwhile. */
  readonly gatewayOnly?: boolean;
  /** The most model calls that monitors make at the same time; the default is 16. */
  readonly monitorCalls?: number;
  /** What runs the tools of blocks. Without it, no block can have tools. The core closes it at its end. */
  readonly tools?: ToolHost;
  /** What sends notifications. Without it, there can be no targets of them. The core closes it at its end. */
  readonly notices?: NoticeSender;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** Epoch milliseconds, for times in files. */
  readonly clock?: () => number;
  /** From 0 to 1, for jitter. */
  readonly random?: () => number;
}

/** The options of `createCore`. */
export interface CoreOptions extends WorkspaceOptions {
  /** The folder of auth.json, the token and the blocks. Without it, nothing is read from or written to disk. */
  readonly workspace?: string;
  /** The database that keeps what the workspace has, except for auth.json (`connectStore`); without it, the folder keeps all. */
  readonly store?: StoreConnection;
  /** The adapters that requests can use; `createAdapters()` makes those that come with Blockhouse. */
  readonly adapters: readonly Adapter[];
  /** The environment variables to read; by default those of the process. */
  readonly env?: Environment;
  /** Origins, besides the providers' own, that stored keys may go to. */
  readonly allowedOrigins?: ReadonlySet<string>;
  /** Limits of the queue in front of each provider. */
  readonly queue?: Partial<QueueLimits>;
  /** Presets that are connections without an entry in auth.json, such as groq. */
  readonly connections?: readonly string[];
  /** Time limits of calls to providers. */
  readonly timeouts?: Partial<UpstreamTimeouts>;
  /** The most retries of a failed attempt, 0 to 2; the default is 2. */
  readonly retries?: number;
  /** True if providers get the trace of a request, in the header `traceparent`. */
  readonly tracesProviders?: boolean;
  /** Reads the prompts and the answers of chat calls; without it, nothing outside of a call does. */
  readonly contentTap?: ContentTap | undefined;
}

const OPTION_NAMES: Readonly<Record<keyof CoreOptions, true>> = {
  workspace: true,
  store: true,
  adapters: true,
  env: true,
  allowedOrigins: true,
  connections: true,
  queue: true,
  timeouts: true,
  retries: true,
  tracesProviders: true,
  contentTap: true,
  gatewayOnly: true,
  monitorCalls: true,
  tools: true,
  notices: true,
  now: true,
  clock: true,
  random: true,
};

/** Throws a TypeError without adapters, and for an option that there is not: a misspelt one would change nothing, without a word. */
export function assertOptions(options: CoreOptions | undefined): void {
  if (!Array.isArray(options?.adapters)) throw new TypeError('createCore needs its adapters: createCore({ adapters: createAdapters(), workspace: … }).');
  for (const name in options) {
    if (Object.hasOwn(OPTION_NAMES, name)) continue;
    const meant = nearest(name, Object.keys(OPTION_NAMES));
    throw new TypeError(`createCore has no option ${JSON.stringify(name)}${meant === undefined ? '' : `; did you mean ${meant}?`}`);
  }
}
