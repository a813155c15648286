// Where the parts of a canonical request were in the client's own body, so that a refusal names the client's field. Pure: no I/O.
import { isObject } from '../core/index.ts';

/** Remembers the client's path of messages and parts. */
export class Sources {
  readonly #paths = new WeakMap<object, string>();

  /** Notes where `made` came from; returns it. */
  note<T extends object>(made: T, path: string): T {
    this.#paths.set(made, path);
    return made;
  }

  /** The client's path of what is at `path` in `request`, such as `messages[1].content[0].url`; undefined if it is not known. */
  of(request: object, path: string): string | undefined {
    let value: unknown = request;
    let found: string | undefined;
    for (const step of path.match(/[^.[\]]+/g) ?? []) {
      if (!isObject(value) && !Array.isArray(value)) break;
      value = (value as Record<string, unknown>)[step];
      found = (isObject(value) ? this.#paths.get(value) : undefined) ?? found;
    }
    return found;
  }
}

/** The client's name of a setting at `path`, such as `config.topP`, or of the nearest one around it; undefined if there is none. */
export function nearestName(names: Readonly<Record<string, string>>, path: string): string | undefined {
  const steps = path.split(/\.|(?=\[)/);
  for (let length = steps.length; length > 0; length -= 1) {
    const found = names[steps.slice(0, length).join('.')];
    if (found !== undefined) return found;
  }
  return undefined;
}
