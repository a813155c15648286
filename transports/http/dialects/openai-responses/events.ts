// The frames of a streamed response, and the items that they add. Pure: no I/O.
//
// gapless: every event has the next number.
// added-and-done: an item has its place in the output from the moment that it is added.
import { itemId } from './items.ts';

/** Where an item is. */
export interface Place {
  readonly item_id: string;
  readonly output_index: number;
}

/** Writes the events of one response. */
export class EventWriter {
  readonly #base: string;
  readonly #output: string[] = [];
  #sequence = 0;
  #items = 0;

  /** `base` is the part of the ids that is the answer's own. */
  constructor(base: string) {
    this.#base = base;
  }

  /** True once there is an event. */
  get hasBegun(): boolean {
    return this.#sequence > 0;
  }

  /** The items that are done, as JSON, in the order of their places. */
  get output(): readonly string[] {
    return this.#output.filter(Boolean);
  }

  /** The place of a further item. */
  place(kind: Parameters<typeof itemId>[0]): Place {
    const place = { item_id: itemId(kind, this.#base, this.#items), output_index: this.#items };
    this.#items += 1;
    return place;
  }

  /** The event of an item that begins. */
  added({ output_index }: Place, item: string): string {
    return this.#frame('response.output_item.added', `"output_index":${output_index},"item":${item}`);
  }

  /** The event of an item that is complete, or will never be. */
  done({ output_index }: Place, item: string): string {
    this.#output[output_index] = item;
    return this.#frame('response.output_item.done', `"output_index":${output_index},"item":${item}`);
  }

  /** The frame of a piece of text, from the JSON of its further fields: most events are of this kind, and a template costs a quarter of an object. */
  piece(type: string, { item_id, output_index }: Place, fields: string): string {
    return this.#frame(type, `"item_id":"${item_id}","output_index":${output_index},${fields}`);
  }

  /** One frame. */
  event(type: string, fields: object): string {
    return this.#frame(type, membersOf(fields));
  }

  /** A frame with a whole response, which is given as JSON. */
  response(type: string, response: string): string {
    return this.#frame(type, `"response":${response}`);
  }

  #frame(type: string, members: string): string {
    const text = frame(type, this.#sequence, members);
    this.#sequence += 1;
    return text;
  }
}

/** An event as a frame; its fields are given as JSON without braces. */
export function frame(type: string, sequence: number, members: string): string {
  return `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence},${members}}\n\n`;
}

/** The JSON of an object's fields, of which there is at least one. */
export function membersOf(fields: object): string {
  return JSON.stringify(fields).slice(1, -1);
}
