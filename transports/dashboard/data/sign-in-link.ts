// A link that signs in: the address has a one-time code after its #.
import type { Session } from './session.ts';

/** Why the link did not sign in, for the form. */
const NOTICE_AT = 'blockhouse.notice';

const codeOf = (): string | null => new URLSearchParams(location.hash.slice(1)).get('code');

/** Takes the code out of the address before anything else can read it, and signs in with it. Never resolves if there was one: the page is loaded anew. */
export async function takeCode(session: Session): Promise<void> {
  const code = codeOf();
  // In a tab that already has this page, a link with a code changes only the part after the #.
  addEventListener('hashchange', () => {
    if (codeOf() !== null) location.reload();
  });
  if (code === null) return;
  history.replaceState(null, '', location.pathname + location.search);
  const problem = await session.signInWith({ code });
  if (problem !== undefined) sessionStorage.setItem(NOTICE_AT, problem);
  location.reload(); // the browser keeps the address that it came with until the page is loaded anew
  await new Promise(() => undefined);
}

/** Why the last link did not sign in; shown once. */
export function notice(): string | undefined {
  const text = sessionStorage.getItem(NOTICE_AT) ?? undefined;
  sessionStorage.removeItem(NOTICE_AT);
  return text;
}
