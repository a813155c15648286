// Text of a tool or a model as it is, with a name for each character that nobody can see.
import { useState } from 'preact/hooks';
import { withHiddenNamed } from '../base/hidden.ts';
import { allText } from '../text/approvals.ts';
import { Button } from './widgets.tsx';

const MAX_CHARACTERS = 600;
const MAX_LINES = 10;

/** A text on one line or several; nothing in it is markup. */
export function Visible({ text }: { readonly text: string }) {
  return <bdi dir="auto">{withHiddenNamed(text).map((piece, index) => (index % 2 === 0 ? piece : <b class="hidden-sign">{piece}</b>))}</bdi>;
}

/** The same where only a text may stand. */
export const shownText = (text: string): string => withHiddenNamed(text).join('');

/** A long text is folded. */
export function Folded({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const short = text.slice(0, MAX_CHARACTERS).split('\n').slice(0, MAX_LINES).join('\n');
  return (
    <>
      <Visible text={isWhole ? text : short} />
      {!isWhole && short.length < text.length && (
        <>
          {'… '}
          <Button label={allText(text.length)} small run={() => setWhole(true)} />
        </>
      )}
    </>
  );
}

/** Arguments by their names: texts in quotes, all else as JSON. */
export function Arguments({ of }: { readonly of: Readonly<Record<string, unknown>> }) {
  if (Object.keys(of).length === 0) return null;
  return (
    <dl class="args mono">
      {Object.entries(of).map(([name, value]) => (
        <>
          <dt>
            <Visible text={name} />
          </dt>
          <dd>
            <Folded text={typeof value === 'string' ? `"${value}"` : JSON.stringify(value, null, 2)} />
          </dd>
        </>
      ))}
    </dl>
  );
}
