// Most frames of a stream differ from one another in a short text alone. Once one has been parsed, the text of those like it is cut out, which costs a tenth of
// parsing them. Pure: no I/O.
//
// proven: what stands around the text has been parsed with another text in its place, and said that text and nothing else. What is cut out is one whole JSON
//   string, so it can't change how the rest is read.
// few-tries: some servers have something new in every frame, and looking for what stays the same would cost them more than it saves.
import { tryParseJson } from '../../core/base/json.ts';

const MAX_TRIES = 4;

/** Knows how the last frames looked. */
export class SameFrames {
  /** Before the text, its first quote included. */
  #before = '';
  /** Behind the text, its last quote included. */
  #after = '';
  #tries = 0;

  /** The text of a frame like the one that was learned; undefined for any other. */
  textOf(data: string): string | undefined {
    const before = this.#before;
    const after = this.#after;
    if (before === '' || data.length < before.length + after.length || !data.startsWith(before) || !data.endsWith(after)) return undefined;
    const text = tryParseJson(data.slice(before.length - 1, data.length - after.length + 1));
    return typeof text === 'string' ? text : undefined;
  }

  /** Learns from a frame that said `text`. `read` says what another frame would say if it came now; undefined if that is more, or less, than one text. */
  learn(data: string, text: string, read: (data: string) => string | undefined): void {
    if (this.#tries === MAX_TRIES || text === '') return; // few-tries
    const quoted = JSON.stringify(text);
    const at = data.indexOf(quoted);
    if (at < 0 || data.indexOf(quoted, at + 1) >= 0) return;
    this.#tries += 1;
    const before = data.slice(0, at + 1);
    const after = data.slice(at + quoted.length - 1);
    const other = `${text}.`;
    if (read(`${before}${JSON.stringify(other).slice(1, -1)}${after}`) !== other) return; // proven
    this.#before = before;
    this.#after = after;
  }
}
