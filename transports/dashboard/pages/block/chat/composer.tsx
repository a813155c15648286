// Where messages are written. What is written is kept until the server has it.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { setQuery } from '../../../base/address.ts';
import { useKeys } from '../../../base/keys.ts';
import { tell, tellFailure } from '../../../base/toast.ts';
import { cancelMessage } from '../../../data/blocks.ts';
import { MOST_DRAFT_CHARACTERS } from '../../../data/drafts.ts';
import { halt } from '../../../data/halt.ts';
import type { OpenBlock } from '../../../data/open-block.ts';
import { route } from '../../../data/route.ts';
import { drafts, outbox } from '../../../data/services.ts';
import { sendWith } from '../../../data/settings.ts';
import { Button, Keys } from '../../../parts/widgets.tsx';
import { chatText, composerHint, placeholderText } from '../../../text/block.ts';

const KEEP_MS = 300;
const TALLEST_PX = 240;

/** The field of a block; `taken` is a text to write on with. */
export function Composer({ open, taken, onSent }: { readonly open: OpenBlock; readonly taken: { readonly text: string }; readonly onSent: () => void }) {
  const { name } = open;
  const field = useRef<HTMLTextAreaElement>(null);
  const [isKept, setKept] = useState(true);
  const [isEmpty, setEmpty] = useState(true);
  const keeping = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const keep = (): void => {
    clearTimeout(keeping.current);
    keeping.current = undefined;
    if (field.current !== null) setKept(drafts.write(name, field.current.value));
  };
  const changed = (): void => {
    const element = field.current;
    if (element === null) return;
    fit(element);
    setEmpty(element.value === '');
    keeping.current ??= setTimeout(keep, KEEP_MS);
  };
  const write = (text: string): void => {
    const element = field.current;
    if (element === null) return;
    element.value = element.value.trim() === '' ? text : `${text}\n\n${element.value}`;
    changed();
    element.focus();
  };
  useLayoutEffect(() => {
    if (field.current === null) return;
    field.current.value = drafts.read(name).text;
    fit(field.current);
    setEmpty(field.current.value === '');
    outbox.resume(name);
    const leaving = (): void => {
      if (keeping.current !== undefined) keep();
    };
    addEventListener('pagehide', leaving);
    return () => {
      removeEventListener('pagehide', leaving);
      leaving();
    };
  }, [name]);
  useEffect(() => {
    if (taken.text !== '') write(taken.text);
  }, [taken]);
  const wantsFocus = route.value.query.get('write') !== null;
  useEffect(() => {
    if (!wantsFocus) return;
    field.current?.focus();
    setQuery({ write: undefined });
  }, [wantsFocus]);
  const submit = (): void => {
    const element = field.current;
    if (element === null || element.value.trim() === '') return;
    if (element.value.length > MOST_DRAFT_CHARACTERS) {
      tell(chatText.tooLong);
      return;
    }
    clearTimeout(keeping.current);
    keeping.current = undefined;
    const text = element.value;
    element.value = '';
    fit(element);
    setEmpty(true);
    outbox.send(name, text);
    onSent();
    element.focus();
  };
  const isHere = ({ target }: KeyboardEvent): boolean => target === field.current;
  const sending = { does: chatText.sendKey, inFields: true, when: isHere, run: submit };
  useKeys(
    [
      { keys: 'm', does: chatText.message, run: () => field.current?.focus() },
      ...(sendWith.value === 'enter' ? [{ ...sending, keys: 'Enter' }] : []),
      { ...sending, keys: 'mod+Enter' },
      {
        keys: 'ArrowUp',
        does: chatText.takeBack,
        inFields: true,
        when: (event) => isHere(event) && field.current?.value === '',
        run: () => void takeBack(open).then((text) => text !== undefined && write(text), tellFailure),
      },
    ],
    [open, sendWith.value],
  );
  const state = halt.value?.halted === true ? 'halted' : (open.why.value?.state ?? '');
  const hint = Object.hasOwn(composerHint, state) ? composerHint[state] : undefined;
  return (
    <div class="composer">
      <form
        class="box"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <textarea ref={field} rows={1} aria-label={placeholderText(name)} placeholder={placeholderText(name)} enterkeyhint="send" onInput={changed} />
        <footer>
          <span class="row keys">
            <Keys keys={sendWith.value === 'enter' ? 'Enter' : 'mod+Enter'} />
            {chatText.sendKey}
            <Keys keys={sendWith.value === 'enter' ? 'shift+Enter' : 'Enter'} />
            {chatText.newLine}
          </span>
          <span class={`grow clip end-part ${isKept ? '' : 'warn'}`}>{isKept ? (hint ?? (isEmpty ? '' : chatText.kept)) : chatText.notKept}</span>
          <Button label={chatText.send} kind="primary" small submit disabled={isEmpty} />
        </footer>
      </form>
    </div>
  );
}

/** As tall as its text, up to a bound. */
function fit(element: HTMLTextAreaElement): void {
  element.style.height = 'auto';
  element.style.height = `${Math.min(TALLEST_PX, element.scrollHeight)}px`;
}

/** The text of the last message that waits, which then waits no more; undefined if none does. Rejects with an ApiError. */
async function takeBack(open: OpenBlock): Promise<string | undefined> {
  const own = outbox.messages.peek().findLast(({ block, state }) => block === open.name && (state === 'offline' || state === 'full' || state === 'refused'));
  if (own !== undefined) {
    outbox.drop(own.block, own.clientId);
    return own.text;
  }
  const last = [...open.entries.peek().values()].findLast(({ role, status }) => role === 'user' && status === 'queued');
  if (last === undefined) return undefined;
  await cancelMessage(open.name, last.id);
  tell(chatText.takenBack);
  return last.content;
}
