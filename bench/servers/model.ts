// What the mock is asked to do stands in the model's name: the one thing that every gateway hands through. Pure: no I/O.

/** A whole answer with a text of `size` characters. */
export const wholeModel = (size: number): string => `bench-whole-${size}-0`;
/** A stream of `frames` pieces, one each `everyMs`; 0 for all at once. */
export const streamModel = (frames: number, everyMs: number): string => `bench-stream-${frames}-${everyMs}`;
/** A stream that says one piece and then nothing. */
export const SILENT_MODEL = 'bench-silent-1-0';

export interface Asked {
  readonly model: string;
  readonly kind: string;
  readonly count: number;
  readonly everyMs: number;
}

/** Finds the name anywhere in a request. */
export function readModel(request: string): Asked | undefined {
  const found = /bench-(whole|stream|silent)-(\d+)-(\d+)/.exec(request);
  return found === null ? undefined : { model: found[0], kind: found[1] ?? '', count: Number(found[2]), everyMs: Number(found[3]) };
}
