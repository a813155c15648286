// Where messages are written. What is written is kept until the server has it.
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { setQuery } from '../../../base/address.ts';
import { useKeys } from '../../../base/keys.ts';
import { ownOf } from '../../../base/own.ts';
import { tell, tellFailure } from '../../../base/toast.ts';
import { cancelMessage } from '../../../data/blocks.ts';
import { MAX_DRAFT_CHARACTERS } from '../../../data/drafts.ts';
import { halt } from '../../../data/halt.ts';
import type { OpenBlock } from '../../../data/open-block.ts';
import { route } from '../../../data/route.ts';
import { drafts, outbox } from '../../../data/services.ts';
import { sendWith } from '../../../data/settings.ts';
import { Button, Keys } from '../../../parts/widgets.tsx';
import { chatText, composerHint, placeholderText } from '../../../text/block.ts';

const KEEP_MS = 300;
const TALLEST_PX = 240;

interface ComposerProps {
  readonly open: OpenBlock;
  /** A text to write on with. */
  readonly taken: { readonly text: string };
  readonly onSent: () => void;
}

/** The draft in a field, which is kept while it is written. */
function useDraft(name: string, field: RefObject<HTMLTextAreaElement | null>) {
  const [isKept, setKept] = useState(true);
  const [isEmpty, setEmpty] = useState(true);
  const keeping = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const stopKeeping = (): boolean => {
    const isUnkept = keeping.current !== undefined;
    clearTimeout(keeping.current);
    keeping.current = undefined;
    return isUnkept;
  };
  const keep = (): void => {
    stopKeeping();
    if (field.current !== null) setKept(drafts.write(name, field.current.value));
  };
  /** Shows a text in the field, or what stands there. */
  const show = (text = field.current?.value ?? ''): void => {
    if (field.current === null) return;
    if (field.current.value !== text) field.current.value = text;
    fit(field.current);
    setEmpty(text === '');
  };
  const changed = (): void => {
    show();
    keeping.current ??= setTimeout(keep, KEEP_MS);
  };
  /** Puts a text before what is written. */
  const write = (text: string): void => {
    const before = field.current?.value ?? '';
    show(before.trim() === '' ? text : `${text}\n\n${before}`);
    changed();
    field.current?.focus();
  };
  const clear = (): void => {
    stopKeeping();
    show('');
  };
  useLayoutEffect(() => {
    show(drafts.read(name).text);
    const leaving = (): void => {
      if (stopKeeping()) keep();
    };
    addEventListener('pagehide', leaving);
    return () => {
      removeEventListener('pagehide', leaving);
      leaving();
    };
  }, [name]);
  return { isKept, isEmpty, changed, write, clear };
}

/** The field of a block. */
export function Composer({ open, taken, onSent }: ComposerProps) {
  const { name } = open;
  const field = useRef<HTMLTextAreaElement>(null);
  const { isKept, isEmpty, changed, write, clear } = useDraft(name, field);
  useLayoutEffect(() => outbox.resume(name), [name]);
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
    const text = field.current?.value ?? '';
    if (text.trim() === '') return;
    if (text.length > MAX_DRAFT_CHARACTERS) {
      tell(chatText.tooLong);
      return;
    }
    clear();
    outbox.send(name, text);
    onSent();
    field.current?.focus();
  };
  useComposerKeys(open, field, submit, write);
  return (
    <div class="composer">
      <form
        class="box"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <textarea
          ref={field}
          rows={1}
          dir="auto"
          aria-label={placeholderText(name)}
          placeholder={placeholderText(name)}
          enterkeyhint="send"
          onInput={changed}
        />
        <footer>
          <span class="row keys">
            <Keys keys={sendWith.value === 'enter' ? 'Enter' : 'mod+Enter'} />
            {chatText.sendKey}
            <Keys keys={sendWith.value === 'enter' ? 'shift+Enter' : 'Enter'} />
            {chatText.newLine}
          </span>
          <span class={`grow clip end-part ${isKept ? '' : 'warn'}`}>{isKept ? (hintOf(open) ?? (isEmpty ? '' : chatText.kept)) : chatText.notKept}</span>
          <Button label={chatText.send} kind="primary" small submit disabled={isEmpty} />
        </footer>
      </form>
    </div>
  );
}

function useComposerKeys(open: OpenBlock, field: RefObject<HTMLTextAreaElement | null>, submit: () => void, write: (text: string) => void): void {
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
}

/** What happens to a message of a block that does not answer now. */
function hintOf(open: OpenBlock): string | undefined {
  return ownOf(composerHint, halt.value?.halted === true ? 'halted' : (open.why.value?.state ?? ''));
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
