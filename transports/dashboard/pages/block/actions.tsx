// What the menu of a block does, and what is shown when the block is gone.
import { useState } from 'preact/hooks';
import { navigate } from '../../base/address.ts';
import { tell, tellFailure } from '../../base/toast.ts';
import { archiveBlock, renameBlock, resetBlock, restoreBlock } from '../../data/blocks.ts';
import { isWanted } from '../../data/fleet.ts';
import { blockPath, pathOf } from '../../data/route.ts';
import { drafts } from '../../data/services.ts';
import { pinned } from '../../data/settings.ts';
import { ask, FormDialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/fields.tsx';
import { Empty } from '../../parts/widgets.tsx';
import { archivedText, fleetText, headText, renamedText, resetDoes, resetDoneText, resetText, resetTitle, WORDS } from '../../text/index.ts';

/** Archives a block; the note that tells so can undo it, and then the block runs again if it ran. */
export async function archive(name: string, state: string | undefined): Promise<void> {
  const starts = isWanted(name, state);
  const archived = await archiveBlock(name);
  navigate(pathOf('archive'));
  const restore = (): void => {
    void restoreBlock(archived ?? name, { starts }).then((restored) => navigate(blockPath(restored)), tellFailure);
  };
  tell(archivedText(name), { label: WORDS.undo, run: restore });
}

/** Asks first: what is cleared does not come back. */
export async function reset(name: string, isHard: boolean): Promise<void> {
  const isWanted = await ask({ title: resetTitle(name), text: resetText(isHard), does: resetDoes(name, isHard), danger: true });
  if (!isWanted) return;
  await resetBlock(name, isHard);
  tell(resetDoneText(name));
}

/** The dialog of a new name. */
export function Rename({ name, close }: { readonly name: string; readonly close: () => void }) {
  const [to, setTo] = useState(name);
  const does = headText.rename.replace('…', '');
  const act = async (): Promise<void> => {
    const given = await renameBlock(name, to);
    takeAlong(name, given);
    close();
    navigate(blockPath(given), { replace: true });
    tell(renamedText(given));
  };
  return (
    <FormDialog title={`${does} ${name}`} does={`${does} to ${to}`} close={close} act={act}>
      <TextField label={headText.newName} help={`${headText.newNameHelp} ${fleetText.newNameHelp}`} value={to} set={setTo} />
    </FormDialog>
  );
}

/** What this browser keeps of a block goes with its new name. */
function takeAlong(from: string, to: string): void {
  pinned.value = pinned.peek().map((each) => (each === from ? to : each));
  const { text } = drafts.read(from);
  if (text === '') return;
  drafts.write(to, text);
  drafts.write(from, '');
}

/** A block that was archived, renamed or deleted while its page is open. */
export function Gone({ name }: { readonly name: string }) {
  return (
    <Empty text={headText.gone}>
      <span class="num">{name}</span>
      <div class="row">
        <a class="btn" href={pathOf('archive')}>
          {headText.toArchive}
        </a>
        <a class="btn quiet" href={pathOf('fleet')}>
          {WORDS.toFleet}
        </a>
      </div>
    </Empty>
  );
}
