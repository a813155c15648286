// A menu that opens at a button: arrows move, Escape closes, a choice closes.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { tellFailure } from '../base/toast.ts';
import { Icon, type IconName } from './icon.tsx';
import { Keys } from './widgets.tsx';

/** One choice. */
export interface Choice {
  readonly label: string;
  readonly icon?: IconName;
  readonly keys?: string;
  readonly danger?: boolean;
  run(): unknown;
}

interface MenuProps {
  readonly label: string;
  readonly icon?: IconName;
  readonly choices: readonly Choice[];
  readonly small?: boolean;
}

/** Where the menu stands; undefined while it is closed. */
type Place = { readonly top: number; readonly end: number } | undefined;

/** A button with a menu of choices. */
export function Menu({ label, icon = 'more', choices, small = false }: MenuProps) {
  const [at, setAt] = useState<Place>();
  const button = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    setAt(undefined);
    button.current?.focus();
  };
  const open = (): void => {
    const { bottom, left, right } = button.current?.getBoundingClientRect() ?? { bottom: 0, left: 0, right: 0 };
    const end = document.documentElement.dir === 'rtl' ? left : innerWidth - right;
    setAt({ top: Math.min(bottom + 4, innerHeight - choices.length * 34 - 16), end: Math.max(8, end) });
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class={`btn square ${small ? 'small quiet' : ''}`}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={at !== undefined}
        onClick={open}
      >
        <Icon name={icon} />
      </button>
      {at !== undefined && <Choices at={at} choices={choices} close={close} leave={() => setAt(undefined)} />}
    </>
  );
}

interface ChoicesProps {
  readonly at: NonNullable<Place>;
  readonly choices: readonly Choice[];
  /** Closes the menu; the focus goes to its button. */
  close(): void;
  /** Closes the menu and leaves the focus where it is. */
  leave(): void;
}

function Choices({ at, choices, close, leave }: ChoicesProps) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    list.current?.querySelector('button')?.focus();
    const away = (event: Event): void => {
      if (!list.current?.contains(event.target as Node)) leave();
    };
    addEventListener('pointerdown', away, true);
    addEventListener('scroll', away, true);
    return () => {
      removeEventListener('pointerdown', away, true);
      removeEventListener('scroll', away, true);
    };
  }, [at]);
  const move = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' || event.key === 'Tab') {
      event.preventDefault();
      event.stopPropagation();
      close();
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const items = [...(list.current?.querySelectorAll('button') ?? [])];
    items[(items.indexOf(document.activeElement as HTMLButtonElement) + step + items.length) % items.length]?.focus();
  };
  const choose = async (choice: Choice): Promise<void> => {
    close();
    try {
      await choice.run();
    } catch (error) {
      tellFailure(error);
    }
  };
  return (
    <div ref={list} class="menu" role="menu" tabIndex={-1} style={{ top: `${at.top}px`, insetInlineEnd: `${at.end}px` }} onKeyDown={move}>
      {choices.map((choice) => (
        <button key={choice.label} type="button" role="menuitem" class={choice.danger === true ? 'danger' : ''} onClick={() => void choose(choice)}>
          {choice.icon !== undefined && <Icon name={choice.icon} />}
          {choice.label}
          {choice.keys !== undefined && <Keys keys={choice.keys} />}
        </button>
      ))}
    </div>
  );
}
