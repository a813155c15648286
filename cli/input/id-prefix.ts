// Finds the id that a person shortened: any unique beginning is enough, in every command that takes an id.
import type { Api } from '../client/api.ts';
import { CliError } from '../terminal/exit-codes.ts';
import { newestEntries } from '../views/conversation-text.ts';

/** More candidates than this do not help. */
const MAX_SHOWN = 5;
const NOT_FOUND: readonly (string | undefined)[] = ['MESSAGE_NOT_FOUND', 'APPROVAL_NOT_FOUND'];

/**
 * Does `work` with the id that a person gave. Where the server does not know it, `list` gives the ids that exist, and `work` is done with the only one that
 * begins like it. Rejects with a CliError that names the candidates when there are several, and with the server's error when there is none.
 */
export async function byId<T>(given: string, list: () => Promise<readonly string[]>, work: (id: string) => Promise<T>): Promise<T> {
  try {
    return await work(given);
  } catch (error) {
    if (!(error instanceof CliError) || !NOT_FOUND.includes(error.body?.code)) throw error;
    const candidates = (await list()).filter((id) => id.startsWith(given));
    const [id, ...others] = candidates;
    if (id === undefined) throw error;
    if (others.length > 0) throw new CliError('usage', ambiguous(given, candidates), error);
    return work(id);
  }
}

/** The ids of the whole conversation, archived entries included. */
export async function entryIds(api: Api, block: string): Promise<string[]> {
  return (await newestEntries(api, block, Number.POSITIVE_INFINITY)).map(({ id }) => id);
}

function ambiguous(given: string, candidates: readonly string[]): string {
  const rest = candidates.length - MAX_SHOWN;
  const shown = candidates.slice(-MAX_SHOWN).join(', ');
  return `${candidates.length} ids begin with ${given}: ${shown}${rest > 0 ? `, and ${rest} older ones` : ''}. Give more of the id.`;
}
