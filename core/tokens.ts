// Estimates the tokens of a text before a provider has counted them. Pure: no I/O.

const ASCII_CHARACTERS_PER_TOKEN = 4;
const OTHER_CHARACTERS_PER_TOKEN = 1.5;

/** At least 1 for any text that is not empty. Counts UTF-16 units, so that an emoji is two. */
export function estimateTokens(text: string): number {
  let ascii = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) < 0x80) ascii += 1;
  return Math.ceil(ascii / ASCII_CHARACTERS_PER_TOKEN + (text.length - ascii) / OTHER_CHARACTERS_PER_TOKEN);
}
