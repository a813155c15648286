// The log of a block, as it grows.
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { clockSeconds, fullTime } from '../../../app/format.ts';
import { useKeys } from '../../../app/keys.ts';
import { blockPath, route, setQuery } from '../../../app/router.ts';
import { LEVELS, logsText, newLines } from '../../../app/text.ts';
import { blockURL } from '../../../data/blocks.ts';
import { get } from '../../../data/http.ts';
import { type LogLine, lineFits } from '../../../data/log-lines.ts';
import { LogTail } from '../../../data/log-tail.ts';
import { follow } from '../../../data/socket.ts';
import { Button, Empty, Keys, Problem } from '../../../parts/bits.tsx';
import type { TabProps } from '../block.tsx';

/** Nearer than this is the end. */
const END_PX = 8;
/** Nearer than this to the beginning, older lines are read. */
const OLDER_PX = 200;

/** The tab. */
export function Logs({ name }: TabProps) {
  const tail = useMemo(() => new LogTail(name, (query) => get(blockURL(name, `/logs${query}`))), [name]);
  useEffect(() => follow({ begin: () => tail.begin(), end: () => ({ type: 'unsubscribe', block: name }), take: (frame) => tail.take(frame) }), [tail]);
  const field = useRef<HTMLInputElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const follows = useSignal(true);
  /** The place of the newest line that the reader has seen. */
  const seen = useSignal(-1);
  /** The first line and the height before older ones came. */
  const before = useRef({ first: -1, height: 0 });
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
    } else if (first < before.current.first) area.scrollTop += area.scrollHeight - before.current.height; // the line in view stays where it is
    before.current = { first, height: area.scrollHeight };
  }, [last, first, shown.length, file]);
  const onScroll = (): void => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = scroller.current ?? {};
    const isAtEnd = scrollHeight - scrollTop - clientHeight < END_PX;
    if (isAtEnd) seen.value = last;
    if (isAtEnd !== follows.peek()) {
      follows.value = isAtEnd;
      tail.follow(isAtEnd);
    }
    if (!isAtEnd && scrollTop < OLDER_PX) void older();
  };
  const isReading = useRef(false);
  const older = async (): Promise<void> => {
    if (isReading.current) return;
    isReading.current = true;
    await tail.older();
    isReading.current = false;
  };
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
      <div ref={scroller} class="page lines mono" tabIndex={0} role="log" aria-live="off" aria-label="Log" onScroll={onScroll}>
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

function Line({ line: { at, level, event, rest, id }, block }: { readonly line: LogLine; readonly block: string }) {
  return (
    <p class={`line ${level}`}>
      {at !== undefined && (
        <time class="t3" dateTime={at} title={fullTime(at)}>
          {clockSeconds(at)}
        </time>
      )}
      <span class="level">{level}</span>
      <span class="what">
        <b>{event}</b> {rest}
        {id !== undefined && (
          <a class="link" href={blockPath(block, 'chat', { at: id })}>
            {' '}
            {logsText.entry}
          </a>
        )}
      </span>
    </p>
  );
}

function download(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
