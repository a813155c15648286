// Server-sent events out of a stream of bytes. Pure.
//
// looked-once: what has come of an event is gone through only when its end has come.

/** One event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** Gathers pieces of text, however they are cut, and gives the events that are complete. */
export class EventReader {
  #rest = '';
  /** The last characters, with which the end of an event may have begun. */
  #seam = '';

  add(piece: string): readonly ServerEvent[] {
    const near = this.#seam + piece;
    this.#seam = near.slice(-2);
    this.#rest += piece;
    if (!/\n\r?\n/.test(near)) return []; // looked-once
    const blocks = this.#rest.split(/\r?\n\r?\n/);
    this.#rest = blocks.pop() ?? '';
    return blocks.flatMap((block) => {
      const lines = block.split(/\r?\n/);
      const field = (name: string): string[] =>
        lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ''));
      const data = field('data');
      return data.length === 0 ? [] : [{ event: field('event')[0] ?? 'message', data: data.join('\n') }];
    });
  }
}
