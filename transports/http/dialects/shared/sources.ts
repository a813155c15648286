// Where the parts of a canonical request were in the client's own body, so that a refusal names the client's field. Pure: no I/O.
import { isObject } from '../../../../core/base/json.ts';

/** Remembers the client's path of messages and parts. */
export class Sources {
  /** Side by side: every request notes its parts, and few are ever looked up. */
  readonly #made: object[] = [];
  readonly #paths: string[] = [];

  /** Notes where `made` came from; returns it. */
  note<T extends object>(made: T, path: string): T {
    this.#made.push(made);
    this.#paths.push(path);
    return made;
  }

  /** The client's path of what is at `path` in `request`, such as `messages[1].content[0].url`; undefined if it is not known. */
  of(request: object, path: string): string | undefined {
    let value: unknown = request;
    let found: string | undefined;
    for (const step of path.match(/[^.[\]]+/g) ?? []) {
      if (!isObject(value) && !Array.isArray(value)) break;
      value = (value as Record<string, unknown>)[step];
      found = (isObject(value) ? this.#paths[this.#made.lastIndexOf(value)] : undefined) ?? found;
    }
    return found;
  }
}
