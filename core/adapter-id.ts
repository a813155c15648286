// The ids of adapters as a type, so that editors complete them. Pure: types only.

/** The ids of the adapters that come with Blockhouse. A test compares them with the adapters. */
export type KnownAdapterId = 'bedrock' | 'openai' | 'google' | 'anthropic' | 'ollama';

/** The id of an adapter: one that comes with Blockhouse, or one of your own. */
export type AdapterId = KnownAdapterId | (string & Record<never, never>);
