// The log of a block, as it grows.
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { setQuery } from '../../../base/address.ts';
import { clockSeconds, fullTime } from '../../../base/format.ts';
import { useKeys } from '../../../base/keys.ts';
import { saveAs } from '../../../base/save-as.ts';
import { get } from '../../../data/http.ts';
import { type LogLine, lineFits } from '../../../data/log-lines.ts';
import { LogTail } from '../../../data/log-tail.ts';
import { blockURL } from '../../../data/paths.ts';
import { blockPath, route } from '../../../data/route.ts';
import { socket } from '../../../data/services.ts';
import { Filter, Segments } from '../../../parts/fields.tsx';
import { Button, Empty, Problem } from '../../../parts/widgets.tsx';
import { LABELS, LEVELS, logsText, newLines } from '../../../text/index.ts';

/** Nearer than this is the end. */
const END_PX = 8;
/** Nearer than this to the first or the last line, further ones are read. */
const FURTHER_PX = 200;

/** The log of a block, as much of it as the address asks for. */
function useLog(name: string) {
  const tail = useMemo(() => new LogTail(name, (query) => get(blockURL(name, `/logs${query}`))), [name]);
  useEffect(() => socket.follow({ begin: () => tail.begin(), end: () => ({ type: 'unsubscribe', block: name }), take: (frame) => tail.take(frame) }), [tail]);
  const { query } = route.value;
  const level = Math.max(
    0,
    LEVELS.findIndex((each) => each === (query.get('level') ?? 'debug')),
  );
  const words = query.get('find') ?? '';
  const shown = tail.lines.value.filter((line) => lineFits(line, level, LEVELS, words));
  return { tail, level, words, shown };
}

/** Follows the end of the log, or keeps the line in view; further lines are read as the reader comes to them. */
function useFollowing({ tail, shown }: ReturnType<typeof useLog>) {
  const scroller = useRef<HTMLDivElement>(null);
  const follows = useSignal(true);
  /** The place of the newest line that the reader has seen. */
  const seen = useSignal(-1);
  /** The first line in view, which stays where it is, whatever comes and goes. */
  const anchor = useRef<Anchor | undefined>(undefined);
  const isReading = useRef(false);
  const lines = tail.lines.value;
  const last = lines.at(-1)?.offset ?? -1;
  useLayoutEffect(() => {
    const area = scroller.current;
    if (area === null) return;
    if (follows.peek()) {
      area.scrollTop = area.scrollHeight;
      seen.value = last;
    } else restore(area, anchor.current);
    anchor.current = anchorIn(area);
  }, [last, shown[0]?.offset, shown.length, tail.file.value]);
  const setFollowing = (isWanted: boolean): void => {
    follows.value = isWanted;
    tail.follow(isWanted);
  };
  const readFurther = async (above: number, below: number): Promise<void> => {
    isReading.current = true;
    if (above < FURTHER_PX) await tail.older();
    else if (below < FURTHER_PX) await tail.newer();
    isReading.current = false;
  };
  const onScroll = (): void => {
    const area = scroller.current;
    if (area === null) return;
    anchor.current = anchorIn(area);
    const below = area.scrollHeight - area.scrollTop - area.clientHeight;
    const isAtEnd = below < END_PX && tail.uncounted.peek() === 0;
    if (isAtEnd) seen.value = last;
    if (isAtEnd !== follows.peek()) setFollowing(isAtEnd);
    if (!isAtEnd && !isReading.current) void readFurther(area.scrollTop, below);
  };
  const toEnd = (): void => {
    setFollowing(true);
    if (scroller.current !== null) scroller.current.scrollTop = scroller.current.scrollHeight;
  };
  const choose = (file: string): void => {
    setFollowing(true);
    void tail.choose(file);
  };
  const unseen = follows.value ? 0 : lines.filter(({ offset }) => offset > seen.value).length + tail.uncounted.value;
  return { scroller, onScroll, toEnd, choose, unseen };
}

/** The tab. */
export function Logs({ name }: { readonly name: string }) {
  const log = useLog(name);
  const { tail, shown } = log;
  const { scroller, onScroll, toEnd, choose, unseen } = useFollowing(log);
  const [file, error, isEmpty] = [tail.file.value, tail.error.value, tail.lines.value.length === 0];
  return (
    <>
      <Tools {...log} choose={choose} />
      {error !== undefined && <Problem error={error} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <div ref={scroller} class="page lines mono" tabIndex={0} role="log" aria-live="off" aria-label={LABELS.log} onScroll={onScroll}>
        {tail.isRead.value && isEmpty && <Empty text={logsText.none} />}
        {!isEmpty && shown.length === 0 && <Empty text={logsText.noneFound} />}
        {shown.map((line) => (
          <Line key={`${file} ${line.offset}`} line={line} block={name} />
        ))}
      </div>
      {unseen > 0 && (
        <button type="button" class="newest fixed" onClick={toEnd}>
          {newLines(unseen)}
        </button>
      )}
    </>
  );
}

/** What is shown of the log, and the way to its files. */
function Tools({ tail, level, words, choose }: ReturnType<typeof useLog> & { choose(file: string): void }) {
  const field = useRef<HTMLInputElement>(null);
  useKeys([{ keys: '/', does: logsText.filter, run: () => field.current?.focus() }]);
  const [file, files] = [tail.file.value, tail.files.value];
  return (
    <div class="strip tools-strip">
      <Filter field={field} label={logsText.filter} hint={logsText.filter} value={words} />
      <Segments
        label={logsText.levels}
        options={LEVELS.map((each) => [each, each])}
        value={LEVELS[level] ?? ''}
        choose={(id) => setQuery({ level: id === 'debug' ? undefined : id })}
      />
      <span class="grow" />
      {files.length > 1 && (
        <label class="row">
          <span class="sr">{logsText.file}</span>
          <select class="input" value={file} onChange={(event) => choose(event.currentTarget.value)}>
            {files.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
      )}
      {file !== undefined && <Button label={logsText.download} icon="download" iconOnly run={async () => saveAs(file, await tail.whole(file))} />}
    </div>
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
