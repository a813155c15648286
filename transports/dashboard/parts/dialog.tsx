// Dialogs: focus goes in, stays in, and goes back to where it was.
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { WORDS } from '../text/common.ts';
import { Button, Problem } from './widgets.tsx';

type Drawn = () => ComponentChildren;
const open = signal<readonly Drawn[]>([]);

/** Shows a dialog above the page; call the returned function to close it. */
export function showDialog(draw: (close: () => void) => ComponentChildren): () => void {
  const close = (): void => {
    open.value = open.peek().filter((each) => each !== drawn);
  };
  const drawn: Drawn = () => draw(close);
  open.value = [...open.peek(), drawn];
  return close;
}

/** The dialogs that are open. */
export function Dialogs() {
  return (
    <>
      {open.value.map((draw, index) => (
        <Shown key={index} draw={draw} />
      ))}
    </>
  );
}

function Shown({ draw }: { readonly draw: Drawn }) {
  return <>{draw()}</>;
}

const FOCUSABLE = 'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), [tabindex]:not([tabindex="-1"])';

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
  readonly footer?: ComponentChildren;
  /** Draws no title bar; `title` is its name. */
  readonly bare?: boolean;
  /** A press beside it does not close it, because it shows what can't be had again. */
  readonly staysOpen?: boolean;
  readonly onSubmit?: () => unknown;
}

/**
 * A dialog with a title. Escape closes it, and so does a press beside it. What was typed is not lost by a slip: then Escape asks, and a press beside it does nothing. A wrong
 * field takes the focus.
 */
export function Dialog({ title, close, children, footer, bare = false, staysOpen = false, onSubmit }: DialogProps) {
  const box = useRef<HTMLDivElement>(null);
  const isTyped = useRef(staysOpen);
  // Before the browser hands over the next key, which may be the first letter of a name.
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const target =
      box.current?.querySelector<HTMLElement>('[autofocus]') ?? box.current?.querySelector<HTMLElement>('.body :is(input, select, textarea, button, a[href])');
    (target ?? box.current)?.focus();
    return () => {
      if (before?.isConnected === true) before.focus();
      else document.querySelector<HTMLElement>('main')?.focus();
    };
  }, []);
  const keep = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      event.preventDefault();
      if (bare || !isFilled(box.current, isTyped.current)) close();
      else void ask({ title: WORDS.discardTitle, text: WORDS.discardText, does: WORDS.discard, danger: true }).then((isSure) => isSure && close());
    }
    if (event.key === 'Tab') turnAtEdge(box.current, event);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a press beside the dialog closes it, as its button and Escape do
    <div
      class="backdrop"
      onMouseDown={(event) => {
        if (event.target === event.currentTarget && (bare || !isTyped.current)) close();
      }}
    >
      <div ref={box} class="dialog" role="dialog" aria-modal="true" aria-label={title} tabIndex={-1} onKeyDown={keep}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            onSubmit?.();
            requestAnimationFrame(() => box.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
          }}
          onInput={() => {
            isTyped.current = true;
          }}
        >
          {!bare && (
            // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: a header is no control, and that of a dialog is none of the page
            <header role="none">
              <h2 class="grow">{title}</h2>
              <Button label={WORDS.close} icon="close" iconOnly kind="quiet" run={close} />
            </header>
          )}
          <div class={bare ? '' : 'body'}>{children}</div>
          {footer !== undefined && <footer role="none">{footer}</footer>}
        </form>
      </div>
    </div>
  );
}

/** The focus stays in the dialog: after the last element comes the first. */
function turnAtEdge(box: HTMLElement | null, event: KeyboardEvent): void {
  const list = [...(box?.querySelectorAll<HTMLElement>(FOCUSABLE) ?? [])].filter((each) => each.offsetParent !== null);
  const edge = event.shiftKey ? list[0] : list.at(-1);
  if (document.activeElement !== edge && document.activeElement !== box) return;
  event.preventDefault();
  (event.shiftKey ? list.at(-1) : list[0])?.focus();
}

/** True if something was typed and is there. */
function isFilled(box: HTMLElement | null, isTyped: boolean): boolean {
  return (
    isTyped &&
    [...(box?.querySelectorAll<HTMLInputElement>('textarea, input:not([type="checkbox"], [type="radio"])') ?? [])].some(({ value }) => value.trim() !== '')
  );
}

interface FormDialogProps {
  readonly title: string;
  readonly text?: string;
  /** The words of the button. */
  readonly does: string;
  readonly kind?: 'primary' | 'danger';
  readonly disabled?: boolean;
  readonly close: () => void;
  readonly children: ComponentChildren;
  /** Does it, and closes the dialog. After an error, the dialog stays and shows it. */
  act(): Promise<void>;
}

/** A dialog that does something with what is typed. */
export function FormDialog({ title, text, does, kind = 'primary', disabled = false, close, children, act }: FormDialogProps) {
  const [failure, setFailure] = useState<unknown>();
  return (
    <Dialog
      title={title}
      close={close}
      onSubmit={() => void act().catch(setFailure)}
      footer={
        <>
          <Button label={WORDS.cancel} kind="quiet" run={close} />
          <Button label={does} kind={kind} disabled={disabled} submit />
        </>
      }
    >
      {text !== undefined && <p>{text}</p>}
      {failure !== undefined && <Problem error={failure} />}
      {children}
    </Dialog>
  );
}

interface Question {
  readonly title: string;
  readonly text: string;
  /** The words of the button, with the name of the thing. */
  readonly does: string;
  readonly danger?: boolean;
}

/** Asks before what can't be undone. Resolves with true if it is to be done. */
export function ask({ title, text, does, danger = false }: Question): Promise<boolean> {
  return new Promise((resolve) => {
    showDialog((close) => {
      const end = (answer: boolean) => () => {
        close();
        resolve(answer);
      };
      return (
        <Dialog
          title={title}
          close={end(false)}
          footer={
            <>
              <Button label={WORDS.cancel} kind="quiet" run={end(false)} />
              <Button label={does} kind={danger ? 'danger' : 'primary'} run={end(true)} />
            </>
          }
        >
          <p>{text}</p>
        </Dialog>
      );
    });
  });
}
