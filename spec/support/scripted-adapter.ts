// An adapter whose calls are functions of the test.
import type { Adapter, AdapterCall, ChatCall } from '../../core/index.ts';

export interface Script {
  chat?(call: ChatCall): Promise<void> | void;
  listModels?(call: AdapterCall): Promise<readonly string[]> | readonly string[];
  verify?(call: AdapterCall): Promise<string> | string;
  missingCredential?(): string | undefined;
}

export function scriptedAdapter(script: Script, id = 'scripted'): Adapter {
  return {
    id,
    aliases: [],
    displayName: 'Scripted',
    authRequired: false,
    defaultModel: 'script',
    supportsStreaming: true,
    envVars: [],
    settings: {},
    missingCredential: () => script.missingCredential?.(),
    chat: async (call) => {
      await script.chat?.(call);
    },
    listModels: async (call) => (await script.listModels?.(call)) ?? [],
    verify: async (call) => (await script.verify?.(call)) ?? 'ok',
    close: async () => undefined,
  };
}
