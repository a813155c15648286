// What has become of each setting of a configuration that is imported. Pure: no I/O.
//
// every-leaf: each value of the source is in one of the three lists, so that nothing is lost without a word.
// no-values: lines name places in the source, variables and reasons, and no value, which may be a key.

/** One setting, and what became of it. */
export interface ReportLine {
  /** Where it stands in the source, such as `model_list[0].litellm_params.api_key`. */
  readonly path: string;
  readonly note: string;
}

/** All settings. */
export interface ImportReport {
  readonly taken: readonly ReportLine[];
  readonly changed: readonly ReportLine[];
  readonly left: readonly ReportLine[];
}

type Kind = keyof ImportReport;

/** Collects the lines. What is said first of a setting stays, except that `left` and `changed` win over `taken`. */
export class ReportBook {
  readonly #lines = new Map<string, { kind: Kind; note: string }>();

  taken(path: string, note: string): void {
    if (!this.#lines.has(path)) this.#lines.set(path, { kind: 'taken', note });
  }

  changed(path: string, note: string): void {
    if (this.#lines.get(path)?.kind !== 'left') this.#lines.set(path, { kind: 'changed', note });
  }

  left(path: string, note: string): void {
    this.#lines.set(path, { kind: 'left', note });
  }

  /** True if something was said of exactly this setting. */
  has(path: string): boolean {
    return this.#lines.has(path);
  }

  /** every-leaf: adds what nothing was said of, and puts all in the order of the source. `reasonFor` says why it was left out. */
  finish(source: unknown, reasonFor: (path: string) => string): ImportReport {
    for (const path of leavesOf(source)) if (!this.#isTold(path)) this.#lines.set(path, { kind: 'left', note: reasonFor(path) });
    const order = new Map([...leavesOf(source)].map((path, index) => [path, index]));
    const place = (path: string): number => order.get(path) ?? [...order].find(([leaf]) => leaf.startsWith(path))?.[1] ?? order.size;
    const lines = [...this.#lines].sort(([one], [other]) => place(one) - place(other));
    const of = (kind: Kind): ReportLine[] => lines.flatMap(([path, line]) => (line.kind === kind ? [{ path, note: line.note }] : []));
    return { taken: of('taken'), changed: of('changed'), left: of('left') };
  }

  /** True if something was said of it, or of what it is a part of. */
  #isTold(path: string): boolean {
    for (let end = path.length; end > 0; end = Math.max(path.lastIndexOf('.', end - 1), path.lastIndexOf('[', end - 1)))
      if (this.#lines.has(path.slice(0, end))) return true;
    return false;
  }
}

/** The paths of all values that are neither objects nor lists; an empty one counts, too. */
function* leavesOf(value: unknown, path = ''): Generator<string> {
  const parts = Array.isArray(value)
    ? value.map((item, index): [string, unknown] => [`${path}[${index}]`, item])
    : value !== null && typeof value === 'object'
      ? Object.entries(value).map(([name, item]): [string, unknown] => [path === '' ? shown(name) : `${path}.${shown(name)}`, item])
      : [];
  if (parts.length === 0 && path !== '') yield path;
  for (const [inner, item] of parts) yield* leavesOf(item, inner);
}

/** no-values: a name may be anything, a pasted key as well. */
function shown(name: string): string {
  return /^[\w.*/:@ -]{1,64}$/.test(name) ? name : '…';
}
