// A provider under the name of a connection. Pure: no I/O.
//
// own-state: what an upstream keeps with an answer is filed under the name of its connection, and goes back to no other upstream of the same protocol.
import type { AssistantTurn, ChatEvent, ConnectionProfile, ContentPart, Prompt, ToolCall, Turn } from '../../core/index.ts';
import type { ChatContext, Provider, StreamDecoder } from './provider.ts';

/** The same provider with the name, the settings and the messages of a connection. */
export function connected(provider: Provider, profile: ConnectionProfile): Provider {
  const { id: own } = provider;
  const { id, settings, defaultModel, preset } = profile;
  const { aliases: _aliases, curatedModels: _models, modelNames: _names, presets: _presets, pricesAs, probe, trustedOrigins, ...rest } = provider;
  const inside = (context: ChatContext): ChatContext => ({ ...context, prompt: renamedPrompt(context.prompt, id, own) });
  return {
    ...rest,
    id,
    displayName: id,
    settings,
    defaultModel,
    envVars: Object.values(settings).flatMap(({ env = [] }) => env),
    timeouts: { ...provider.timeouts, ...preset?.timeouts },
    missingCredential: (resolved) => profile.missingCredential(resolved),
    ...(preset === undefined && pricesAs !== undefined && { pricesAs }),
    // A chain of credentials belongs to the adapter. A daemon that needs none is looked for under any name.
    ...(probe !== undefined && !provider.authRequired && { probe: probe.bind(provider) }),
    // Where the address can be set, it is the only one.
    ...(trustedOrigins !== undefined && settings['baseURL'] === undefined && { trustedOrigins: trustedOrigins.bind(provider) }),
    buildChat: (context) => provider.buildChat(inside(context)),
    readAnswer: (json, context) => renamedEvents(provider.readAnswer(json, inside(context)), 0, own, id),
    createDecoder: (context) => new RenamingDecoder(provider.createDecoder(inside(context)), own, id),
    ...(provider.replayed !== undefined && { replayed: (model: string, turn: AssistantTurn) => provider.replayed?.(model, renamedAssistant(turn, id, own)) }),
    ...(provider.countTokens !== undefined && {
      countTokens: (context: ChatContext) => (provider.countTokens as NonNullable<Provider['countTokens']>)(inside(context)),
    }),
  };
}

/** own-state, on the way back. */
class RenamingDecoder implements StreamDecoder {
  readonly #decoder: StreamDecoder;
  readonly #from: string;
  readonly #to: string;

  constructor(decoder: StreamDecoder, from: string, to: string) {
    this.#decoder = decoder;
    this.#from = from;
    this.#to = to;
  }

  get complete(): boolean {
    return this.#decoder.complete;
  }

  get told(): StreamDecoder['told'] {
    return this.#decoder.told;
  }

  push(chunk: Buffer, events: ChatEvent[] = []): ChatEvent[] {
    const before = events.length;
    try {
      return this.#decoder.push(chunk, events);
    } finally {
      renamedEvents(events, before, this.#from, this.#to);
    }
  }

  end(events: ChatEvent[] = []): ChatEvent[] {
    const before = events.length;
    try {
      return this.#decoder.end(events);
    } finally {
      renamedEvents(events, before, this.#from, this.#to);
    }
  }
}

/** In place, from `first` on. */
function renamedEvents(events: ChatEvent[], first: number, from: string, to: string): ChatEvent[] {
  for (let index = first; index < events.length; index += 1) {
    const event = events[index] as ChatEvent;
    if (event.type === 'providerMetadata' || event.type === 'reasoningState') events[index] = renamed(event, from, to);
    else if (event.type === 'toolCall' && event.toolCall.providerMetadata !== undefined)
      events[index] = { ...event, toolCall: renamed(event.toolCall, from, to) };
  }
  return events;
}

interface Holder {
  readonly providerMetadata?: Readonly<Record<string, unknown>> | undefined;
}

/** State of others stays out: it would be read as the connection's own. */
function renamed<T extends Holder>(holder: T, from: string, to: string): T {
  const { providerMetadata } = holder;
  if (providerMetadata === undefined) return holder;
  const own = providerMetadata[from];
  return { ...holder, providerMetadata: own === undefined ? {} : { [to]: own } };
}

/** own-state, on the way there. The same object if nothing has state, as in most prompts. */
function renamedPrompt(prompt: Prompt, from: string, to: string): Prompt {
  return prompt.turns.some(hasState)
    ? { ...prompt, turns: prompt.turns.map((turn) => (turn.role === 'assistant' ? renamedAssistant(turn, from, to) : turn)) }
    : prompt;
}

function hasState(turn: Turn): boolean {
  if (turn.role !== 'assistant') return false;
  const { providerMetadata, toolCalls, parts = [] } = turn;
  return (
    providerMetadata !== undefined || toolCalls.some((call) => call.providerMetadata !== undefined) || parts.some((part) => part.providerMetadata !== undefined)
  );
}

function renamedAssistant(turn: AssistantTurn, from: string, to: string): AssistantTurn {
  if (!hasState(turn)) return turn;
  const call = (one: ToolCall): ToolCall => renamed(one, from, to);
  const part = (one: ContentPart): ContentPart => renamed(one, from, to);
  return {
    ...renamed(turn, from, to),
    toolCalls: turn.toolCalls.map(call),
    ...(turn.parts !== undefined && { parts: turn.parts.map(part) }),
    ...(turn.order !== undefined && { order: turn.order.map((piece) => ('call' in piece ? { call: call(piece.call) } : { part: part(piece.part) })) }),
  };
}
