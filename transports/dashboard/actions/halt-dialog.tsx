// The dialog that halts all model calls.
import { useState } from 'preact/hooks';
import { setHalt } from '../data/halt.ts';
import { Dialog, showDialog } from '../parts/dialog.tsx';
import { Button, Field, Problem } from '../parts/widgets.tsx';
import { haltDialog, WORDS } from '../text/index.ts';

/** Shows the dialog. */
export function askHalt(): void {
  showDialog((close) => <HaltDialog close={close} />);
}

function HaltDialog({ close }: { readonly close: () => void }) {
  const [reason, setReason] = useState('');
  const [failure, setFailure] = useState<unknown>();
  const submit = async (): Promise<void> => {
    try {
      await setHalt(reason);
      close();
    } catch (error) {
      setFailure(error);
    }
  };
  return (
    <Dialog
      title={haltDialog.title}
      close={close}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button label={WORDS.cancel} kind="quiet" run={close} />
          <Button label={haltDialog.submit} kind="danger" submit />
        </>
      }
    >
      <p>{haltDialog.text}</p>
      {failure !== undefined && <Problem error={failure} />}
      <Field label={haltDialog.reason}>
        {(props) => <input {...props} class="input" value={reason} maxLength={500} onInput={(event) => setReason(event.currentTarget.value)} />}
      </Field>
    </Dialog>
  );
}
