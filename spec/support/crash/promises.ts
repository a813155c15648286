// What the server has acknowledged, and what it may or may not have carried out when it was killed. Pure: no I/O.

/** One thing that is changed by one caller at a time: what may be on disk of it. */
export class Promised<T extends string | boolean> {
  /** The acknowledged value, and behind it the one that was asked for and not acknowledged. */
  #possible: readonly T[];

  constructor(value: T) {
    this.#possible = [value];
  }

  get value(): T {
    return this.#possible[0] as T;
  }

  /** True while it is not known whether the last change was carried out. */
  get isOpen(): boolean {
    return this.#possible.length > 1;
  }

  ask(value: T): void {
    this.#possible = [this.value, value];
  }

  acknowledge(value: T): void {
    this.#possible = [value];
  }

  /** What a look at the disk has found, with no server alive: undefined when it may be so, otherwise what is wrong. */
  settle(found: T | undefined): string | undefined {
    if (found === undefined || !this.#possible.includes(found)) return `${String(found)} in place of ${this.#possible.map(String).join(' or ')}`;
    this.#possible = [found];
    return undefined;
  }
}

export interface Posted {
  readonly text: string;
  readonly clientId: string;
  /** Of the entry; undefined until it is acknowledged. */
  id: string | undefined;
}

export const FIELDS = ['description', 'systemPrompt', 'tag'] as const;
export type Field = (typeof FIELDS)[number];

/** A block that is made once and stays. */
export class BlockPromises {
  readonly name: string;
  readonly fields: Readonly<Record<Field, Promised<string>>> = { description: new Promised(''), systemPrompt: new Promised(''), tag: new Promised('') };
  readonly enabled = new Promised<boolean>(false);
  /** By their text: whether it is there. */
  readonly facts = new Map<string, Promised<boolean>>();
  /** In the order of their sending. */
  readonly messages: Posted[] = [];

  constructor(name: string) {
    this.name = name;
  }
}

export type Place = 'nowhere' | 'blocks' | 'archive';

/** A block that is made, archived, restored and purged. */
export class Traveller {
  readonly name: string;
  readonly place = new Promised<Place>('nowhere');

  constructor(name: string) {
    this.name = name;
  }
}

export interface Acknowledged {
  readonly blocks: readonly BlockPromises[];
  readonly travellers: Traveller[];
  /** 2xx answers by kind. */
  readonly counts: Record<string, number>;
}
