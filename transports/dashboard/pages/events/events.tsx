// What happens in the workspace, as it happens.
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { clockSeconds, fullTime } from '../../base/format.ts';
import { useKeys } from '../../base/keys.ts';
import { events, type Happened, keyOf, readEarlier } from '../../data/events.ts';
import { rows } from '../../data/fleet.ts';
import { blockPath, route } from '../../data/route.ts';
import { Filter } from '../../parts/fields.tsx';
import { Table } from '../../parts/table.tsx';
import { Button, Empty } from '../../parts/widgets.tsx';
import { eventsText, missedText, newText } from '../../text/index.ts';
import { detailsOf, matches, subjectOf } from './describe.ts';

/** Rows in the document; older ones are found by the filter. */
const MAX_SHOWN = 300;

/** The page. */
export default function Events() {
  const held = useSignal<readonly Happened[] | undefined>(undefined);
  const field = useRef<HTMLInputElement>(null);
  const text = useComputed(() => route.value.query.get('find') ?? '');
  const shown = useComputed(() => {
    const list = held.value ?? events.value;
    return (text.value === '' ? list : list.filter((event) => matches(event, text.value))).slice(0, MAX_SHOWN);
  });
  const isNew = useComputed(() => (held.value === undefined ? 0 : events.value.filter(({ seq }) => seq > (held.value?.[0]?.seq ?? -1)).length));
  useKeys([{ keys: '/', does: eventsText.filter, run: () => field.current?.focus() }]);
  useEffect(readEarlier, []);
  const isHeld = held.value !== undefined;
  return (
    <>
      <header class="top">
        <h1>{eventsText.title}</h1>
        <span class="t3 sm">{eventsText.kept}</span>
        <span class="grow" />
        <Filter field={field} label={eventsText.filter} hint={eventsText.filterHint} value={text.value} />
        <Button
          label={isHeld ? eventsText.go + (isNew.value > 0 ? ` (${newText(isNew.value)})` : '') : eventsText.pause}
          icon={isHeld ? 'play' : 'pause'}
          run={() => {
            held.value = isHeld ? undefined : events.value;
          }}
        />
      </header>
      <div class="page">
        {shown.value.length === 0 ? (
          <Empty text={text.value === '' ? eventsText.none : eventsText.noneFound} />
        ) : (
          <Table shape="events" heads={[eventsText.at, eventsText.name, eventsText.about, eventsText.details]} isBare>
            {shown.value.map((event) => (
              <EventRow key={keyOf(event)} event={event} />
            ))}
          </Table>
        )}
      </div>
    </>
  );
}

function EventRow({ event }: { readonly event: Happened }) {
  const time = (
    <td class="num t3">
      <time dateTime={event.at} title={fullTime(event.at)}>
        {clockSeconds(event.at)}
      </time>
    </td>
  );
  if (event.missed !== undefined)
    return (
      <tr>
        {time}
        <td colSpan={3} class="warn">
          {missedText(event.missed)}
        </td>
      </tr>
    );
  const { block, other } = subjectOf(event);
  return (
    <tr>
      {time}
      <td class="num">{event.name}</td>
      <td class="b">
        {block !== undefined && rows.value.has(block) ? (
          <a class="link" href={blockPath(block)}>
            {block}
          </a>
        ) : (
          (block ?? other)
        )}
      </td>
      <td class="t2 break">{detailsOf(event)}</td>
    </tr>
  );
}
