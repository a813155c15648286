// What a person types to add a connection, and to change where one is.
//
// write-only: a typed key goes from its field to the server and is in nothing else of the page.
import type { RefObject } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { tell } from '../../base/toast.ts';
import { type Connection, changeOf, entryOf, faultsOf, type NewConnection, type Preset, readPresets, storeConnection } from '../../data/connections.ts';
import { useLoad } from '../../data/load.ts';
import { Field, TextField } from '../../parts/fields.tsx';
import { StoreForm } from '../../parts/store-form.tsx';
import { Problem } from '../../parts/widgets.tsx';
import { connectionsText, presetAddressText, presetKeyText, storedConnectionText } from '../../text/index.ts';

/** The protocols that servers of one's own speak. */
const PROTOCOLS = ['openai', 'anthropic', 'google', 'ollama'];
const NEW: NewConnection = { name: '', preset: '', adapter: 'openai', baseURL: '' };

interface AddProps {
  readonly taken: ReadonlySet<string>;
  readonly cancel: () => void;
  done(): Promise<void>;
}

/** write-only. The name of a service is that of its preset, until another one is typed. */
export function AddConnection({ taken, cancel, done }: AddProps) {
  const { data: presets = [], error } = useLoad(readPresets, []).state.value;
  const [typed, setTyped] = useState(NEW);
  const [isTried, setTried] = useState(false);
  const key = useRef<HTMLInputElement>(null);
  const preset = presets.find(({ name }) => name === typed.preset);
  const faults = faultsOf(typed, preset, taken);
  const nameWrong = faults.name === 'taken' ? connectionsText.nameTaken : faults.name && connectionsText.nameForm;
  const choose = (name: string): void => setTyped({ ...typed, preset: name, ...((typed.name === '' || typed.name === typed.preset) && { name }) });
  const store = async (isUnchecked: boolean): Promise<void> => {
    setTried(true);
    if (Object.keys(faults).length > 0) return;
    await storeConnection(typed.name, entryOf(typed, key.current?.value.trim() ?? ''), isUnchecked);
    tell(storedConnectionText(typed.name));
    await done();
  };
  return (
    <StoreForm store={store} cancel={cancel}>
      {error !== undefined && <Problem error={error} />}
      <Service presets={presets} value={typed.preset} choose={choose} />
      <TextField
        label={connectionsText.name}
        help={connectionsText.nameHelp}
        wrong={isTried || typed.name !== '' ? nameWrong : undefined}
        value={typed.name}
        set={(name) => setTyped({ ...typed, name: name.trim() })}
      />
      {preset === undefined && <Protocol value={typed.adapter} choose={(adapter) => setTyped({ ...typed, adapter })} />}
      <TextField
        label={connectionsText.address}
        help={preset === undefined ? connectionsText.ownAddressHelp : presetAddressText(preset)}
        wrong={isTried && faults.baseURL !== undefined ? connectionsText.addressMissing : undefined}
        value={typed.baseURL}
        set={(baseURL) => setTyped({ ...typed, baseURL: baseURL.trim() })}
      />
      <KeyField label={connectionsText.key} help={preset === undefined ? connectionsText.keyNone : presetKeyText(preset)} field={key} />
    </StoreForm>
  );
}

/** The services whose key this server has come first. */
function Service({ presets, value, choose }: { readonly presets: readonly Preset[]; readonly value: string; choose(name: string): void }) {
  const groups = [
    [connectionsText.keyIsSet, presets.filter(({ isSet }) => isSet)],
    [connectionsText.services, presets.filter(({ isSet, isLocal }) => !isSet && !isLocal)],
    [connectionsText.localServers, presets.filter(({ isSet, isLocal }) => !isSet && isLocal)],
  ] as const;
  return (
    <Field label={connectionsText.service}>
      {(props) => (
        <select {...props} class="input" value={value} onChange={(event) => choose(event.currentTarget.value)}>
          <option value="">{connectionsText.ownServer}</option>
          {groups.map(
            ([title, members]) =>
              members.length > 0 && (
                <optgroup key={title} label={title}>
                  {members.map(({ name }) => (
                    <option key={name} value={name}>
                      {name}
                    </option>
                  ))}
                </optgroup>
              ),
          )}
        </select>
      )}
    </Field>
  );
}

function Protocol({ value, choose }: { readonly value: string; choose(adapter: string): void }) {
  return (
    <Field label={connectionsText.protocol}>
      {(props) => (
        <select {...props} class="input" value={value} onChange={(event) => choose(event.currentTarget.value)}>
          {PROTOCOLS.map((id) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function KeyField({ label, help, field }: { readonly label: string; readonly help: string; readonly field: RefObject<HTMLInputElement | null> }) {
  return (
    <Field label={label} help={help}>
      {(props) => <input {...props} ref={field} class="input" type="password" autocomplete="off" spellcheck={false} />}
    </Field>
  );
}

interface ChangeProps {
  readonly connection: Connection;
  readonly cancel: () => void;
  done(): Promise<void>;
}

/** write-only. */
export function ChangeConnection({ connection, cancel, done }: ChangeProps) {
  const { name, baseURL, keys } = connection;
  const [typed, setTyped] = useState<string>();
  const address = typed ?? baseURL ?? '';
  const key = useRef<HTMLInputElement>(null);
  const store = async (isUnchecked: boolean): Promise<void> => {
    const change = changeOf(connection, address, key.current?.value.trim() ?? '');
    if (change === undefined) return key.current?.focus();
    await storeConnection(name, change, isUnchecked);
    await done();
  };
  return (
    <StoreForm store={store} cancel={cancel}>
      <TextField label={`${name}: ${connectionsText.address}`} value={address} set={(text) => setTyped(text.trim())} />
      <KeyField label={`${name}: ${connectionsText.key}`} help={keys.length > 1 ? connectionsText.keysReplaced : connectionsText.keyReplaced} field={key} />
    </StoreForm>
  );
}
