// The log of a block, as it grows.
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { LogList } from '../../../../../core/types.ts';
import { clockSeconds, fullTime } from '../../../app/format.ts';
import { useKeys } from '../../../app/keys.ts';
import { blockPath, route, setQuery } from '../../../app/router.ts';
import { LEVELS, logsText, newLines } from '../../../app/text.ts';
import { blockURL } from '../../../data/blocks.ts';
import { useChanges } from '../../../data/details.ts';
import { get } from '../../../data/http.ts';
import { useLoad } from '../../../data/load.ts';
import { type LogLine, lineFits, readLines } from '../../../data/log-lines.ts';
import { Button, Empty, Keys, Problem } from '../../../parts/bits.tsx';
import type { TabProps } from '../block.tsx';

/** Lines are written when the block does something. */
const READ_AFTER_MS = 500;
const MOST_SHOWN = 2000;
/** Nearer than this is the end. */
const END_PX = 8;

/** The tab. */
export function Logs({ name }: TabProps) {
  const { state, reload } = useLoad(() => get<LogList>(blockURL(name, '/logs')), [name]);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useChanges(name, () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void reload();
    }, READ_AFTER_MS);
  });
  const chosen = useSignal<string | undefined>(undefined);
  const field = useRef<HTMLInputElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const follows = useSignal(true);
  /** The newest line that the reader has seen. */
  const seen = useSignal('');
  useKeys([{ keys: '/', does: logsText.filter, run: () => field.current?.focus() }]);
  const level = useComputed(() =>
    Math.max(
      0,
      LEVELS.findIndex((each) => each === (route.value.query.get('level') ?? 'debug')),
    ),
  );
  const words = useComputed(() => route.value.query.get('find') ?? '');
  const { data, error } = state.value;
  const file = data?.logs.find((each) => each.file === chosen.value) ?? data?.logs[0];
  const lines = file === undefined ? [] : readLines(file.content, file.file).slice(-MOST_SHOWN);
  const shown = lines.filter((line) => lineFits(line, level.value, LEVELS, words.value));
  useEffect(() => {
    if (follows.value && scroller.current !== null) {
      scroller.current.scrollTop = scroller.current.scrollHeight;
      seen.value = lines.at(-1)?.key ?? '';
    }
  }, [file?.size, shown.length, file?.file]);
  const onScroll = (): void => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = scroller.current ?? {};
    follows.value = scrollHeight - scrollTop - clientHeight < END_PX;
    if (follows.value) seen.value = lines.at(-1)?.key ?? '';
  };
  const fresh = lines.length - 1 - lines.findIndex(({ key }) => key === seen.value);
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
        {data !== undefined && data.logs.length > 1 && (
          <label class="row">
            <span class="sr">{logsText.file}</span>
            <select
              class="input"
              value={file?.file}
              onChange={(event) => {
                chosen.value = event.currentTarget.value;
              }}
            >
              {data.logs.map((each) => (
                <option key={each.file} value={each.file}>
                  {each.file}
                </option>
              ))}
            </select>
          </label>
        )}
        {file !== undefined && <Button label={logsText.download} icon="download" iconOnly run={() => download(file.file, file.content)} />}
      </div>
      {error !== undefined && <Problem error={error} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <div ref={scroller} class="page lines mono" tabIndex={0} role="log" aria-live="off" aria-label="Log" onScroll={onScroll}>
        {data !== undefined && lines.length === 0 && <Empty text={logsText.none} />}
        {lines.length > 0 && shown.length === 0 && <Empty text={logsText.noneFound} />}
        {shown.map((line) => (
          <Line key={line.key} line={line} block={name} />
        ))}
      </div>
      {!follows.value && fresh > 0 && (
        <button
          type="button"
          class="newest fixed"
          onClick={() => {
            if (scroller.current !== null) scroller.current.scrollTop = scroller.current.scrollHeight;
          }}
        >
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

function download(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
