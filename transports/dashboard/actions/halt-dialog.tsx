// The dialog that halts all model calls.
import { useState } from 'preact/hooks';
import { setHalt } from '../data/halt.ts';
import { FormDialog, showDialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/fields.tsx';
import { haltDialog } from '../text/index.ts';

/** Shows the dialog. */
export function askHalt(): void {
  showDialog((close) => <HaltDialog close={close} />);
}

function HaltDialog({ close }: { readonly close: () => void }) {
  const [reason, setReason] = useState('');
  const act = async (): Promise<void> => {
    await setHalt(reason);
    close();
  };
  return (
    <FormDialog title={haltDialog.title} text={haltDialog.text} does={haltDialog.submit} kind="danger" close={close} act={act}>
      <TextField label={haltDialog.reason} value={reason} set={setReason} input={{ maxLength: 500, autocomplete: 'on', spellcheck: true }} />
    </FormDialog>
  );
}
