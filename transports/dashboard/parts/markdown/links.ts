// Addresses in the text of a model: what may be a link, and whether its text tells where it leads. Pure.

const ALLOWED: ReadonlySet<string> = new Set(['https:', 'http:', 'mailto:']);

/** An address that may be opened. */
export interface SafeLink {
  readonly href: string;
  /** Where it leads, if the text does not say so. */
  readonly hidden: string | undefined;
}

/** Undefined if the address may not be opened: then it is shown as text. */
export function safeLink(address: string, text: string): SafeLink | undefined {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return undefined;
  }
  if (!ALLOWED.has(url.protocol)) return undefined;
  const place = url.protocol === 'mailto:' ? url.pathname : url.host;
  if (place === '') return undefined;
  return { href: url.href, hidden: tells(text, place) ? undefined : place };
}

/** True if the text is the place itself, or an address that begins with it. */
function tells(text: string, place: string): boolean {
  const shown = text
    .trim()
    .toLowerCase()
    .replace(/^(?:https?:\/\/|mailto:)/, '');
  const rest = shown.startsWith(place.toLowerCase()) ? shown.slice(place.length) : undefined;
  return rest !== undefined && (rest === '' || /^[/?#]/.test(rest));
}
