// Where a message is written. Its text is kept in this browser until the server has it.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useKeys } from '../../../app/keys.ts';
import { route } from '../../../app/router.ts';
import { chatText, writeTo } from '../../../app/text.ts';
import { tellFailure } from '../../../app/toast.ts';
import type { OpenBlock } from '../../../data/block.ts';
import { draftOf, keepDraft } from '../../../data/drafts.ts';
import { halt } from '../../../data/halt.ts';
import { sendWith } from '../../../data/settings.ts';
import { Button, Keys } from '../../../parts/bits.tsx';

const KEEP_AFTER_MS = 300;

/** The field and its button; `sent` shows the end of the conversation. */
export function Composer({ block, sent }: { readonly block: OpenBlock; sent(): void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [isKept, setKept] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const keep = (): void => {
    clearTimeout(timer.current);
    keepDraft(block.name, field.current?.value ?? '');
    setKept((field.current?.value ?? '') !== '');
  };
  useEffect(() => {
    const element = field.current;
    if (element === null) return;
    element.value = draftOf(block.name);
    fit(element);
    if (route.peek().query.get('write') !== null) element.focus();
    addEventListener('pagehide', keep);
    return () => {
      removeEventListener('pagehide', keep);
      keep();
    };
  }, [block]);
  useKeys([{ keys: 'm', does: 'Write a message', run: () => field.current?.focus() }]);
  const send = (): void => {
    const text = field.current?.value.trim() ?? '';
    if (text === '' || field.current === null) return;
    keep();
    field.current.value = '';
    fit(field.current);
    setKept(false);
    void block.send(text);
    sent();
  };
  /** The last waiting message comes back to be written anew. */
  const takeBack = async (): Promise<void> => {
    const last = block.entries.peek().findLast(({ role, status }) => role === 'user' && status === 'queued');
    if (last === undefined || field.current === null) return;
    await block.cancel(last.id);
    field.current.value = last.content;
    fit(field.current);
    keep();
  };
  const key = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    const isMod = event.metaKey || event.ctrlKey;
    if (event.key === 'Enter' && (sendWith.value === 'enter' ? !event.shiftKey || isMod : isMod)) {
      event.preventDefault();
      send();
    } else if (event.key === 'ArrowUp' && field.current?.value === '') {
      event.preventDefault();
      void takeBack().catch(tellFailure);
    } else if (event.key === 'Escape') {
      event.preventDefault();
      const writing = block.writing.peek();
      if (writing !== undefined && !writing.isDone) void block.cancel(writing.id).catch(tellFailure);
      else field.current?.blur();
    }
  };
  const note = noteFor(block);
  return (
    <div class="composer">
      {note !== undefined && <p class="t2 sm">{note}</p>}
      <div class="box">
        <textarea
          ref={field}
          rows={2}
          aria-label={writeTo(block.name)}
          placeholder={writeTo(block.name)}
          onKeyDown={key}
          onInput={(event) => {
            fit(event.currentTarget);
            clearTimeout(timer.current);
            timer.current = setTimeout(keep, KEEP_AFTER_MS);
          }}
        />
        <footer>
          <span class="row wide">
            <Keys keys={sendWith.value === 'enter' ? 'Enter' : 'mod+Enter'} /> {chatText.send.toLowerCase()}
          </span>
          <span class="row wide">
            <Keys keys={sendWith.value === 'enter' ? 'shift+Enter' : 'Enter'} /> {chatText.newLine}
          </span>
          <span class="grow" />
          {isKept && <span class="wide">{chatText.draftKept}</span>}
          <Button label={chatText.send} kind="primary" small run={send} />
        </footer>
      </div>
    </div>
  );
}

/** What becomes of a message, where it is not answered at once. */
function noteFor(block: OpenBlock): string | undefined {
  if (halt.value?.halted === true) return chatText.heldByHalt;
  const pulse = block.details.value?.pulse;
  if (pulse?.reason?.code === 'BUDGET_REACHED') return chatText.heldByBudget;
  return pulse?.state === 'stopped' && block.details.value?.config.autoStart !== true ? chatText.heldByStop : undefined;
}

/** As high as its text, up to a third of the page. */
function fit(element: HTMLTextAreaElement): void {
  element.style.height = 'auto';
  element.style.height = `${Math.min(element.scrollHeight, innerHeight / 3)}px`;
}
