// The frame of every page: the menu, what concerns all pages, and the page itself.

import { effect } from '@preact/signals';
import { Component, type ComponentChildren, type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { askHalt } from '../actions/halt-dialog.tsx';
import { announced } from '../base/announce.ts';
import { now } from '../base/clock.ts';
import { clock, count } from '../base/format.ts';
import { useKeys } from '../base/keys.ts';
import { dismiss, toasts } from '../base/toast.ts';
import { counts, isListed, rows } from '../data/fleet.ts';
import { halt, setHalt } from '../data/halt.ts';
import { blockPath, navigate, PAGES, type Page, pathOf, type Route, route } from '../data/router.ts';
import { signIn } from '../data/session.ts';
import { pinned } from '../data/settings.ts';
import { connection, tryNow } from '../data/socket.ts';
import Fleet from '../pages/fleet/fleet.tsx';
import { SignInForm } from '../pages/sign-in/sign-in.tsx';
import { Dialog, Dialogs } from '../parts/dialog.tsx';
import { Icon, type IconName, Logo } from '../parts/icon.tsx';
import { Mark } from '../parts/mark.tsx';
import { Button, Empty, Keys, Problem } from '../parts/widgets.tsx';
import { haltText, KEY_WORDS, LABELS, lostText, PAGE_NAMES, signInText, WORDS } from '../text/index.ts';
import { showKeys, showPalette } from './palette.tsx';

const ICONS: Readonly<Record<Page, IconName>> = {
  fleet: 'fleet',
  gateway: 'gateway',
  playground: 'play',
  costs: 'costs',
  events: 'events',
  archive: 'archive',
  settings: 'settings',
};
const CHORDS: Readonly<Record<Page, string>> = {
  fleet: 'g f',
  gateway: 'g g',
  playground: 'g p',
  costs: 'g c',
  events: 'g e',
  archive: 'g a',
  settings: 'g s',
};
/** The five tabs below a phone's page. */
const PHONE_PAGES: readonly Page[] = ['fleet', 'gateway', 'costs', 'settings'];
/** After this long without an answer, a line says so. */
const LOST_AFTER_MS = 5000;

/** Pages that are loaded when they are first shown. The fleet is there from the beginning. */
const LOADED: Readonly<Record<string, () => Promise<{ readonly default: ComponentType }>>> = {
  archive: () => import('../pages/archive/archive.tsx'),
  block: () => import('../pages/block/block.tsx'),
  costs: () => import('../pages/costs/costs.tsx'),
  events: () => import('../pages/events/events.tsx'),
  gateway: () => import('../pages/gateway/gateway.tsx'),
  playground: () => import('../pages/playground/playground.tsx'),
  settings: () => import('../pages/settings/settings.tsx'),
  start: () => import('../pages/first-run/first-run.tsx'),
};

/** Everything that is shown. */
export function App() {
  useKeys([
    { keys: 'mod+k', does: WORDS.findOrDo, run: showPalette, inFields: true },
    { keys: '?', does: KEY_WORDS.allKeys, run: showKeys },
    ...PAGES.map((page) => ({ keys: CHORDS[page], does: PAGE_NAMES[page], run: () => navigate(pathOf(page)) })),
  ]);
  useEffect(() => effect(showTitle), []);
  if (signIn.value === 'unsure') return null;
  if (signIn.value === 'out' && rows.value.size === 0) return <SignInForm />;
  return (
    <>
      <a class="btn skip" href="#page">
        {WORDS.skip}
      </a>
      <div class="app" inert={signIn.value === 'out'}>
        <Side />
        <main class="main" id="page" tabIndex={-1}>
          <Lost />
          <Halted />
          <Guarded key={keyOf(route.value)}>
            <CurrentPage />
          </Guarded>
        </main>
        <PhoneTabs />
      </div>
      <Dialogs />
      {signIn.value === 'out' && (
        <Dialog title={signInText.submit} close={() => undefined} bare>
          <SignInForm again />
        </Dialog>
      )}
      <div class="toasts" {...(toasts.value.length > 0 && { role: 'region', 'aria-label': WORDS.notes })}>
        {toasts.value.map(({ id, text, action }) => (
          <div class="toast" key={id}>
            <span class="grow break">{text}</span>
            {action !== undefined && (
              <Button
                label={action.label}
                small
                run={() => {
                  dismiss(id);
                  action.run();
                }}
              />
            )}
            <Button label={WORDS.close} icon="close" iconOnly small run={() => dismiss(id)} />
          </div>
        ))}
      </div>
      <div class="sr" role="status" aria-live="polite">
        {announced}
      </div>
    </>
  );
}

/** A page anew for each block and page, but not for each tab or filter. */
function keyOf(to: Route): string {
  return to.page === 'block' ? `block ${to.block}` : to.page;
}

function CurrentPage() {
  const { page } = route.value;
  const [loaded, setLoaded] = useState<{ readonly page: string; readonly Page: ComponentType }>();
  const [failure, setFailure] = useState<unknown>();
  useEffect(() => {
    let isWanted = true;
    setFailure(undefined);
    LOADED[page]?.().then(
      (module) => isWanted && setLoaded({ page, Page: module.default }),
      (error: unknown) => isWanted && setFailure(error),
    );
    return () => {
      isWanted = false;
    };
  }, [page]);
  if (page === 'fleet') return <Fleet />;
  if (failure !== undefined) return <Failed error={failure} />;
  if (LOADED[page] === undefined)
    return (
      <Empty text={WORDS.notFound}>
        <h1 class="sr">{WORDS.notFound}</h1>
        <a class="btn" href={pathOf('fleet')}>
          {WORDS.toFleet}
        </a>
      </Empty>
    );
  return loaded?.page === page ? <loaded.Page /> : null;
}

/** A fault of one page leaves the menu and the other pages usable. */
class Guarded extends Component<{ readonly children: ComponentChildren }, { readonly error?: unknown }> {
  static override getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override render() {
    return this.state.error === undefined ? this.props.children : <Failed error={this.state.error} />;
  }
}

function Failed({ error }: { readonly error: unknown }) {
  return (
    <div class="page">
      <h1 class="sr">{LABELS.problem}</h1>
      <Problem error={error}>
        <Button label={LABELS.loadAnew} small run={() => location.reload()} />
      </Problem>
    </div>
  );
}

function Side() {
  const here = route.value;
  // One that is archived stays pinned for the time when it is restored, and is not shown until then.
  const shownPins = pinned.value.filter((name) => !isListed.value || rows.value.has(name));
  return (
    <nav class="side" aria-label={LABELS.main}>
      <div class="brand">
        <Logo /> {LABELS.product}
      </div>
      <button type="button" class="find" onClick={showPalette}>
        <Icon name="find" /> {WORDS.findOrDo}
        <Keys keys="mod+k" />
      </button>
      {PAGES.map((page) => (
        <a key={page} class="nav" href={pathOf(page)} aria-current={here.page === page ? 'page' : undefined}>
          <Icon name={ICONS[page]} /> {PAGE_NAMES[page]}
          {page === 'fleet' && counts.value.all > 0 && <span class="n num">{count(counts.value.all)}</span>}
        </a>
      ))}
      {shownPins.length > 0 && <h2 class="cap">{WORDS.pinned}</h2>}
      {shownPins.map((name) => (
        <PinnedBlock key={name} name={name} isHere={here.page === 'block' && here.block === name} />
      ))}
      <div class="foot">
        <HaltButton />
        <Live />
      </div>
    </nav>
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

function Live() {
  const { state } = connection.value;
  const words = state === 'live' ? WORDS.live : state === 'opening' ? WORDS.connecting : WORDS.notConnected;
  return (
    <div class="live">
      <Mark state={state === 'live' ? 'idle' : state === 'opening' ? 'starting' : 'failed'} named={false} />
      {words}
      {state === 'live' && <span class="num t3">{location.host}</span>}
    </div>
  );
}

/** A line while the server does not answer. */
function Lost() {
  const { state, since, nextTryAt } = connection.value;
  now.value;
  if (state === 'live' || Date.now() - since < LOST_AFTER_MS) return null;
  return (
    <div class="strip warn" role="status">
      <Icon name="warning" />
      <span class="grow">{lostText(clock(since), Math.max(0, Math.ceil(((nextTryAt ?? 0) - Date.now()) / 1000)))}</span>
      <Button label={WORDS.tryNow} small run={tryNow} />
    </div>
  );
}

/** A line across every page while model calls are halted. */
function Halted() {
  const state = halt.value;
  if (state?.halted !== true) return null;
  const { fact, rest } = haltText(state.since === null ? '' : clock(state.since), state.reason);
  return (
    <div class="strip bad" role="status">
      <Icon name="block" />
      <span class="grow">
        <b>{fact}</b> {rest}
      </span>
      <Button label={WORDS.release} small run={() => setHalt(undefined)} />
    </div>
  );
}

function PhoneTabs() {
  const here = route.value;
  return (
    <nav class="phone-tabs" aria-label={LABELS.pages}>
      {PHONE_PAGES.map((page) => (
        <a key={page} href={pathOf(page)} aria-current={here.page === page || (page === 'fleet' && here.page === 'block') ? 'page' : undefined}>
          <Icon name={ICONS[page]} />
          {PAGE_NAMES[page]}
        </a>
      ))}
      <button type="button" onClick={showPalette}>
        <Icon name="find" />
        {LABELS.find}
      </button>
    </nav>
  );
}

/** `(3) support · Blockhouse`: the number is what needs a person. */
function showTitle(): void {
  const here = route.value;
  const { needs } = counts.value;
  const name = here.page === 'block' ? here.block : here.page === 'start' ? LABELS.firstSteps : here.page === 'unknown' ? '' : PAGE_NAMES[here.page];
  document.title = `${needs > 0 ? `(${needs}) ` : ''}${name === '' ? '' : `${name} · `}Blockhouse`;
}
