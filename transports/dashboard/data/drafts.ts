// Texts that were typed and not yet sent: per block, kept in this browser over reloads, crashes and failed sends.
//
// own-tab-first: each tab keeps its own text, and a shared copy for the next tab that opens the block.
// cleared-by-receipt: a text goes only when the server has that very text.

const SHARED = 'blockhouse.drafts';
const MOST_KEPT = 50;
const MOST_CHARACTERS = 256 * 1024;

type Drafts = Readonly<Record<string, { readonly text: string; readonly at: number }>>;

/** The text of a block; '' if there is none. */
export function draftOf(block: string): string {
  return sessionStorage.getItem(`${SHARED}.${block}`) ?? read()[block]?.text ?? '';
}

/** Keeps a text. */
export function keepDraft(block: string, text: string): void {
  const kept = text.slice(0, MOST_CHARACTERS);
  sessionStorage.setItem(`${SHARED}.${block}`, kept); // own-tab-first
  write(withDraft(read(), block, kept, Date.now()));
}

/** cleared-by-receipt. */
export function clearDraft(block: string, sent: string): void {
  if (sessionStorage.getItem(`${SHARED}.${block}`)?.trim() === sent.trim()) sessionStorage.removeItem(`${SHARED}.${block}`);
  const drafts = read();
  if (drafts[block]?.text.trim() === sent.trim()) write(withDraft(drafts, block, '', Date.now()));
}

/** The drafts with one changed; the newest 50. An empty one is left out. */
export function withDraft(drafts: Drafts, block: string, text: string, at: number): Drafts {
  const rest = Object.entries(drafts).filter(([name]) => name !== block);
  if (text !== '') rest.push([block, { text, at }]);
  return Object.fromEntries(rest.sort(([, one], [, other]) => other.at - one.at).slice(0, MOST_KEPT));
}

function read(): Drafts {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(SHARED) ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Drafts) : {};
  } catch {
    return {};
  }
}

function write(drafts: Drafts): void {
  try {
    localStorage.setItem(SHARED, JSON.stringify(drafts));
  } catch {
    localStorage.removeItem(SHARED); // the storage is full: the text of this tab is kept
  }
}
