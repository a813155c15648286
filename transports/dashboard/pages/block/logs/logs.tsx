// The log of a block, as it grows.
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { setQuery } from '../../../base/address.ts';
import { clockSeconds, fullTime } from '../../../base/format.ts';
import { useKeys } from '../../../base/keys.ts';
import { get } from '../../../data/http.ts';
import { type LogLine, lineFits } from '../../../data/log-lines.ts';
import { LogTail } from '../../../data/log-tail.ts';
import { blockURL } from '../../../data/paths.ts';
import { blockPath, route } from '../../../data/route.ts';
import { socket } from '../../../data/services.ts';
import { Button, Empty, Keys, Problem } from '../../../parts/widgets.tsx';
import { LABELS, LEVELS, logsText, newLines } from '../../../text/index.ts';
import type { TabProps } from '../tab.ts';

/** Nearer than this is the end. */
const END_PX = 8;
/** Nearer than this to the first or the last line, further ones are read. */
const FURTHER_PX = 200;

/** The tab. */
export function Logs({ name }: TabProps) {
  const tail = useMemo(() => new LogTail(name, (query) => get(blockURL(name, `/logs${query}`))), [name]);
  useEffect(() => socket.follow({ begin: () => tail.begin(), end: () => ({ type: 'unsubscribe', block: name }), take: (frame) => tail.take(frame) }), [tail]);
  const field = useRef<HTMLInputElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const follows = useSignal(true);
  /** The place of the newest line that the reader has seen. */
  const seen = useSignal(-1);
  /** The first line in view, which stays where it is, whatever comes and goes. */
  const anchor = useRef<Anchor | undefined>(undefined);
  useKeys([{ keys: '/', does: logsText.filter, run: () => field.current?.focus() }]);
  const level = useComputed(() =>
    Math.max(
      0,
      LEVELS.findIndex((each) => each === (route.value.query.get('level') ?? 'debug')),
    ),
  );
  const words = useComputed(() => route.value.query.get('find') ?? '');
  const [file, files, lines, error] = [tail.file.value, tail.files.value, tail.lines.value, tail.error.value];
  const shown = lines.filter((line) => lineFits(line, level.value, LEVELS, words.value));
  const last = lines.at(-1)?.offset ?? -1;
  const first = shown[0]?.offset ?? -1;
  useLayoutEffect(() => {
    const area = scroller.current;
    if (area === null) return;
    if (follows.peek()) {
      area.scrollTop = area.scrollHeight;
      seen.value = last;
    } else restore(area, anchor.current);
    anchor.current = anchorIn(area);
  }, [last, first, shown.length, file]);
  const onScroll = (): void => {
    const area = scroller.current;
    if (area === null) return;
    anchor.current = anchorIn(area);
    const below = area.scrollHeight - area.scrollTop - area.clientHeight;
    const isAtEnd = below < END_PX && tail.uncounted.peek() === 0;
    if (isAtEnd) seen.value = last;
    if (isAtEnd !== follows.peek()) {
      follows.value = isAtEnd;
      tail.follow(isAtEnd);
    }
    if (isAtEnd || isReading.current) return;
    isReading.current = true;
    const further = area.scrollTop < FURTHER_PX ? tail.older() : below < FURTHER_PX ? tail.newer() : Promise.resolve();
    void further.finally(() => {
      isReading.current = false;
    });
  };
  const isReading = useRef(false);
  const toEnd = (): void => {
    follows.value = true;
    tail.follow(true);
    if (scroller.current !== null) scroller.current.scrollTop = scroller.current.scrollHeight;
  };
  const fresh = lines.filter(({ offset }) => offset > seen.value).length + tail.uncounted.value;
  return (
    <>
      <div class="strip tools-strip">
        <label class="filter">
          <span class="sr">{logsText.filter}</span>
          <input
            ref={field}
            class="input"
            type="search"
            placeholder={logsText.filter}
            value={words.value}
            onInput={(event) => setQuery({ find: event.currentTarget.value })}
          />
          <Keys keys="/" />
        </label>
        <div class="seg" role="group" aria-label={logsText.levels}>
          {LEVELS.map((each, index) => (
            <button key={each} type="button" aria-pressed={index === level.value} onClick={() => setQuery({ level: each === 'debug' ? undefined : each })}>
              {each}
            </button>
          ))}
        </div>
        <span class="grow" />
        {files.length > 1 && (
          <label class="row">
            <span class="sr">{logsText.file}</span>
            <select
              class="input"
              value={file}
              onChange={(event) => {
                follows.value = true;
                tail.follow(true);
                void tail.choose(event.currentTarget.value);
              }}
            >
              {files.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
          </label>
        )}
        {file !== undefined && <Button label={logsText.download} icon="download" iconOnly run={async () => download(file, await tail.whole(file))} />}
      </div>
      {error !== undefined && <Problem error={error} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <div ref={scroller} class="page lines mono" tabIndex={0} role="log" aria-live="off" aria-label={LABELS.log} onScroll={onScroll}>
        {tail.isRead.value && lines.length === 0 && <Empty text={logsText.none} />}
        {lines.length > 0 && shown.length === 0 && <Empty text={logsText.noneFound} />}
        {shown.map((line) => (
          <Line key={`${file} ${line.offset}`} line={line} block={name} />
        ))}
      </div>
      {!follows.value && fresh > 0 && (
        <button type="button" class="newest fixed" onClick={toEnd}>
          {newLines(fresh)}
        </button>
      )}
    </>
  );
}

function Line({ line: { at, level, event, rest, id, offset }, block }: { readonly line: LogLine; readonly block: string }) {
  return (
    <p class={`line ${level}`} data-at={offset}>
      {at !== undefined && (
        <time class="t3" dateTime={at} title={fullTime(at)}>
          {clockSeconds(at)}
        </time>
      )}
      <span class="level">{level}</span>
      <span class="what">
        <b>{event}</b> {rest}{' '}
        {id !== undefined && (
          <a class="link" href={blockPath(block, 'chat', { at: id })}>
            {logsText.entry}
          </a>
        )}
      </span>
    </p>
  );
}

interface Anchor {
  readonly offset: string;
  /** From the upper edge of what is seen. */
  readonly top: number;
}

/** The first line that is in view, at least in part. */
function anchorIn(area: HTMLElement): Anchor | undefined {
  const lines = area.children;
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { offsetTop = 0, offsetHeight = 0 } = (lines[middle] as HTMLElement | undefined) ?? {};
    if (offsetTop - area.offsetTop + offsetHeight <= area.scrollTop) low = middle + 1;
    else high = middle;
  }
  const line = lines[low] as HTMLElement | undefined;
  const offset = line?.dataset['at'];
  return line === undefined || offset === undefined ? undefined : { offset, top: line.offsetTop - area.scrollTop };
}

function restore(area: HTMLElement, anchor: Anchor | undefined): void {
  const line = anchor === undefined ? null : area.querySelector<HTMLElement>(`[data-at="${anchor.offset}"]`);
  if (line !== null && anchor !== undefined) area.scrollTop = line.offsetTop - anchor.top;
}

function download(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
