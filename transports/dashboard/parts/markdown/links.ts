// Which links of a model's text may be followed. Pure.

const ALLOWED = /^(?:https?:\/\/[^\s/?#]|mailto:[^\s])/i;

/** The address of a link that may be followed; undefined for any other, which is shown as text. */
export function followable(address: string): string | undefined {
  const clean = [...address].filter((character) => character > ' ' && character !== '\u007f').join('');
  return clean === address && ALLOWED.test(clean) && (clean.toLowerCase().startsWith('mailto:') || URL.canParse(clean)) ? clean : undefined;
}

/** The host that a link leads to, where its words do not say it. */
export function hiddenHost(address: string, words: string): string | undefined {
  if (!/^https?:/i.test(address)) return undefined;
  const { host } = new URL(address);
  return words.includes(host) ? undefined : host;
}

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  copy: '©',
};

/** Text with its entities as characters: `&lt;` is `<`. Unknown ones stay. */
export function decodeEntities(text: string): string {
  return text.replace(/&(#\d{1,7}|#x[\da-f]{1,6}|[a-z]+);/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return NAMED[name] ?? whole;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole;
  });
}
