// URLs that a person, a file or a program has written. Pure: no I/O.

/**
 * Undefined if the text is not a URL. Not `URL.canParse`: once it is called often, Node 20 reads a text of one byte a character as UTF-8 there, and refuses
 * `http://bücher.example`.
 */
export function urlOf(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
