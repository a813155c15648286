// The dialog that adds a tag to the selected blocks, or takes it away.
import { useState } from 'preact/hooks';
import { rows } from '../../data/fleet.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/fields.tsx';
import { Button } from '../../parts/widgets.tsx';
import { fleetText, tagCountText, tagTitle, WORDS } from '../../text/index.ts';

/** As the server's own rule. */
const MAX_CHARACTERS = 256;

interface TagDialogProps {
  readonly names: readonly string[];
  close(): void;
  run(tag: string, isWanted: boolean): void;
}

/** The tags that the blocks have are a press away. */
export function TagDialog({ names, close, run }: TagDialogProps) {
  const [text, setText] = useState('');
  const [isTried, setTried] = useState(false);
  const tag = text.trim();
  const tags = tagsOf(names);
  const end = (isWanted: boolean): void => {
    setTried(true);
    if (tag === '') return;
    close();
    run(tag, isWanted);
  };
  return (
    <Dialog
      title={tagTitle(names.length)}
      close={close}
      onSubmit={() => end(true)}
      footer={
        <>
          <Button label={WORDS.cancel} kind="quiet" run={close} />
          <Button label={fleetText.untag} disabled={!tags.some(([each]) => each === tag)} run={() => end(false)} />
          <Button label={fleetText.addTag} kind="primary" submit />
        </>
      }
    >
      <TextField
        label={fleetText.tag}
        help={fleetText.tagHelp}
        wrong={isTried && tag === '' ? fleetText.tagEmpty : undefined}
        value={text}
        set={setText}
        input={{ maxLength: MAX_CHARACTERS }}
      />
      {tags.length > 0 && (
        <div class="stack">
          <p class="sm t2">{fleetText.tagsThere}</p>
          <div class="row wrap">
            {tags.map(([each, count]) => (
              <Button key={each} label={tagCountText(each, count, names.length)} small run={() => setText(each)} />
            ))}
          </div>
        </div>
      )}
    </Dialog>
  );
}

/** The tags of blocks with how many have each, the most frequent first. */
function tagsOf(names: readonly string[]): readonly (readonly [tag: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const name of names) for (const tag of rows.peek().get(name)?.peek().config.tags ?? []) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].sort(([one, some], [other, more]) => more - some || one.localeCompare(other)).slice(0, MAX_TAGS);
}

/** More would hide the buttons. */
const MAX_TAGS = 20;
