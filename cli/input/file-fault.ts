// Why a file that a person has named can't be read. Pure: no I/O.

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  ENOTDIR: 'is not there',
  EISDIR: 'is a folder and not a file',
  EACCES: 'may not be read by you',
  EPERM: 'may not be read by you',
};

/** The end of a sentence that begins with the file's name. */
export function fileFault(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? `can't be read: ${message}`;
}
