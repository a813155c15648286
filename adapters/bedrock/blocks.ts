// The content blocks of one answer, gathered from pieces. Text is emitted at once; tool calls and reasoning are emitted when the
// answer stops, because only the stop reason says whether they were cut off. A whole answer has one piece for each block. Pure: no I/O.
//
// bounded: what is kept counts.
// lead-once: reasoning that comes before all else is one state, which is told when something else begins.
import { AnswerSize, type ChatEvent, type StopReason } from '../../core/index.ts';
import { type ChatContext, malformed } from '../shared/provider.ts';
import { asObject, asString, expectObject, expectText, parseArguments } from '../shared/read.ts';
import { isClaude } from './models.ts';
import { digestOf, type ReasoningState } from './reasoning.ts';
import { translate } from './request.ts';
import type { AssistantBlock } from './schema.ts';

interface Text {
  readonly kind: 'text';
  text: string;
}

interface Call {
  readonly kind: 'toolUse';
  readonly id: string;
  readonly name: string;
  /** Arguments so far, as text. */
  json: string;
  /** All arguments, where they came as a whole. */
  readonly input: Record<string, unknown> | undefined;
  /** The place among the answer's calls, for a call that comes in pieces. */
  readonly place: number | undefined;
}

interface Reasoning {
  readonly kind: 'reasoning';
  text: string;
  signature: string | undefined;
  readonly redacted: Buffer[];
}

/** Answers of ours are text. */
export const IMAGE_LEFT_OUT: ChatEvent = {
  type: 'warning',
  warning: { field: 'message.content', message: 'The answer has an image, which is not passed on.' },
};

type Gathered = Text | Call | Reasoning;

/** Gathers the blocks of one answer. Every `index` is the provider's contentBlockIndex. */
export class AnswerBlocks {
  readonly #context: ChatContext;
  readonly #blocks = new Map<unknown, Gathered>();
  /** bounded. */
  readonly #size = new AnswerSize();
  #started = 0;
  /** lead-once: nothing but reasoning has come. */
  #leads = true;
  /** Of the conversation before the answer, once it is needed. */
  #prefix: string | undefined;

  constructor(context: ChatContext) {
    this.#context = context;
  }

  /** Only tool calls are opened; text and reasoning begin with their first piece. `input` is there for a call that comes as a whole. */
  open(index: unknown, start: Record<string, unknown>, input?: Record<string, unknown>): ChatEvent[] {
    if (start['image'] !== undefined) return [IMAGE_LEFT_OUT];
    if (start['toolUse'] === undefined) return [];
    const tool = expectObject(start['toolUse'], 'a tool call');
    const [id, name] = [asString(tool['toolUseId']) ?? '', expectText(tool['name'], 'the name of a tool call')];
    const place = input === undefined ? this.#started++ : undefined;
    const lead = this.#lead();
    this.#size.add(id.length + name.length);
    this.#put(index, { kind: 'toolUse', id, name, json: '', input, place });
    return place === undefined ? [] : [...lead, { type: 'toolCallStart', index: place, id, name }];
  }

  /** Throws UPSTREAM_MALFORMED for a piece that does not belong to its block. */
  add(index: unknown, delta: Record<string, unknown>): ChatEvent[] {
    const text = expectText(delta['text'], 'a piece of text');
    if (text !== '') {
      const lead = this.#blocks.has(index) ? [] : this.#lead();
      this.#textAt(index).text += text;
      this.#size.add(text.length);
      return [...lead, { type: 'text', text }];
    }
    if (delta['toolUse'] !== undefined) {
      const call = this.#callAt(index);
      const piece = expectText(expectObject(delta['toolUse'], 'a piece of a tool call')['input'], 'a piece of a tool call');
      call.json += piece;
      this.#size.add(piece.length);
      return piece === '' || call.place === undefined ? [] : [{ type: 'toolCallDelta', index: call.place, text: piece }];
    }
    if (delta['reasoningContent'] === undefined) return [];
    const reasoning = asObject(delta['reasoningContent']);
    addReasoning(this.#reasoningAt(index), reasoning);
    for (const name of ['text', 'signature', 'redactedContent']) this.#size.add(asString(reasoning[name])?.length ?? 0);
    const thought = asString(reasoning['text']) ?? '';
    return thought === '' ? [] : [{ type: 'reasoning', text: thought }];
  }

  /** What only the end of a stream allows: the tool calls, and the reasoning that the next request must send back. */
  finish(stopReason: StopReason): ChatEvent[] {
    const calls = this.calls(stopReason);
    return [...calls, ...this.state(calls)];
  }

  /** The tool calls. A call that came as a whole is one event, a warning if it was cut off. */
  calls(stopReason: StopReason): ChatEvent[] {
    const blocks = [...this.#blocks.values()];
    return blocks.flatMap((block) => {
      const events = block.kind === 'toolUse' ? toCall(block, stopReason, block === blocks.at(-1)) : [];
      for (const event of events) if (event.type === 'toolCall') this.#size.addValue(event.toolCall.arguments);
      return events;
    });
  }

  /** The reasoning that the next request must send back with these calls. A turn that lacks one is no longer what the model wrote, so it has none. */
  state(calls: readonly ChatEvent[]): ChatEvent[] {
    return calls.some((event) => event.type === 'warning') ? [] : this.#reasoningState('providerMetadata', [...this.#blocks.values()]);
  }

  /** The reasoning that leads the answer, when another block begins. */
  #lead(): ChatEvent[] {
    if (!this.#leads) return [];
    this.#leads = false;
    return this.#reasoningState('reasoningState', [...this.#blocks.values()]);
  }

  #put(index: unknown, block: Gathered): Gathered {
    this.#size.addBlock();
    this.#blocks.set(index, block);
    return block;
  }

  #textAt(index: unknown): Text {
    const block = this.#blocks.get(index) ?? this.#put(index, { kind: 'text', text: '' });
    if (block.kind !== 'text') throw malformed('a piece of text belongs to another block');
    return block;
  }

  #callAt(index: unknown): Call {
    const block = this.#blocks.get(index);
    if (block?.kind !== 'toolUse') throw malformed('a piece of a tool call belongs to no block');
    return block;
  }

  #reasoningAt(index: unknown): Reasoning {
    const block = this.#blocks.get(index) ?? this.#put(index, { kind: 'reasoning', text: '', signature: undefined, redacted: [] });
    if (block.kind !== 'reasoning') throw malformed('a piece of reasoning belongs to another block');
    return block;
  }

  /** Only for Claude: other vendors neither sign their reasoning nor want it back. */
  #reasoningState(type: 'providerMetadata' | 'reasoningState', blocks: readonly Gathered[]): ChatEvent[] {
    const { model, prompt } = this.#context;
    const reasoning = blocks.filter((block) => block.kind === 'reasoning');
    // A block without a signature was cut off, and Bedrock would refuse it.
    if (!isClaude(model) || reasoning.length === 0 || reasoning.some((block) => toWire(block).length === 0)) return [];
    this.#prefix ??= prefixOf(model, prompt);
    const state: ReasoningState = { model, prefix: this.#prefix, content: blocks.flatMap(toWire) };
    return [{ type, providerMetadata: { bedrock: state } }];
  }
}

function prefixOf(model: string, prompt: ChatContext['prompt']): string {
  const { messages, ...frame } = translate(model, prompt).body;
  return digestOf(frame, messages);
}

function addReasoning(block: Reasoning, delta: Record<string, unknown>): void {
  block.text += asString(delta['text']) ?? '';
  const signature = asString(delta['signature']);
  if (signature !== undefined) block.signature = (block.signature ?? '') + signature;
  const redacted = asString(delta['redactedContent']);
  if (redacted !== undefined) block.redacted.push(Buffer.from(redacted, 'base64'));
}

/** When the token limit ends the answer, its last call is cut off even if the arguments look complete: the answer didn't end in `tool_use`. */
function toCall(block: Call, stopReason: StopReason, isLast: boolean): ChatEvent[] {
  const args = argumentsOf(block);
  if (stopReason === 'max_tokens' && (args === undefined || isLast)) {
    const message = `A call to ${block.name} was cut off by the token limit and is not included.`;
    return [{ type: 'warning', warning: { field: 'message.toolCalls', message } }];
  }
  if (args === undefined) throw malformed('the arguments of a tool call are not a JSON object');
  const toolCall = { id: block.id, name: block.name, arguments: args };
  if (block.place === undefined) return [{ type: 'toolCall', toolCall }];
  const index = block.place;
  // A call without arguments has no piece.
  const empty: ChatEvent[] = block.json === '' ? [{ type: 'toolCallDelta', index, text: '{}' }] : [];
  return [...empty, { type: 'toolCall', toolCall, index }];
}

/** Undefined for text that is not a JSON object. */
function argumentsOf({ input, json }: Call): Record<string, unknown> | undefined {
  return input ?? parseArguments(json);
}

/** The block in the form that a request has; nothing for blank text, which Bedrock refuses. */
function toWire(block: Gathered): AssistantBlock[] {
  switch (block.kind) {
    case 'text':
      return block.text.trim() === '' ? [] : [{ text: block.text }];
    case 'toolUse':
      return [{ toolUse: { toolUseId: block.id, name: block.name, input: argumentsOf(block) ?? {} } }];
    case 'reasoning':
      if (block.redacted.length > 0) return [{ reasoningContent: { redactedContent: Buffer.concat(block.redacted).toString('base64') } }];
      return block.signature === undefined ? [] : [{ reasoningContent: { reasoningText: { text: block.text, signature: block.signature } } }];
  }
}
