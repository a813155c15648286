// What a small content of a workspace is to the core. Pure: types only.

/** What everything in a workspace looks at: the kill switch, the keys of applications, aliases of models, the bearer token, the servers of tools, and what of them is approved. */
export type SettingName = 'halt' | 'keys' | 'models' | 'token' | 'mcp' | 'mcp-pins';

/** How a setting is read and written. Pure. */
export interface SettingCodec<T> {
  /** `text` is undefined where nothing is stored. Throws an Error that says what is wrong. */
  parse(text: string | undefined): T;
  /** Undefined for a value that nothing stands for. */
  format(value: NonNullable<T>): string | undefined;
}

/** A setting as it was last found. */
export interface SettingState<T> {
  /** The last content that could be used; undefined before the first. */
  readonly good: T | undefined;
  /** What is wrong with the present content, without a full stop; undefined if nothing is. */
  readonly fault: string | undefined;
}

/** A small content that anybody may change at any time: a person, a command, another process. */
export interface Setting<T> {
  /** Where it is stored, for people. */
  readonly place: string;
  /** Answers at once, with what was stored a second ago or later. The same object until it changes. */
  now(): SettingState<T>;
  /** Looks at once: somebody may have changed it a moment ago. Rejects with STORE_UNREACHABLE. */
  look(): Promise<void>;
  /**
   * `change` gets what is stored at this moment, again if somebody else changes it meanwhile; undefined leaves it as it is. Durable when it resolves, with
   * false if nothing was to be changed. Rejects with STORAGE_FULL, the system's own error, or what `change` throws.
   */
  update(change: (now: SettingState<T>) => NonNullable<T> | undefined): Promise<boolean>;
}

/** The settings of a workspace. */
export interface SettingStore {
  /** `onChange` is called with the first content that is found and after every change, from `now` and `update`, before they return. */
  open<T>(name: SettingName, codec: SettingCodec<T>, onChange: (state: SettingState<T>) => void): Setting<T>;
  /** What is stored now, for the doctor. Changes nothing. */
  check<T>(name: SettingName, codec: SettingCodec<T>): Promise<SettingState<T>>;
}
