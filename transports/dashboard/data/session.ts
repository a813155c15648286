// Who this browser is to the server: a session key in localStorage of this origin. The master token is never kept.
//
// one-tab-tells-all: signing in or out in one tab does so in all of them.
import { signal } from '@preact/signals';

/** `unsure` until the first answer of the server. */
export type SignIn = 'unsure' | 'in' | 'out';

interface Session {
  readonly key: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

const STORED_AT = 'blockhouse.session';
/** Why the link did not sign in, for the form. */
const NOTICE_AT = 'blockhouse.notice';

/** Whether requests have a key that the server takes. */
export const signIn = signal<SignIn>('unsure');

let session = stored();

/** Why the last link did not sign in; told once. */
export function notice(): string | undefined {
  const text = sessionStorage.getItem(NOTICE_AT) ?? undefined;
  sessionStorage.removeItem(NOTICE_AT);
  return text;
}

/** The key of the session; undefined when there is none. */
export function sessionKey(): string | undefined {
  return session?.key;
}

/** Takes the one-time code out of the address before anything else can read it, and signs in with it. */
export async function begin(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code !== null) history.replaceState(null, '', location.pathname + location.search);
  addEventListener('storage', ({ key }) => {
    if (key !== STORED_AT) return;
    session = stored();
    signIn.value = session === undefined ? 'out' : 'in'; // one-tab-tells-all
  });
  // A link with a code that is opened in a tab with this page changes only what is behind the #.
  addEventListener('hashchange', () => {
    if (new URLSearchParams(location.hash.slice(1)).has('code')) location.reload();
  });
  if (code !== null) {
    const problem = await exchange({ code });
    if (problem !== undefined) sessionStorage.setItem(NOTICE_AT, problem);
    location.reload(); // the browser keeps the address that it came with until the page is loaded anew
    await new Promise(() => undefined);
  }
  if (session === undefined) {
    signIn.value = 'out';
    return;
  }
  signIn.value = 'in';
}

/** Signs in with the workspace's token, which is forgotten afterwards. Resolves with what is wrong, or undefined. */
export async function signInWith(token: string): Promise<string | undefined> {
  return exchange({ token });
}

/** A new key for the present one; false when the server no longer takes it. */
export async function renew(): Promise<boolean> {
  return session !== undefined && (await exchange({ token: session.key })) === undefined;
}

/** Forgets the key, in every tab. */
export function signOut(): void {
  session = undefined;
  localStorage.removeItem(STORED_AT);
  signIn.value = 'out';
}

/** Resolves with what is wrong, or undefined. A network failure keeps the present key. */
async function exchange({ code, token }: { readonly code?: string; readonly token?: string }): Promise<string | undefined> {
  try {
    const response = await fetch('/api/session', {
      method: 'POST',
      headers: { ...(code !== undefined && { 'content-type': 'application/json' }), ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      ...(code !== undefined && { body: JSON.stringify({ code }) }),
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
    });
    const answer = (await response.json()) as Session & { readonly error?: string };
    if (!response.ok) return answer.error ?? `${response.status}`;
    session = { key: answer.key, expiresAt: answer.expiresAt };
    localStorage.setItem(STORED_AT, JSON.stringify(session));
    signIn.value = 'in';
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function stored(): Session | undefined {
  const text = localStorage.getItem(STORED_AT);
  if (text === null) return undefined;
  try {
    const { key, expiresAt } = JSON.parse(text) as Partial<Session>;
    if (typeof key === 'string' && typeof expiresAt === 'string') return { key, expiresAt };
  } catch {
    // what another program has left there is no session
  }
  localStorage.removeItem(STORED_AT);
  return undefined;
}
