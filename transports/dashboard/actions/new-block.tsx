// The dialog of a new block: its name is checked as it is typed.
import { useState } from 'preact/hooks';
import { navigate } from '../base/address.ts';
import { createBlock, startBlock } from '../data/blocks.ts';
import { rows } from '../data/fleet.ts';
import { get } from '../data/http.ts';
import { useLoad } from '../data/load.ts';
import { blockPath } from '../data/route.ts';
import { Dialog, showDialog } from '../parts/dialog.tsx';
import { Button, Field, Problem } from '../parts/widgets.tsx';
import { fleetText, WORDS } from '../text/index.ts';

/** As the server's own rule. */
const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** Shows the dialog. */
export function newBlock(): void {
  showDialog((close) => <NewBlock close={close} />);
}

function NewBlock({ close }: { readonly close: () => void }) {
  const [name, setName] = useState('');
  const [purpose, setPurpose] = useState('');
  const [model, setModel] = useState('');
  const [starts, setStarts] = useState(true);
  const [isTried, setTried] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const { state } = useLoad(() => get<{ readonly models: readonly { readonly id: string; readonly adapter: string }[] }>('/api/models'), []);
  const wrongName = nameFault(name, isTried);
  const wrongModel = model !== '' && !/^[^/\s]+\/\S+$/.test(model) ? fleetText.modelWrong : undefined;
  const create = async (): Promise<void> => {
    setTried(true);
    if (nameFault(name, true) !== undefined || wrongModel !== undefined) return;
    try {
      const [provider = '', ...rest] = model.split('/');
      const adapter = model === '' ? {} : { adapter: { provider, model: rest.join('/') } };
      await createBlock(name, { ...(purpose !== '' && { description: purpose }), ...adapter } as Parameters<typeof createBlock>[1]);
      if (starts && model !== '') await startBlock(name);
      close();
      navigate(blockPath(name, 'chat', { write: '1' })); // what is typed next is a message, and no command
    } catch (error) {
      setFailure(error);
    }
  };
  return (
    <Dialog
      title={WORDS.newBlock}
      close={close}
      onSubmit={() => void create()}
      footer={
        <>
          <Button label={WORDS.cancel} kind="quiet" run={close} />
          <Button label={fleetText.create} kind="primary" submit />
        </>
      }
    >
      {failure !== undefined && <Problem error={failure} />}
      <Field label={fleetText.newName} help={fleetText.newNameHelp} wrong={wrongName}>
        {(props) => (
          <input
            {...props}
            class="input"
            value={name}
            autocomplete="off"
            spellcheck={false}
            maxLength={64}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field label={fleetText.newFor} help={fleetText.newForHelp}>
        {(props) => <input {...props} class="input" value={purpose} autocomplete="off" onInput={(event) => setPurpose(event.currentTarget.value)} />}
      </Field>
      <Field label={fleetText.newModel} help={fleetText.newModelHelp} wrong={wrongModel}>
        {(props) => (
          <>
            <input
              {...props}
              class="input"
              list="models"
              value={model}
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => setModel(event.currentTarget.value.trim())}
            />
            <datalist id="models">
              {(state.value.data?.models ?? []).map(({ id, adapter }) => (
                <option key={id} value={id.startsWith(`${adapter}/`) ? id : `${adapter}/${id}`} />
              ))}
            </datalist>
          </>
        )}
      </Field>
      <label class="check">
        <input type="checkbox" checked={starts} onChange={(event) => setStarts(event.currentTarget.checked)} />
        {fleetText.newStart}
      </label>
    </Dialog>
  );
}

function nameFault(name: string, isTried: boolean): string | undefined {
  if (name === '' && !isTried) return undefined;
  if (!NAME.test(name)) return fleetText.nameWrong;
  return rows.value.has(name) ? fleetText.nameTaken : undefined;
}
