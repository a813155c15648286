// A change of a configuration that somebody else may change at the same moment.
import { CliError } from '../terminal/exit-codes.ts';

/** Repeats a change once when the configuration changed between reading and writing. */
export async function repeatedOnce<T>(change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (error instanceof CliError && error.body?.code === 'REVISION_MISMATCH') return change();
    throw error;
  }
}
