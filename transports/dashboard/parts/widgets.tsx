// Small parts that many pages use.
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { now } from '../base/clock.ts';
import { ago, fullTime, usd } from '../base/format.ts';
import { shownKeys } from '../base/keys.ts';
import { tellFailure } from '../base/toast.ts';
import { ApiError } from '../data/api-error.ts';
import { WORDS } from '../text/common.ts';
import { uncountedText } from '../text/costs.ts';
import { Icon, type IconName } from './icon.tsx';

/** The keys of a command as they are printed on the keyboard. */
export function Keys({ keys }: { readonly keys: string }) {
  return (
    <>
      {shownKeys(keys).map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </>
  );
}

/** `$0.31 + 5 not priced`: calls whose price is not known are not shown as free. Without any known price there is no sum. */
export function Sum({ usd: sum, uncounted }: { readonly usd: number | null; readonly uncounted: number }) {
  if (uncounted === 0) return <>{usd(sum)}</>;
  return (
    <>
      {sum === null ? '' : `${usd(sum)} + `}
      <span class="warn">{uncountedText(uncounted)}</span>
    </>
  );
}

/** `12 s ago`, with the full time as its title. */
export function Ago({ at }: { readonly at: string | null | undefined }) {
  if (at === null || at === undefined) return <span class="t3">–</span>;
  return (
    <time dateTime={at} title={fullTime(at)}>
      {ago(at, now.value)}
    </time>
  );
}

interface ButtonProps {
  readonly label: string;
  readonly icon?: IconName;
  /** Shows the icon alone; the label is its name. */
  readonly iconOnly?: boolean;
  readonly kind?: 'primary' | 'quiet' | 'danger';
  readonly small?: boolean;
  readonly disabled?: boolean;
  readonly keys?: string;
  readonly submit?: boolean;
  /** The button can't be pressed again until it ends. An error is shown as a note. */
  run?(event: MouseEvent): unknown;
}

/** A button; what it does may take its time and may fail. */
export function Button({ label, icon, iconOnly = false, kind, small = false, disabled = false, keys, submit = false, run }: ButtonProps) {
  const [isBusy, setBusy] = useState(false);
  const click = async (event: MouseEvent): Promise<void> => {
    const done = run?.(event);
    if (!(done instanceof Promise)) return;
    setBusy(true);
    try {
      await done;
    } catch (error) {
      tellFailure(error);
    } finally {
      setBusy(false);
    }
  };
  const shape = ['btn', kind ?? '', small ? 'small' : '', iconOnly ? 'square' : ''].filter((name) => name !== '').join(' ');
  return (
    <button
      type={submit ? 'submit' : 'button'}
      class={shape}
      disabled={disabled}
      aria-busy={isBusy}
      aria-label={iconOnly ? label : undefined}
      title={iconOnly ? label : undefined}
      onClick={(event) => {
        if (!isBusy) void click(event);
      }}
    >
      {icon !== undefined && <Icon name={icon} small={small} />}
      {!iconOnly && label}
      {keys !== undefined && <Keys keys={keys} />}
    </button>
  );
}

/** Copies a text. */
export function Copy({
  text,
  label = WORDS.copy,
  iconOnly = false,
}: {
  readonly text: string | (() => string);
  readonly label?: string;
  readonly iconOnly?: boolean;
}) {
  const [isDone, setDone] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
    setDone(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setDone(false), 2000);
  };
  return <Button label={isDone ? WORDS.copied : label} icon={isDone ? 'check' : 'copy'} iconOnly={iconOnly} kind="quiet" small run={copy} />;
}

export type Tone = '' | 'warn' | 'bad' | 'live';

/** How a budget stands, as a colour. */
export function toneOf(state: string | undefined): Tone {
  if (state === 'exceeded') return 'bad';
  return state === 'warn' ? 'warn' : '';
}

/** How much of something is used: `part` of `whole`. */
export function Bar({ part, whole, tone = '' }: { readonly part: number; readonly whole: number; readonly tone?: Tone }) {
  const percent = whole <= 0 ? 0 : Math.max(0, Math.min(100, (part / whole) * 100));
  return (
    <span class={`bar ${tone}`} aria-hidden="true">
      <i style={{ width: `${percent}%` }} />
    </span>
  );
}

/** Counts as bars, one for each of a row's columns. Decoration: the numbers stand elsewhere. */
export function Spark({ values, tone = '' }: { readonly values: readonly number[]; readonly tone?: '' | 'bad' }) {
  const most = Math.max(1, ...values);
  const d = values.map((value, index) => {
    const height = value === 0 ? 1 : Math.max(2, Math.round((value / most) * 16));
    return `M${index * 4} ${16 - height}h3v${height}h-3z`;
  });
  return (
    <svg class={`spark ${tone}`} width={values.length * 4} height="16" aria-hidden="true">
      <path d={d.join('')} />
    </svg>
  );
}

/** What went wrong: the server's sentence, then the cure, then the code and the request's id. */
export function Problem({ error, children }: { readonly error: unknown; readonly children?: ComponentChildren }) {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const facts = error instanceof ApiError ? [error.code, error.requestId].filter((fact) => fact !== undefined).join(' · ') : '';
  return (
    <div class="problem" role="alert">
      <span class="said break">{message}</span>
      {facts !== '' && <span class="num code">{facts}</span>}
      {children}
      <Copy text={`${message} ${facts}`.trim()} label={WORDS.copyDetails} iconOnly />
    </div>
  );
}

/** A place with nothing in it: one sentence, and what to do. */
export function Empty({ text, children }: { readonly text: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>{text}</p>
      {children}
    </div>
  );
}
