// The frame of every page: the menu, what concerns all pages, and the page itself.
import { effect } from '@preact/signals';
import { Component, type ComponentChildren, type ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { navigate } from '../base/address.ts';
import { announced } from '../base/announce.ts';
import { now } from '../base/clock.ts';
import { clock } from '../base/format.ts';
import { useKeys } from '../base/keys.ts';
import { dismiss, toasts } from '../base/toast.ts';
import { pending } from '../data/approvals.ts';
import { asks, counts, rows } from '../data/fleet.ts';
import { halt, setHalt } from '../data/halt.ts';
import { pathOf } from '../data/route.ts';
import { session, socket } from '../data/services.ts';
import { SignInForm } from '../pages/sign-in/sign-in.tsx';
import { Dialog, Dialogs } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { Button, Empty, Problem } from '../parts/widgets.tsx';
import { haltText, KEY_WORDS, LABELS, lostText, signInText, WORDS } from '../text/index.ts';
import { PhoneTabs, Side } from './menu.tsx';
import { pages, rowOf } from './pages.ts';
import { showKeys, showPalette } from './palette.tsx';

/** After this long without an answer, a line says so. */
const LOST_AFTER_MS = 5000;

/** Everything that is shown. */
export function App() {
  useKeys([
    { keys: 'mod+k', does: WORDS.findOrDo, run: showPalette, inFields: true },
    { keys: '?', does: KEY_WORDS.allKeys, run: showKeys },
    ...pages().flatMap(({ id, name, menu }) => (menu === undefined ? [] : [{ keys: menu.keys, does: name, run: () => navigate(pathOf(id)) }])),
  ]);
  useEffect(() => effect(showTitle), []);
  if (session.signIn.value === 'unsure') return null;
  if (session.signIn.value === 'out' && rows.value.size === 0) return <SignInForm />;
  return (
    <>
      <a class="btn skip" href="#page">
        {WORDS.skip}
      </a>
      <div class="app" inert={session.signIn.value === 'out'}>
        <Side />
        <main class="main" id="page" tabIndex={-1}>
          <Lost />
          <Halted />
          <Guarded key={rowOf()?.id}>
            <CurrentPage />
          </Guarded>
        </main>
        <PhoneTabs />
      </div>
      <Dialogs />
      {session.signIn.value === 'out' && (
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

/** Made anew for each block and page, but not for each tab or filter. */
function CurrentPage() {
  const row = rowOf();
  const { state } = socket.connection.value;
  const [loaded, setLoaded] = useState<{ readonly id: string; readonly View: ComponentType }>();
  const [failure, setFailure] = useState<unknown>();
  const hasLost = useRef(false);
  useEffect(() => {
    // A browser asks only once for a file of script; what was typed is kept over a reload.
    if (failure === undefined) hasLost.current = false;
    else if (state === 'lost') hasLost.current = true;
    else if (state === 'live' && hasLost.current) location.reload();
  }, [failure, state]);
  useEffect(() => {
    let isWanted = true;
    setFailure(undefined);
    row?.load?.().then(
      (module) => isWanted && setLoaded({ id: row.id, View: module.default }),
      (error: unknown) => isWanted && setFailure(error),
    );
    return () => {
      isWanted = false;
    };
  }, [row?.id]);
  if (row === undefined) return <NotFound />;
  if (row.view !== undefined) return <row.view />;
  if (failure !== undefined) return state === 'live' ? <Failed error={failure} /> : <Later name={row.name} />;
  return loaded?.id === row.id ? <loaded.View /> : null;
}

function Later({ name }: { readonly name: string }) {
  return (
    <Empty text={WORDS.later}>
      <h1 class="sr">{name}</h1>
    </Empty>
  );
}

function NotFound() {
  return (
    <Empty text={WORDS.notFound}>
      <h1 class="sr">{WORDS.notFound}</h1>
      <a class="btn" href={pathOf('fleet')}>
        {WORDS.toFleet}
      </a>
    </Empty>
  );
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

/** A line while the server does not answer. */
function Lost() {
  const { state, since, nextTryAt } = socket.connection.value;
  now.value;
  if (state === 'live' || Date.now() - since < LOST_AFTER_MS) return null;
  return (
    <div class="strip warn" role="status">
      <Icon name="warning" />
      <span class="grow">{lostText(clock(since), Math.max(0, Math.ceil(((nextTryAt ?? 0) - Date.now()) / 1000)))}</span>
      <Button label={WORDS.tryNow} small run={() => socket.tryNow()} />
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

/** `(3) support · Blockhouse`: the number is what needs a person. */
function showTitle(): void {
  // Each call that waits for a decision counts, and not the block that waits with it.
  const needs = counts.value.needs - asks.value + Math.max(asks.value, pending.value);
  const name = rowOf()?.name;
  document.title = `${needs > 0 ? `(${needs}) ` : ''}${name === undefined ? '' : `${name} · `}${LABELS.product}`;
}
