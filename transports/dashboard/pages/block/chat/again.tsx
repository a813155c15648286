// Asking the last message again, with another text or another model, and the versions that this leaves.
import { useState } from 'preact/hooks';
import type { ChatEntry } from '../../../../../core/types.ts';
import { announce } from '../../../base/announce.ts';
import { useKeys } from '../../../base/keys.ts';
import { tell } from '../../../base/toast.ts';
import { askAgain } from '../../../data/blocks.ts';
import type { Line, Versions } from '../../../data/entries.ts';
import type { OpenBlock } from '../../../data/open-block.ts';
import { FormDialog, showDialog } from '../../../parts/dialog.tsx';
import { Field } from '../../../parts/fields.tsx';
import { ModelPicker } from '../../../parts/model-picker.tsx';
import { Button } from '../../../parts/widgets.tsx';
import { chatText, versionShownText, versionText } from '../../../text/block.ts';

/** The last message, which can be asked again. */
export interface Askable {
  readonly open: OpenBlock;
  /** Of its newest version. */
  readonly id: string;
  /** The version that is shown, whose text is asked. */
  readonly shown: ChatEntry;
  /** To be called when it is asked: the end of the chat is shown then. */
  asked(): void;
}

/** Undefined while the last message waits, or is answered or sent. */
export function askableOf(open: OpenBlock, lines: readonly Line[], asked: () => void): Askable | undefined {
  if (lines.some(({ kind }) => kind !== 'entry')) return undefined;
  const last = lines.findLast((line) => line.kind === 'entry' && line.entry.role === 'user');
  if (last?.kind !== 'entry') return undefined;
  const { entry, versions } = last;
  const id = versions?.ids.at(-1) ?? entry.id;
  return open.entries.value.get(id)?.status === 'processing' ? undefined : { open, id, shown: entry, asked };
}

/** Asks as it stands. Rejects with an ApiError. */
export async function askAsIs(askable: Askable): Promise<void> {
  await send(askable, askable.shown.content, '', crypto.randomUUID());
}

async function send({ open, id, asked }: Askable, text: string, model: string, clientId: string): Promise<void> {
  const isSame = open.entries.peek().get(id)?.content === text;
  await askAgain(open.name, id, { clientId, ...(!isSame && { message: text }), ...(model !== '' && { model }) });
  open.want();
  asked();
}

/** Shows the dialog; with `isForModel`, the focus is in the field of the model. */
export function editAgain(askable: Askable, isForModel = false): void {
  showDialog((close) => <Again askable={askable} isForModel={isForModel} close={close} />);
}

function Again({ askable, isForModel, close }: { readonly askable: Askable; readonly isForModel: boolean; readonly close: () => void }) {
  const [text, setText] = useState(askable.shown.content);
  const [model, setModel] = useState('');
  const [isTried, setTried] = useState(false);
  const [clientId] = useState(() => crypto.randomUUID());
  const act = async (): Promise<void> => {
    setTried(true);
    if (text.trim() === '') return;
    await send(askable, text, model, clientId);
    close();
  };
  return (
    <FormDialog title={chatText.askAgain} text={chatText.keptVersions} does={chatText.askAgain} close={close} act={act}>
      <Field label={chatText.question} wrong={isTried && text.trim() === '' ? chatText.blank : undefined}>
        {(props) => (
          <textarea
            {...props}
            class="input again-text"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
            }}
          />
        )}
      </Field>
      <Field label={chatText.otherModel} help={chatText.otherModelHelp}>
        {(props) => <ModelPicker props={{ ...props, ...(isForModel && { autofocus: true }) }} value={model} set={setModel} />}
      </Field>
    </FormDialog>
  );
}

/** `E` edits the last message, where there is one. */
export function useAgainKey(askable: Askable | undefined, isEmpty: boolean): void {
  const run = (): void => {
    if (askable === undefined) tell(chatText.noAgain);
    else editAgain(askable);
  };
  useKeys(isEmpty ? [] : [{ keys: 'e', does: chatText.editLast, run }], [askable?.id, askable?.shown, isEmpty]);
}

/** Leads through the versions of a message, around its ends. */
export function VersionSwitch({ open, versions: { ids, at, isSeen } }: { readonly open: OpenBlock; readonly versions: Versions }) {
  const step = (by: number) => (): void => {
    const to = (at + by + ids.length) % ids.length;
    open.showVersion(ids[to] ?? '');
    announce(versionShownText(to + 1, ids.length));
  };
  return (
    <span class="row versions" role="group" aria-label={chatText.versions}>
      <Button label={chatText.versionBefore} icon="back" iconOnly kind="quiet" small run={step(-1)} />
      <span class="num">{versionText(at + 1, ids.length)}</span>
      <Button label={chatText.versionAfter} icon="next" iconOnly kind="quiet" small run={step(1)} />
      {!isSeen && <span class="chip">{chatText.unseen}</span>}
    </span>
  );
}
