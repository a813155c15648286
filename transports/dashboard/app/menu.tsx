// The menu: beside the page, and at the foot of a phone's.
import { askHalt } from '../actions/halt-dialog.tsx';
import { count } from '../base/format.ts';
import { pending } from '../data/approvals.ts';
import { counts, isListed, rows } from '../data/fleet.ts';
import { halt, setHalt } from '../data/halt.ts';
import { blockPath, pathOf, route } from '../data/route.ts';
import { hasBlocks } from '../data/server.ts';
import { socket } from '../data/services.ts';
import { pinned } from '../data/settings.ts';
import { Icon, Logo } from '../parts/icon.tsx';
import { Mark } from '../parts/mark.tsx';
import { Button, Keys } from '../parts/widgets.tsx';
import { inboxText, LABELS, WORDS } from '../text/index.ts';
import { pages, rowOf } from './pages.ts';
import { showPalette } from './palette.tsx';

/** Beside the page. */
export function Side() {
  const here = route.value;
  const shown = rowOf()?.id;
  // One that is archived stays pinned for the time when it is restored, and is not shown until then.
  const shownPins = (hasBlocks ? pinned.value : []).filter((name) => !isListed.value || rows.value.has(name));
  return (
    <nav class="side" aria-label={LABELS.main}>
      <div class="brand">
        <Logo /> {LABELS.product}
      </div>
      <button type="button" class="find" onClick={showPalette}>
        <Icon name="find" /> {WORDS.findOrDo}
        <Keys keys="mod+k" />
      </button>
      {pages().map(
        ({ id, name, menu }) =>
          menu !== undefined && (
            <a key={id} class="nav" href={pathOf(id)} aria-current={shown === id ? 'page' : undefined}>
              <Icon name={menu.icon} /> {name}
              {id === 'fleet' && counts.value.all > 0 && <span class="n num">{count(counts.value.all)}</span>}
              {id === 'inbox' && <Waiting />}
            </a>
          ),
      )}
      {shownPins.length > 0 && <h2 class="cap">{WORDS.pinned}</h2>}
      {shownPins.map((name) => (
        <PinnedBlock key={name} name={name} isHere={here.block === name} />
      ))}
      <div class="foot">
        {hasBlocks && <HaltButton />}
        <Live />
      </div>
    </nav>
  );
}

/** How many calls wait for a decision. */
function Waiting() {
  if (pending.value === 0) return null;
  return (
    <span class="n num badge">
      {count(pending.value)}
      <span class="sr"> {inboxText.wait}</span>
    </span>
  );
}

function PinnedBlock({ name, isHere }: { readonly name: string; readonly isHere: boolean }) {
  const entry = rows.value.get(name)?.value;
  return (
    <a class="nav" href={blockPath(name)} aria-current={isHere ? 'page' : undefined}>
      <Mark state={entry?.state ?? 'unknown'} />
      <span class="clip">{name}</span>
    </a>
  );
}

function HaltButton() {
  return halt.value?.halted === true ? (
    <Button label={WORDS.release} icon="play" run={() => setHalt(undefined)} />
  ) : (
    <Button label={WORDS.halt} icon="block" run={askHalt} />
  );
}

const SHOWN = {
  live: { mark: 'idle', words: WORDS.live },
  opening: { mark: 'starting', words: WORDS.connecting },
  lost: { mark: 'failed', words: WORDS.notConnected },
} as const;

/** How the page is connected. */
function Live() {
  const { state } = socket.connection.value;
  const { mark, words } = SHOWN[state];
  return (
    <div class="live">
      <Mark state={mark} named={false} />
      {words}
      {state === 'live' && <span class="num t3">{location.host}</span>}
    </div>
  );
}

/** At the foot of a phone's page. */
export function PhoneTabs() {
  const here = route.value;
  const shown = rowOf()?.id;
  return (
    <nav class="phone-tabs" aria-label={LABELS.pages}>
      {pages().map(
        ({ id, name, menu, isOnPhone }) =>
          isOnPhone === true &&
          menu !== undefined && (
            <a key={id} href={pathOf(id)} aria-current={shown === id || (id === 'fleet' && here.block !== undefined) ? 'page' : undefined}>
              <Icon name={menu.icon} />
              {name}
              {id === 'inbox' && <Waiting />}
            </a>
          ),
      )}
      <button type="button" onClick={showPalette}>
        <Icon name="find" />
        {LABELS.find}
      </button>
    </nav>
  );
}
