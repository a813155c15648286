// A provider's own state of an answer on its way through a client that has no field for it: packed into a text which the client sends back unchanged.
// Pure: no I/O.
import { isObject, tryParseJson } from '../../../../core/base/json.ts';
import type { ChatDone, Message } from '../../../../core/index.ts';

type AssistantMessage = Extract<Message, { readonly role: 'assistant' }>;

/** What the next request must bring back of an answer. */
export interface AnswerState {
  readonly message?: Record<string, unknown> | undefined;
  /** By the id of the call, as the client knows it. */
  readonly calls?: Readonly<Record<string, Record<string, unknown>>> | undefined;
}

const MARK = 'bh1.';
/** A longer state is left out; the provider then goes on without it. */
const MAX_CHARACTERS = 65_536;

/** An answer, or what is known of one that is under way. */
type StatefulAnswer = { readonly [K in keyof ChatDone]?: ChatDone[K] | undefined };

/** The state of an answer as text; undefined if it has none. `idOf` gives the id of a call as the client sees it. */
export function packState({ providerMetadata, toolCalls = [] }: StatefulAnswer, idOf: (id: string) => string = (id) => id): string | undefined {
  const calls = Object.fromEntries(toolCalls.flatMap((call) => (call.providerMetadata === undefined ? [] : [[idOf(call.id), call.providerMetadata]])));
  const hasCalls = Object.keys(calls).length > 0;
  if (providerMetadata === undefined && !hasCalls) return undefined;
  const state = { ...(providerMetadata !== undefined && { message: providerMetadata }), ...(hasCalls && { calls }) };
  const packed = MARK + Buffer.from(JSON.stringify(state)).toString('base64url');
  return packed.length > MAX_CHARACTERS ? undefined : packed;
}

/** The state in a text of `packState`; undefined for any other text. */
export function unpackState(text: unknown): AnswerState | undefined {
  if (typeof text !== 'string' || !text.startsWith(MARK) || text.length > MAX_CHARACTERS) return undefined;
  const value = tryParseJson(Buffer.from(text.slice(MARK.length), 'base64url').toString());
  if (!isObject(value)) return undefined;
  const { message, calls } = value;
  return { ...(isObject(message) && { message }), ...(isObject(calls) && Object.values(calls).every(isObject) && { calls: calls as AnswerState['calls'] }) };
}

/** The messages of one answer with its states: that of the answer is in the first, that of each call with it. */
export function withStates(messages: readonly AssistantMessage[], states: readonly AnswerState[]): AssistantMessage[] {
  return messages.map((message, index) => states.reduce((made, state) => withState(made, index === 0 ? state : { calls: state.calls }), message));
}

/** The assistant's message with its state; an adapter drops the state of other providers and models. */
export function withState(given: AssistantMessage, { message, calls }: AnswerState): AssistantMessage {
  return {
    ...given,
    ...(message !== undefined && { providerMetadata: message }),
    ...(given.toolCalls !== undefined && {
      toolCalls: given.toolCalls.map((call) => ({ ...call, ...(calls !== undefined && Object.hasOwn(calls, call.id) && ofCall(calls[call.id])) })),
    }),
  };
}

function ofCall(providerMetadata: Record<string, unknown> | undefined): { providerMetadata?: Record<string, unknown> } {
  return providerMetadata === undefined ? {} : { providerMetadata };
}
