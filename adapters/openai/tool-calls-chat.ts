// Tool calls of Chat Completions, gathered from the fragments of a stream. Pure: no I/O.
//
// by-index: OpenAI numbers the calls by `index`; the id and the name come once, with the first fragment.
// by-id: compatible servers leave `index` out (or send -1), or give every whole call the index 0. For them a new id with a name begins a new call.
// bounded: what is kept counts, calls without a name as well.
import { isObject } from '../../core/base/json.ts';
import { AnswerSize, type ChatEvent } from '../../core/index.ts';
import { malformed } from '../shared/provider.ts';
import { asString, expectObject, expectText } from '../shared/read.ts';

/** One tool call while its fragments arrive. */
export interface CallSlot {
  id: string;
  name: string;
  /** The arguments so far, as text. */
  text: string;
  /** The arguments, if a server sent an object instead of text. */
  object: Record<string, unknown> | undefined;
  /** Its place among the calls. */
  readonly place: number;
  /** `place`, once a reader knows of it. */
  started: number | undefined;
}

interface Fragment {
  readonly index: unknown;
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

/** The tool calls of one answer, in the order of their first fragments. */
export class CallSlots {
  readonly #slots: CallSlot[] = [];
  /** bounded. */
  readonly size = new AnswerSize();
  /** Created with the first call. */
  #byIndex: Map<number, CallSlot> | undefined;

  list(): readonly CallSlot[] {
    return this.#slots;
  }

  /** Adds the fragments of a chunk, and returns them as events for readers. Throws UPSTREAM_MALFORMED for one that is not a call. */
  addDeltas(deltas: readonly unknown[]): ChatEvent[] {
    const events: ChatEvent[] = [];
    for (const delta of deltas) {
      const fragment = readFragment(delta);
      const slot = this.#slotFor(fragment);
      const added = this.#append(slot, fragment);
      if (slot.name === '') continue; // some servers send the name late
      const isNew = slot.started === undefined;
      slot.started ??= slot.place;
      if (isNew) events.push({ type: 'toolCallStart', index: slot.started, id: slot.id, name: slot.name });
      const text = isNew ? slot.text : added;
      if (text !== '') events.push({ type: 'toolCallDelta', index: slot.started, text });
    }
    return events;
  }

  /** Adds the list of a whole answer; each element is a complete call. */
  addWhole(calls: readonly unknown[]): void {
    for (const call of calls) this.#append(this.#open(undefined), readFragment(call));
  }

  #slotFor(fragment: Fragment): CallSlot {
    const { index, id, name } = fragment;
    const key = typeof index === 'number' && index >= 0 ? index : undefined;
    const known = key === undefined ? this.#slots.at(-1) : this.#byIndex?.get(key); // by-index
    if (known === undefined) return this.#open(key);
    const isOther = name !== '' && known.name !== '' && (id === '' ? key === undefined : id !== known.id);
    return isOther ? this.#open(key) : known; // by-id
  }

  #open(index: number | undefined): CallSlot {
    this.size.addBlock();
    const slot: CallSlot = { id: '', name: '', text: '', object: undefined, place: this.#slots.length, started: undefined };
    this.#slots.push(slot);
    if (index !== undefined) {
      this.#byIndex ??= new Map();
      this.#byIndex.set(index, slot);
    }
    return slot;
  }

  /** Returns the text that is added. Some servers repeat id and name with every fragment. */
  #append(slot: CallSlot, { id, name, args }: Fragment): string {
    this.size.add(typeof args === 'string' ? args.length : 0);
    if (slot.id === '') slot.id = id;
    if (slot.name === '') slot.name = name;
    if (typeof args === 'string') {
      slot.text += args;
      return args;
    }
    if (isObject(args)) slot.object = args;
    else if (args !== undefined && args !== null) throw malformed('the arguments of a tool call are neither text nor an object');
    return '';
  }
}

function readFragment(value: unknown): Fragment {
  const call = expectObject(value, 'a tool call');
  const fn = expectObject(call['function'], 'the function of a tool call');
  return { index: call['index'], id: asString(call['id']) ?? '', name: expectText(fn['name'], 'the name of a tool call'), args: fn['arguments'] };
}
