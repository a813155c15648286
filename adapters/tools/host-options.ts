// What those give who make a host of tools. Pure: types only, so that programs which embed Blockhouse read no more than these.
import type { Environment, SettingStore } from '../../core/index.ts';

/** What a book needs to know. */
export interface BookOptions {
  readonly workspace: string;
  readonly env: Environment;
  /** Where `mcp.json` and the pins are; left out: files of the folder. */
  readonly settings?: SettingStore | undefined;
  /** Variables with keys of providers, which no server gets. */
  readonly providerVariables?: ReadonlySet<string> | undefined;
  /** True for a variable that has a secret of a provider by now; no server gets it, either. */
  readonly isSecret?: ((variable: string) => boolean) | undefined;
  /** True for an address of this server. */
  readonly isOwn?: ((url: URL) => boolean) | undefined;
  /** Epoch milliseconds. */
  readonly clock?: (() => number) | undefined;
  /** Monotonic milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** What the host of a workspace is made with. */
export interface ToolHostOptions extends BookOptions {
  readonly maxProcesses?: number;
  readonly backOffMs?: number;
  /** A server that says nothing for so long after a call has timed out is ended. */
  readonly deafMs?: number;
}
