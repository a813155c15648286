// A block: its head, and its seven tabs.
import { type Signal, useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { StandInStrip } from '../../actions/stand-in.tsx';
import { startOrStop } from '../../actions/start-or-stop.ts';
import { navigate } from '../../base/address.ts';
import { useKeys } from '../../base/keys.ts';
import { exportBlock, restartBlock } from '../../data/blocks.ts';
import { isAsleep, isListed, rows } from '../../data/fleet.ts';
import type { OpenBlock } from '../../data/open-block.ts';
import { blockPath, pathOf, route, TABS, type Tab } from '../../data/route.ts';
import { pinned } from '../../data/settings.ts';
import { showDialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { StatePill } from '../../parts/mark.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Button } from '../../parts/widgets.tsx';
import { headText, KEY_WORDS, LABELS, TAB_NAMES, WORDS } from '../../text/index.ts';
import { archive, Gone, Rename, reset } from './actions.tsx';
import { Chat } from './chat/chat.tsx';
import { Config } from './config/config.tsx';
import { Costs } from './costs/costs.tsx';
import { History } from './history/history.tsx';
import { Logs } from './logs/logs.tsx';
import { Memory } from './memory/memory.tsx';
import { Schedules } from './schedule/schedules.tsx';

interface TabProps {
  readonly name: string;
  /** What the chat follows, while it is shown. */
  readonly followed: Signal<OpenBlock | undefined>;
}

const PAGES: Readonly<Record<Tab, ComponentType<TabProps>>> = {
  chat: Chat,
  memory: Memory,
  config: Config,
  logs: Logs,
  costs: Costs,
  history: History,
  schedule: Schedules,
};

const START = { label: WORDS.start, icon: 'play' } as const;
const STOP = { label: WORDS.stop, icon: 'power' } as const;

/** The page. */
export default function Block() {
  const { block: name = '', tab } = route.value;
  const entry = rows.value.get(name)?.value;
  const followed = useSignal<OpenBlock | undefined>(undefined);
  const open = followed.value?.name === name ? followed.value : undefined;
  const state = entry === undefined ? undefined : (open?.state.value ?? entry.state); // the list comes twice a second, an open block at once
  const toggle = (): unknown => startOrStop(name, state);
  useKeys(
    [
      ...TABS.map((each, index) => ({ keys: String(index + 1), does: TAB_NAMES[each], run: () => navigate(blockPath(name, each)) })),
      { keys: 's', does: KEY_WORDS.startOrStop, run: () => void toggle() },
      { keys: 'w', does: WORDS.why, run: () => navigate(blockPath(name, 'history')) },
      { keys: 'b', does: KEY_WORDS.budget, run: () => navigate(blockPath(name, 'costs')) },
      { keys: 'p', does: KEY_WORDS.pin, run: () => pin(name) },
    ],
    [name, state],
  );
  useEffect(() => {
    document.querySelector('.tabs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [tab]);
  const Page = PAGES[tab];
  return (
    <>
      <header class="top">
        <a class="btn quiet square" href={pathOf('fleet')} aria-label={LABELS.backToFleet}>
          <Icon name="back" />
        </a>
        <h1 class="clip">{name}</h1>
        {state !== undefined && <StatePill state={state} />}
        <span class="t2 clip grow about">{entry?.config.description}</span>
        {state !== undefined && <Button key={String(isAsleep(state))} {...(isAsleep(state) ? START : STOP)} run={toggle} />}
        <Menu
          label={LABELS.more}
          choices={[
            { label: WORDS.restart, icon: 'restart', run: () => restartBlock(name) },
            { label: pinned.value.includes(name) ? headText.unpin : headText.pin, icon: 'pin', keys: 'p', run: () => pin(name) },
            { label: headText.write, icon: 'message', keys: 'm', run: () => navigate(blockPath(name, 'chat', { write: '1' })) },
            { label: headText.export, icon: 'download', run: () => exportBlock(name) },
            { label: headText.rename, icon: 'edit', run: () => showDialog((close) => <Rename name={name} close={close} />) },
            { label: headText.reset, icon: 'restart', run: () => reset(name, false) },
            { label: headText.hardReset, icon: 'trash', danger: true, run: () => reset(name, true) },
            { label: headText.archive, icon: 'archive', run: () => archive(name, state) },
          ]}
        />
      </header>
      <nav class="tabs" aria-label={LABELS.blockParts}>
        {TABS.map((each) => (
          <a key={each} href={blockPath(name, each)} aria-current={tab === each ? 'page' : undefined}>
            {TAB_NAMES[each]}
          </a>
        ))}
      </nav>
      {entry !== undefined && <StandInStrip entry={entry} />}
      {entry === undefined && isListed.value ? <Gone name={name} /> : <Page name={name} followed={followed} />}
    </>
  );
}

/** Pins a block in the menu, or takes it away. */
function pin(name: string): void {
  const list = pinned.peek();
  pinned.value = list.includes(name) ? list.filter((each) => each !== name) : [...list, name];
}
