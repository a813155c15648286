// A client's own names of the fields of a canonical request, for refusals. Pure: no I/O.

/** The name of the nearest field that has one in `names`, from the inside out; undefined if none has. */
export function nearestName(path: string, names: Readonly<Record<string, string>>): string | undefined {
  const steps = path.split(/\.|(?=\[)/);
  for (let length = steps.length; length > 0; length -= 1) {
    const field = steps.slice(0, length).join('.');
    if (Object.hasOwn(names, field)) return names[field];
  }
  return undefined;
}
