// Characters that a person does not see, and a program reads: a text must not hide a part of what it says. Pure: no I/O.
import { oneLine } from './output.ts';

/** Also those that only choose another form of the one before, fillers, code points without a sign, and blanks that are no spaces. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|[\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

/** A text with everything that is not seen as an escape. */
export function visible(text: string): string {
  return text.replaceAll(UNSEEN, (one) => {
    const code = (one.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}

/** The same on one line. */
export function visibleLine(text: string): string {
  return oneLine(visible(text));
}
