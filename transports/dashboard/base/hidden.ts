// Characters that nobody can see, and that may be there for that reason. Pure.

/** Controls, marks of direction, joiners, tags, selectors and blanks: all that draws nothing, but for line breaks, tabs, spaces and what makes a sign a picture. */
const HIDDEN =
  /([^\P{C}\n\t]|\u034f|\u17b4|\u17b5|[\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|[\u180b-\u180d\u180f]|[\ufe00-\ufe0e]|[\u{e0100}-\u{e01ef}]|(?<!\p{Extended_Pictographic})\ufe0f|(?! )\p{Zs})/u;

/** The text in pieces: those at odd places are names of hidden characters, such as `U+200B`. */
export function withHiddenNamed(text: string): readonly string[] {
  return text.split(HIDDEN).map((piece, index) => (index % 2 === 0 ? piece : `U+${(piece.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`));
}
