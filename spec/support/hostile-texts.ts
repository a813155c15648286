// Texts that a template must write as JSON.stringify does: quotes, control characters, separators of lines, halves of surrogate pairs, and mixtures of them.
const PIECES = [
  'a',
  'é',
  '漢',
  '🎉',
  '"',
  '\\',
  '/',
  '\0',
  '\u0007',
  '\b',
  '\t',
  '\n',
  '\r',
  '\u001f',
  '\u007f',
  '\u2028',
  '\u2029',
  '\ud800',
  '\udc00',
  '\ufeff',
  '\n\n',
  'data: ',
  '</script>',
];
const MIXTURES = 200;

/** Always the same texts, the empty one and one of several kilobytes among them. */
export function hostileTexts(): string[] {
  let state = 42;
  const below = (count: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state % count;
  };
  const mixture = (): string => Array.from({ length: 1 + below(8) }, () => PIECES[below(PIECES.length)]).join('');
  return ['', ...PIECES, ...Array.from({ length: MIXTURES }, mixture), `${'long "prose" '.repeat(200)}\u2028`];
}

/** The JSON of each server-sent event. Throws if there is anything but whole events of one line each, or a line that is not JSON. */
export function frameData(text: string): unknown[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .filter((frame) => frame !== 'data: [DONE]')
    .map((frame) => {
      const [, data = 'not a frame'] = /^(?:event: [^\n]*\n)?data: ([^\n]*)$/.exec(frame) ?? [];
      return JSON.parse(data) as unknown;
    });
}
