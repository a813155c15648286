// The keys of a connection, which are added, put in order, weighed and removed one by one.
//
// write-only: a typed key goes from its field to the server and is in nothing else of the page.
import { useEffect, useRef, useState } from 'preact/hooks';
import {
  addKey,
  type Connection,
  type ConnectionKey,
  changeKey,
  type KeyTerms,
  keyChangeOf,
  keyOf,
  NO_TERMS,
  removeKey,
  termsOf,
} from '../../data/connections.ts';
import { ConnectionKeys } from '../../parts/connection-keys.tsx';
import { ask, FormDialog, showDialog } from '../../parts/dialog.tsx';
import { Field, TextField } from '../../parts/fields.tsx';
import { Menu } from '../../parts/menu.tsx';
import { StoreForm } from '../../parts/store-form.tsx';
import { Button } from '../../parts/widgets.tsx';
import { connectionsText, removeKeyText, settingsText } from '../../text/index.ts';

interface KeysProps {
  readonly connection: Connection;
  reload(): Promise<void>;
}

/** The table of the keys; of several, each has a menu. */
export function Keys({ connection, reload }: KeysProps) {
  const { keys } = connection;
  if (keys.length === 0) return null;
  return (
    <ConnectionKeys connection={connection} {...(keys.length > 1 && { actions: (key) => <KeyMenu connection={connection} of={key} reload={reload} /> })} />
  );
}

/** The keys of a provider, and the way to another one. */
export function KeysWithAnother({ connection, reload }: KeysProps) {
  const [isAdding, setAdding] = useState(false);
  const end = (): void => setAdding(false);
  return (
    <>
      <Keys connection={connection} reload={reload} />
      {isAdding ? (
        <AddKey
          name={connection.name}
          cancel={end}
          done={async () => {
            end();
            await reload();
          }}
        />
      ) : (
        <div class="row pad">
          <Button label={connectionsText.addKey} small run={() => setAdding(true)} />
        </div>
      )}
    </>
  );
}

function KeyMenu({ connection: { name, keys }, of, reload }: KeysProps & { readonly of: ConnectionKey }) {
  const place = keys.indexOf(of) + 1;
  const move = (to: number) => async (): Promise<void> => {
    await changeKey(name, of.label, { place: to });
    await reload();
  };
  const remove = async (): Promise<void> => {
    if (!(await ask({ ...removeKeyText(name, of.label), danger: true }))) return;
    await removeKey(name, of.label);
    await reload();
  };
  const change = (): void => void showDialog((close) => <ChangeKey name={name} of={of} close={close} reload={reload} />);
  return (
    <Menu
      label={`${connectionsText.keyMenu}: ${of.label}`}
      small
      choices={[
        { label: connectionsText.changeKey, run: change },
        ...(place > 1 ? [{ label: connectionsText.up, run: move(place - 1) }] : []),
        ...(place < keys.length ? [{ label: connectionsText.down, run: move(place + 1) }] : []),
        { label: connectionsText.removeKey, icon: 'trash', danger: true, run: remove },
      ]}
    />
  );
}

/** The fields of a key but for the key itself. */
function Terms({ terms, set }: { readonly terms: KeyTerms; set(terms: KeyTerms): void }) {
  return (
    <div class="terms">
      <TextField label={connectionsText.label} help={connectionsText.labelHelp} value={terms.label} set={(label) => set({ ...terms, label: label.trim() })} />
      <TextField
        label={connectionsText.weight}
        help={connectionsText.weightHelp}
        value={terms.weight}
        set={(weight) => set({ ...terms, weight: weight.trim() })}
        input={{ inputMode: 'numeric' }}
      />
      <TextField
        label={connectionsText.maxInFlight}
        help={connectionsText.maxInFlightHelp}
        value={terms.inFlight}
        set={(inFlight) => set({ ...terms, inFlight: inFlight.trim() })}
        input={{ inputMode: 'numeric' }}
      />
    </div>
  );
}

interface AddKeyProps {
  readonly name: string;
  readonly cancel: () => void;
  done(): Promise<void>;
}

/** write-only. */
export function AddKey({ name, cancel, done }: AddKeyProps) {
  const key = useRef<HTMLInputElement>(null);
  const [terms, setTerms] = useState(NO_TERMS);
  useEffect(() => key.current?.focus(), []);
  const store = async (isUnchecked: boolean): Promise<void> => {
    const typed = key.current?.value.trim() ?? '';
    if (typed === '') return key.current?.focus();
    await addKey(name, keyOf(typed, terms), isUnchecked);
    await done();
  };
  return (
    <StoreForm store={store} cancel={cancel}>
      <Field label={`${name}: ${settingsText.key}`} help={settingsText.keyHelp}>
        {(props) => <input {...props} ref={key} class="input" type="password" autocomplete="off" spellcheck={false} />}
      </Field>
      <Terms terms={terms} set={setTerms} />
    </StoreForm>
  );
}

function ChangeKey({ name, of, close, reload }: { readonly name: string; readonly of: ConnectionKey; readonly close: () => void; reload(): Promise<void> }) {
  const { label } = of;
  const [terms, setTerms] = useState(termsOf(of));
  const act = async (): Promise<void> => {
    await changeKey(name, label, keyChangeOf(of, terms));
    close();
    await reload();
  };
  return (
    <FormDialog title={`${name}: ${label}`} does={connectionsText.saveKey} close={close} act={act}>
      <Terms terms={terms} set={setTerms} />
    </FormDialog>
  );
}
