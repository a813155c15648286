import t from 'tap';
import { createAnthropic } from '../../../adapters/anthropic/index.ts';
import { connected } from '../../../adapters/shared/connected.ts';
import type { ChatContext, Provider } from '../../../adapters/shared/provider.ts';
import { servedModels } from '../../../adapters/shared/served-models.ts';
import type { ChatEvent, ConnectionProfile, Prompt, Turn } from '../../../core/index.ts';

const PROFILE: ConnectionProfile = {
  id: 'own',
  protocol: 'base',
  preset: undefined,
  settings: { apiKey: { env: ['OWN_KEY'], secret: true } },
  defaultModel: 'm',
  missingCredential: () => 'own needs a key',
};
const STATE: ChatEvent[] = [
  { type: 'reasoningState', providerMetadata: { base: { a: 1 } } },
  { type: 'toolCall', toolCall: { id: '1', name: 'f', arguments: {}, providerMetadata: { base: { b: 2 } } } },
  { type: 'text', text: 'x' },
];

/** A provider that shows what it gets, and gives state under its own name. */
function providerSeeing(seen: Prompt[]): Provider {
  return {
    id: 'base',
    aliases: ['ground'],
    displayName: 'Base',
    buildChat: ({ prompt }: ChatContext) => {
      seen.push(prompt);
      return {};
    },
    readAnswer: () => [...STATE],
    createDecoder: () => ({
      complete: true,
      push: (_chunk: Buffer, events: ChatEvent[] = []) => {
        events.push(...STATE);
        return events;
      },
      end: (events: ChatEvent[] = []) => events,
    }),
  } as unknown as Provider;
}

const contextWith = (turns: readonly Turn[]) =>
  ({ model: 'm', prompt: { turns, tools: [], warnings: [] }, settings: { values: {}, sources: {} }, stream: false }) as unknown as ChatContext;

t.test('own-state: what an upstream keeps is filed under its connection, and no other upstream of the protocol reads it', async (t) => {
  const seen: Prompt[] = [];
  const provider = connected(providerSeeing(seen), PROFILE);
  const context = contextWith([]);
  const renamed = [
    { type: 'reasoningState', providerMetadata: { own: { a: 1 } } },
    { type: 'toolCall', toolCall: { providerMetadata: { own: { b: 2 } } } },
    { type: 'text', text: 'x' },
  ];
  t.match(provider.readAnswer({}, context), renamed);
  const before: ChatEvent = { type: 'reasoningState', providerMetadata: { base: 'of another event' } };
  t.match(provider.createDecoder(context).push(Buffer.alloc(0), [before]), [before, ...renamed]);
  const call = { id: '1', name: 'f', arguments: {}, providerMetadata: { own: 1, base: 2 } };
  const turn: Turn = { role: 'assistant', text: '', toolCalls: [call], providerMetadata: { base: 3, own: 4 }, order: [{ call }] };
  provider.buildChat(contextWith([{ role: 'user', text: 'hi' }, turn]));
  t.match(seen[0]?.turns[1], {
    providerMetadata: { base: 4 },
    toolCalls: [{ providerMetadata: { base: 1 } }],
    order: [{ call: { providerMetadata: { base: 1 } } }],
  });
  const plain = contextWith([{ role: 'user', text: 'hi' }]);
  provider.buildChat(plain);
  t.equal(seen[1], plain.prompt, 'a prompt without state stays the same object');
});

t.test('a connection has its own name, variables and message, and none of the aliases and models of its adapter', async (t) => {
  const provider = connected(providerSeeing([]), PROFILE);
  t.match(provider, { id: 'own', displayName: 'own', envVars: ['OWN_KEY'], aliases: undefined });
  t.equal(provider.missingCredential({ values: {}, sources: {} }), 'own needs a key');
  const adapter = createAnthropic();
  const made = adapter.connect?.(PROFILE);
  t.equal(made?.curatedModels, undefined);
  await made?.close();
  await adapter.close();
});

t.test('lists of models are read in every form that servers give', async (t) => {
  t.same(servedModels({ data: [{ id: 'a', context_length: 8 }, { id: 'b', max_model_len: 9 }, { id: 'c', context_window: -1 }, { id: '' }, 5, null] }), [
    { id: 'a', contextWindow: 8 },
    { id: 'b', contextWindow: 9 },
    { id: 'c' },
  ]);
  t.same(servedModels([{ id: 'a', max_context_length: 7 }]), [{ id: 'a', contextWindow: 7 }]);
  t.same(servedModels({ models: [{ name: 'models/g', inputTokenLimit: 6 }] }), [{ id: 'g', contextWindow: 6 }]);
  for (const odd of [undefined, null, 'x', { data: 'x' }, {}]) t.same(servedModels(odd), []);
});
