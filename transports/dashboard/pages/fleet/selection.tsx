// The blocks that are selected, and what is done to all of them: with a count, progress, and what failed and why.
import { signal } from '@preact/signals';
import { tell } from '../../base/toast.ts';
import { archiveBlock, restoreBlock, setTag, startBlock, stopBlock, toEach } from '../../data/blocks.ts';
import { isWanted, readFleet } from '../../data/fleet.ts';
import { showDialog } from '../../parts/dialog.tsx';
import { Button } from '../../parts/widgets.tsx';
import { batchText, fleetText, progressText, selectAllText, selectedText, taggedText, WORDS } from '../../text/index.ts';
import { TagDialog } from './tag.tsx';

/** Names that are selected. */
export const selected = signal<ReadonlySet<string>>(new Set());
/** True while a tap selects a block instead of opening it, for people without a keyboard. */
export const choosing = signal(false);
/** How far a batch is, in words; undefined while there is none. */
export const progress = signal<string | undefined>(undefined);

function select(names: readonly string[]): void {
  selected.value = new Set(names);
}

/** The batch under way, or the last one. */
let last: Promise<void> = Promise.resolve();

/** Something that is done to each of many blocks. */
interface Deed {
  /** The beginning of the sentence that tells it. */
  readonly done: string;
  /** Resolves with false if nothing had to be changed. */
  act(name: string): Promise<boolean>;
}

/** Does the same to many blocks when the batch before has ended, and tells the outcome. `back` undoes it for the blocks that were changed. Blocks that failed stay selected. */
function batch(names: readonly string[], { done, act }: Deed, back?: Deed): Promise<void> {
  const run = async (): Promise<void> => {
    const changed: string[] = [];
    const show = (count: number): void => {
      progress.value = progressText(count, names.length);
    };
    show(0);
    await readFleet().catch(() => undefined); // what runs is known as of now; without an answer, each block fails with its own sentence
    const failed = await toEach(names, async (name) => (await act(name)) && changed.push(name), show);
    progress.value = undefined;
    const undo = back !== undefined && changed.length > 0 ? { label: WORDS.undo, run: () => void batch(changed, back) } : undefined;
    tell(batchText(done, names.length - failed.length, failed), undo);
    const gone = new Set(names);
    select([...[...selected.peek()].filter((name) => !gone.has(name)), ...failed.map((text) => text.split(':')[0] ?? '')]);
  };
  last = last.then(run);
  return last;
}

function tagged(tag: string, isAdded: boolean): Deed {
  return { done: taggedText(tag, isAdded), act: (name) => setTag(name, tag, isAdded) };
}

const START: Deed = {
  done: fleetText.started,
  async act(name) {
    const ran = isWanted(name);
    await startBlock(name);
    return !ran;
  },
};

const STOP: Deed = {
  done: fleetText.stopped,
  async act(name) {
    const ran = isWanted(name);
    await stopBlock(name);
    return ran;
  },
};

/** Puts blocks away; the undo lets those run again that ran. */
function archiveAll(names: readonly string[]): Promise<void> {
  const put = new Map<string, { readonly archived: string; readonly starts: boolean }>();
  const away: Deed = {
    done: fleetText.archived,
    async act(name) {
      const starts = isWanted(name);
      const archived = await archiveBlock(name);
      if (archived !== undefined) put.set(name, { archived, starts });
      return archived !== undefined;
    },
  };
  const back: Deed = {
    done: fleetText.restored,
    async act(name) {
      const { archived, starts } = put.get(name) ?? { archived: name, starts: false };
      await restoreBlock(archived, { starts });
      return true;
    },
  };
  return batch(names, away, back);
}

/** What is done to all selected blocks; `names` are those in the list. */
export function Selection({ names }: { readonly names: readonly string[] }) {
  const all = [...selected.value];
  const tag = (): void => {
    showDialog((close) => <TagDialog names={all} close={close} run={(word, isAdded) => void batch(all, tagged(word, isAdded), tagged(word, !isAdded))} />);
  };
  return (
    <div class="strip selection" role="group" aria-label={selectedText(all.length)}>
      {all.length > 0 && <span class="b">{selectedText(all.length)}</span>}
      {progress.value !== undefined && (
        <span class="num" role="status">
          {progress}
        </span>
      )}
      <span class="grow" />
      {all.length > 0 && (
        <>
          <Button label={fleetText.startAll} small run={() => batch(all, START, STOP)} />
          <Button label={fleetText.stopAll} small run={() => batch(all, STOP, START)} />
          <Button label={fleetText.tagAll} small run={tag} />
          <Button label={fleetText.archiveAll} small run={() => archiveAll(all)} />
          {all.length < names.length && <Button label={selectAllText(names.length)} small kind="quiet" run={() => select(names)} />}
          <Button
            label={fleetText.clear}
            small
            kind="quiet"
            run={() => {
              select([]);
              choosing.value = false;
            }}
          />
        </>
      )}
    </div>
  );
}
