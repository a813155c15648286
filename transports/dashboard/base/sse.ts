// Server-sent events out of a stream of bytes. Pure.

/** One event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** Gathers pieces of text, however they are cut, and gives the events that are complete. */
export class EventReader {
  #rest = '';

  add(piece: string): readonly ServerEvent[] {
    this.#rest += piece;
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
