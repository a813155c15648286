// Find or do: blocks, pages and commands by a few letters. And the list of all keys.
import { useRef, useState } from 'preact/hooks';
import { askHalt } from '../actions/halt-dialog.tsx';
import { newBlock } from '../actions/new-block.tsx';
import { startOrStop } from '../actions/start-or-stop.ts';
import { navigate } from '../base/address.ts';
import { commands } from '../base/keys.ts';
import { tellFailure } from '../base/toast.ts';
import { changes, isAsleep, rows } from '../data/fleet.ts';
import { halt, setHalt } from '../data/halt.ts';
import { blockPath, pathOf, route, TABS } from '../data/route.ts';
import { hasBlocks } from '../data/server.ts';
import { session } from '../data/services.ts';
import { theme } from '../data/settings.ts';
import { Dialog, showDialog } from '../parts/dialog.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Mark } from '../parts/mark.tsx';
import { Keys } from '../parts/widgets.tsx';
import { firstRunText, KEY_WORDS, LABELS, PALETTE_PARTS, searchForText, TAB_NAMES, WORDS } from '../text/index.ts';
import { type PageRow, pages } from './pages.ts';

interface Item {
  readonly label: string;
  readonly more?: string | undefined;
  readonly state?: string;
  readonly icon?: IconName;
  run(): unknown;
}

const MAX_SHOWN = 12;
let isOpen = false;

/** Shows the palette. */
export function showPalette(): void {
  if (isOpen) return;
  isOpen = true;
  showDialog((close) => (
    <Palette
      close={() => {
        isOpen = false;
        close();
      }}
    />
  ));
}

/** What is found, which of it is chosen, and the keys that choose and do it. */
function usePalette(close: () => void) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  changes.value; // draws the present states
  const items = found(text);
  const run = async (item: Item | undefined): Promise<void> => {
    if (item === undefined) return;
    close();
    try {
      await item.run();
    } catch (error) {
      tellFailure(error);
    }
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const next = (at + step + items.length) % Math.max(1, items.length);
      setAt(next);
      list.current?.children[next]?.scrollIntoView({ block: 'nearest' });
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      void run(items[at]);
    }
  };
  const type = (next: string): void => {
    setText(next);
    setAt(0);
  };
  return { text, type, items, at, setAt, run, onKeyDown, list };
}

function Palette({ close }: { readonly close: () => void }) {
  const { text, type, items, at, setAt, run, onKeyDown, list } = usePalette(close);
  return (
    <Dialog title={WORDS.findOrDo} close={close} bare>
      <div class="palette">
        <input
          autofocus
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls="found"
          aria-activedescendant={items.length > 0 ? `found-${at}` : undefined}
          aria-label={WORDS.findOrDo}
          placeholder={WORDS.findOrDo}
          autocomplete="off"
          spellcheck={false}
          value={text}
          onKeyDown={onKeyDown}
          onInput={(event) => type(event.currentTarget.value)}
        />
        <div ref={list} id="found" role="listbox" aria-label={WORDS.findOrDo}>
          {items.map((item, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
            <div
              key={`${item.label} ${item.more ?? ''}`}
              id={`found-${index}`}
              role="option"
              aria-selected={index === at}
              onClick={() => void run(item)}
              onMouseMove={() => setAt(index)}
            >
              {item.state !== undefined ? <Mark state={item.state} /> : <Icon name={item.icon ?? 'chevron'} />}
              <span>{item.label}</span>
              <span class="t3 clip">{item.more}</span>
            </div>
          ))}
          {items.length === 0 && <p class="empty">{LABELS.nothingFound}</p>}
        </div>
      </div>
    </Dialog>
  );
}

/** Blocks first, then pages, then what can be done. A word that begins a name counts more than one inside it. */
function found(text: string): readonly Item[] {
  const words = text.toLowerCase().trim().split(/\s+/).filter(Boolean);
  const scored = [
    ...blockItems(words),
    ...pages()
      .filter(({ menu }) => menu !== undefined)
      .map(pageItem),
    ...doItems(),
    ...partItems(),
  ].flatMap((item, index) => {
    const label = item.label.toLowerCase();
    const all = `${label} ${item.more ?? ''}`.toLowerCase();
    if (!words.every((word) => all.includes(word))) return [];
    const at = label.indexOf(words[0] ?? '');
    const score = at > 0 ? 1000 : 2000;
    return [{ item, score: (at === 0 ? 0 : score) + index / 1e6 }];
  });
  const best = scored
    .sort((one, other) => one.score - other.score)
    .slice(0, MAX_SHOWN)
    .map(({ item }) => item);
  return words.length > 0 && hasBlocks ? [...best, searchItem(text.trim())] : best;
}

function blockItems(words: readonly string[]): Item[] {
  const acts = words.length > 0 && ['start', 'stop'].some((verb) => verb.startsWith(words[0] ?? ''));
  return [...rows.peek().values()].flatMap((row): Item[] => {
    const { name, state, config } = row.peek();
    const open: Item = { label: name, more: config.description, state, run: () => navigate(blockPath(name)) };
    if (!acts) return [open];
    return [open, { label: `${isAsleep(state) ? WORDS.start : WORDS.stop} ${name}`, state, run: () => startOrStop(name) }];
  });
}

/** What was said is looked for on a page of its own. */
function searchItem(text: string): Item {
  return { label: searchForText(text), icon: 'find', run: () => navigate(pathOf('search', { find: text })) };
}

function pageItem({ id, name }: PageRow): Item {
  return { label: name, icon: 'link', run: () => navigate(pathOf(id)) };
}

/** The parts of pages: those of the block that is shown, those of the settings, and the programs. */
function partItems(): Item[] {
  const { block } = route.peek();
  const tabs =
    block === undefined
      ? []
      : TABS.map((tab) => ({ label: `${block}: ${TAB_NAMES[tab]}`, icon: 'block' as const, run: () => navigate(blockPath(block, tab)) }));
  const parts = Object.entries(PALETTE_PARTS).filter(([id]) => hasBlocks || !['halt', 'notifications'].includes(id));
  const placeOf = (id: string): string => (id === 'programs' ? pathOf('gateway', { tab: id }) : pathOf('settings', { part: id }));
  return [...tabs, ...parts.map(([id, [label, more]]) => ({ label, more, icon: 'settings' as const, run: () => navigate(placeOf(id)) }))];
}

function doItems(): Item[] {
  return [
    ...(hasBlocks ? blockActions() : []),
    themeItem(LABELS.lightTheme, 'light'),
    themeItem(LABELS.darkTheme, 'dark'),
    themeItem(LABELS.systemTheme, 'system'),
    { label: KEY_WORDS.allKeys, icon: 'key', run: showKeys },
    { label: LABELS.signOut, icon: 'key', run: () => session.signOut() },
  ];
}

function blockActions(): Item[] {
  return [
    {
      label: WORDS.newBlock,
      icon: 'plus',
      run: () => {
        navigate(pathOf('fleet'));
        newBlock();
      },
    },
    halt.peek()?.halted === true
      ? { label: `${WORDS.release} model calls`, icon: 'play', run: () => setHalt(undefined) }
      : { label: WORDS.halt, icon: 'block', run: askHalt },
    { label: firstRunText.title, icon: 'link', run: () => navigate(pathOf('start')) },
  ];
}

function themeItem(label: string, name: typeof theme.value): Item {
  return {
    label,
    icon: 'settings',
    run: () => {
      theme.value = name;
    },
  };
}

/** Lists exactly the keys that work now. */
export function showKeys(): void {
  const seen = new Set<string>();
  const list = commands.peek().filter(({ keys }) => !seen.has(keys) && seen.add(keys));
  showDialog((close) => (
    <Dialog title={LABELS.keys} close={close}>
      <dl class="key-list">
        {list.map(({ keys, does }) => (
          <>
            <dt>{does}</dt>
            <dd class="row">
              <Keys keys={keys} />
            </dd>
          </>
        ))}
      </dl>
    </Dialog>
  ));
}
