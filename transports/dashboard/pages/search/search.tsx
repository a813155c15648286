// What was said: messages, answers and memories of all blocks that have the words of the address.
import { useComputed } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SearchHit, SearchResult } from '../../../../core/types.ts';
import { useKeys } from '../../base/keys.ts';
import { get } from '../../data/http.ts';
import { useLoad } from '../../data/load.ts';
import { blockPath, pathOf, route } from '../../data/route.ts';
import { Filter } from '../../parts/fields.tsx';
import { Ago, Empty, Problem } from '../../parts/widgets.tsx';
import { hitsText, SAID_BY, searchText, unreadableText } from '../../text/index.ts';

const LIMIT = 50;
/** What is typed within this time is one search. */
const TYPING_MS = 200;

interface Answer {
  readonly words: string;
  readonly result: SearchResult | undefined;
}

/** The words of the address, once nobody types any more, and what was found for them. */
function useSearch() {
  const text = useComputed(() => (route.value.query.get('find') ?? '').trim());
  const words = text.value;
  const [asked, ask] = useState(words);
  useEffect(() => {
    const timer = setTimeout(() => ask(words), TYPING_MS);
    return () => clearTimeout(timer);
  }, [words]);
  const read = async (): Promise<Answer> => ({
    words: asked,
    result: asked === '' ? undefined : await get<SearchResult>(`/api/search?${new URLSearchParams({ q: asked, limit: String(LIMIT) })}`),
  });
  const { state } = useLoad(read, [asked]);
  return { words, state };
}

/** The page. */
export default function Search() {
  const field = useRef<HTMLInputElement>(null);
  const { words, state } = useSearch();
  useKeys([{ keys: '/', does: searchText.field, run: () => field.current?.focus() }]);
  useEffect(() => field.current?.focus(), []);
  const { data, error } = state.value;
  const isOld = data?.words !== words;
  return (
    <>
      <header class="top">
        <h1>{searchText.title}</h1>
        <span class="grow" />
        <Filter field={field} label={searchText.field} hint={searchText.hint} value={route.value.query.get('find') ?? ''} />
      </header>
      <div class="page search" aria-busy={isOld}>
        {error !== undefined && words !== '' && <Problem error={error} />}
        <p class="t3 sm" role="status">
          {words !== '' && (isOld && error === undefined ? searchText.searching : data?.result && hitsText(data.result.hits.length, data.result.total))}
        </p>
        {words === '' ? <Empty text={searchText.begin} /> : data?.result !== undefined && <Found result={data.result} />}
      </div>
    </>
  );
}

function Found({ result: { hits, complete, unreadable } }: { readonly result: SearchResult }) {
  return (
    <>
      {unreadable.length > 0 ? <p class="strip">{unreadableText(unreadable)}</p> : !complete && <p class="strip">{searchText.incomplete}</p>}
      {hits.length === 0 && <Empty text={searchText.none} />}
      <ul>
        {hits.map((hit) => (
          <li key={`${hit.archive ?? hit.block} ${hit.by} ${hit.id}`}>
            <Hit hit={hit} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Hit({ hit }: { readonly hit: SearchHit }) {
  const { block, archive, by, at } = hit;
  return (
    <a href={placeOf(hit)}>
      <span class="row sm">
        <b class="b">{block}</b>
        {archive !== null && <span class="t3">{searchText.archived}</span>}
        <span class="t2">{SAID_BY[by]}</span>
        <span class="grow" />
        <span class="t3 num">
          <Ago at={at} />
        </span>
      </span>
      <p class="break">{marked(hit)}</p>
    </a>
  );
}

/** The line of the chat or of the memory; of an archived block, its row in the archive. */
function placeOf({ block, archive, by, id }: SearchHit): string {
  if (archive !== null) return pathOf('archive', { at: archive });
  return blockPath(block, by === 'message' || by === 'answer' ? 'chat' : 'memory', { at: id ?? by });
}

/** The excerpt with its words marked. */
function marked({ excerpt, marks }: SearchHit) {
  let at = 0;
  const parts = marks.flatMap(([from = 0, to = 0]) => {
    const before = excerpt.slice(at, from);
    at = to;
    return [before, <mark key={from}>{excerpt.slice(from, to)}</mark>];
  });
  return [...parts, excerpt.slice(at)];
}
