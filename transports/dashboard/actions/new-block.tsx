// The dialog of a new block: its name is checked as it is typed.
import { useState } from 'preact/hooks';
import { navigate } from '../base/address.ts';
import { createBlock, startBlock } from '../data/blocks.ts';
import { rows } from '../data/fleet.ts';
import { blockPath } from '../data/route.ts';
import { FormDialog, showDialog } from '../parts/dialog.tsx';
import { Field, TextField } from '../parts/fields.tsx';
import { ModelPicker } from '../parts/model-picker.tsx';
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
  const wrongModel = model !== '' && !/^[^/\s]+\/\S+$/.test(model) ? fleetText.modelWrong : undefined;
  const act = async (): Promise<void> => {
    setTried(true);
    if (nameFault(name, true) !== undefined || wrongModel !== undefined) return;
    const [provider = '', ...rest] = model.split('/');
    const adapter = model === '' ? {} : { adapter: { provider, model: rest.join('/') } };
    await createBlock(name, { ...(purpose !== '' && { description: purpose }), ...adapter } as Parameters<typeof createBlock>[1]);
    if (starts && model !== '') await startBlock(name);
    close();
    navigate(blockPath(name, 'chat', { write: '1' })); // the next keys write a message instead of commands
  };
  return (
    <FormDialog title={WORDS.newBlock} does={fleetText.create} close={close} act={act}>
      <TextField label={fleetText.newName} help={fleetText.newNameHelp} wrong={nameFault(name, isTried)} value={name} set={setName} input={{ maxLength: 64 }} />
      <TextField label={fleetText.newFor} help={fleetText.newForHelp} value={purpose} set={setPurpose} input={{ spellcheck: true }} />
      <Field label={fleetText.newModel} help={fleetText.newModelHelp} wrong={wrongModel}>
        {(props) => <ModelPicker props={props} value={model} set={setModel} />}
      </Field>
      <label class="check">
        <input type="checkbox" checked={starts} onChange={(event) => setStarts(event.currentTarget.checked)} />
        {fleetText.newStart}
      </label>
    </FormDialog>
  );
}

function nameFault(name: string, isTried: boolean): string | undefined {
  if (name === '' && !isTried) return undefined;
  if (!NAME.test(name)) return fleetText.nameWrong;
  return rows.value.has(name) ? fleetText.nameTaken : undefined;
}
