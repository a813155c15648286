// The names of temporary files. Pure: no I/O.
const TEMPORARY = /^\..+\.[0-9a-f]{16}\.tmp$/;

/** True for names that the file store gives to its temporary files. */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY.test(name);
}
