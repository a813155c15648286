// The blocks that are selected, and what is done to all of them: with a count, progress, and what failed and why.
import { signal } from '@preact/signals';
import { batchText, fleetText, progressText, selectAllText, selectedText, taggedText, WORDS } from '../../app/text.ts';
import { tell } from '../../app/toast.ts';
import { archiveBlock, setTag, startBlock, stopBlock, toEach } from '../../data/blocks.ts';
import { Button } from '../../parts/bits.tsx';
import { showDialog } from '../../parts/dialog.tsx';
import { TagDialog } from './tag.tsx';

/** Names that are selected. */
export const selected = signal<ReadonlySet<string>>(new Set());
/** True while a tap selects a block and does not open it: for who has no keys. */
export const choosing = signal(false);
/** How far a batch is, in words; undefined while there is none. */
export const progress = signal<string | undefined>(undefined);

function select(names: readonly string[]): void {
  selected.value = new Set(names);
}

/** The batch under way, or the last one. */
let last: Promise<void> = Promise.resolve();

/** Does the same to many blocks, after the batch before, and tells the outcome. What failed stays selected. */
function batch(names: readonly string[], done: string, act: (name: string) => Promise<unknown>, undo?: () => (() => void) | undefined): Promise<void> {
  const run = async (): Promise<void> => {
    const show = (count: number): void => {
      progress.value = progressText(count, names.length);
    };
    show(0);
    const failed = await toEach(names, act, show);
    progress.value = undefined;
    const back = undo?.();
    tell(batchText(done, names.length - failed.length, failed), back && { label: WORDS.undo, run: back });
    const gone = new Set(names);
    select([...[...selected.peek()].filter((name) => !gone.has(name)), ...failed.map((text) => text.split(':')[0] ?? '')]);
  };
  last = last.then(run);
  return last;
}

/** Adds a tag to blocks or takes it away. The undo is for those that it has changed. */
function tagAll(names: readonly string[], tag: string, isWanted: boolean): void {
  const changed: string[] = [];
  const act = async (name: string): Promise<void> => {
    if (await setTag(name, tag, isWanted)) changed.push(name);
  };
  const back = (): void => void batch(changed, taggedText(tag, !isWanted), (name) => setTag(name, tag, !isWanted));
  void batch(names, taggedText(tag, isWanted), act, () => (changed.length === 0 ? undefined : back));
}

/** What is done to all selected blocks; `names` are those in the list. */
export function Selection({ names }: { readonly names: readonly string[] }) {
  const all = [...selected.value];
  const each = (done: string, act: (name: string) => Promise<unknown>) => () => batch(all, done, act);
  const tag = (): void => {
    showDialog((close) => <TagDialog names={all} close={close} run={(word, isWanted) => tagAll(all, word, isWanted)} />);
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
          <Button label={fleetText.startAll} small run={each(fleetText.started, startBlock)} />
          <Button label={fleetText.stopAll} small run={each(fleetText.stopped, stopBlock)} />
          <Button label={fleetText.tagAll} small run={tag} />
          <Button label={fleetText.archiveAll} small run={each(fleetText.archived, archiveBlock)} />
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
