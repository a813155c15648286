// The providers: whether each can be used, where its key is, and a field to set one.
//
// write-only: a typed key goes from its field to the server and is in nothing else of the page.
import { useEffect, useRef, useState } from 'preact/hooks';
import { providerText, removedKeyText, settingsText, storedText, WORDS } from '../app/text.ts';
import { tell } from '../app/toast.ts';
import { type Provider, removeCredential, storeCredential } from '../data/credentials.ts';
import { Button, Field, Problem } from './bits.tsx';
import { Mark } from './mark.tsx';

/** The list; `open` is the provider whose field is shown at first. */
export function Providers({ list, reload, open }: { readonly list: readonly Provider[]; reload(): Promise<void>; readonly open?: string | undefined }) {
  const [shown, show] = useState<string | undefined>(open);
  return (
    <ul class="providers">
      {list.map((provider) => (
        <li key={provider.id}>
          <div class="provider">
            <Mark state={provider.ready ? 'idle' : provider.problem === 'unchecked' ? 'unconfigured' : 'stopped'} named={false} />
            <b class="b">{provider.displayName}</b>
            <span class="t2 break" title={provider.detail}>
              {providerText(provider)}
            </span>
            <Actions provider={provider} isOpen={shown === provider.id} show={show} reload={reload} />
          </div>
          {shown === provider.id && (
            <KeyForm
              provider={provider}
              done={async () => {
                show(undefined);
                await reload();
              }}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

interface ActionsProps {
  readonly provider: Provider;
  readonly isOpen: boolean;
  show(id: string | undefined): void;
  reload(): Promise<void>;
}

function Actions({ provider: { id, displayName, credential, authRequired, ready }, isOpen, show, reload }: ActionsProps) {
  const isStored = credential?.source === 'auth.json';
  const label = !authRequired ? settingsText.address : isStored ? settingsText.replaceKey : settingsText.setKey;
  return (
    <span class="row">
      {!ready && !authRequired && <Button label={settingsText.lookAgain} small run={reload} />}
      {isStored && authRequired && (
        <Button
          label={settingsText.removeKey}
          small
          kind="quiet"
          run={async () => {
            await removeCredential(id);
            tell(removedKeyText(displayName));
            await reload();
          }}
        />
      )}
      {credential?.source !== 'env' && (
        <Button label={isOpen ? WORDS.close : label} small {...(isOpen && { kind: 'quiet' as const })} run={() => show(isOpen ? undefined : id)} />
      )}
    </span>
  );
}

const SECRET = { type: 'password' } as const;
const PLAIN = { type: 'text' } as const;

/** write-only. */
function KeyForm({ provider: { id, displayName, authRequired, credential }, done }: { readonly provider: Provider; done(): Promise<void> }) {
  const field = useRef<HTMLInputElement>(null);
  const [failure, setFailure] = useState<unknown>();
  useEffect(() => field.current?.focus(), []);
  const store = async (isUnchecked: boolean): Promise<void> => {
    const value = field.current?.value.trim() ?? '';
    if (value === '') return field.current?.focus();
    try {
      await storeCredential(id, { [authRequired ? 'apiKey' : 'baseURL']: value }, isUnchecked);
      if (field.current !== null) field.current.value = '';
      tell(storedText(displayName));
      await done();
    } catch (error) {
      setFailure(error);
    }
  };
  return (
    <form
      class="key-form"
      onSubmit={(event) => {
        event.preventDefault();
        void store(false);
      }}
    >
      <Field
        label={`${displayName}: ${authRequired ? settingsText.key : settingsText.baseURL}`}
        help={authRequired ? settingsText.keyHelp : settingsText.baseURLHelp}
      >
        {(props) => (
          <input
            {...props}
            ref={field}
            class="input"
            {...(authRequired ? SECRET : PLAIN)}
            autocomplete="off"
            spellcheck={false}
            defaultValue={authRequired ? '' : (credential?.baseURL ?? '')}
          />
        )}
      </Field>
      {failure !== undefined && (
        <Problem error={failure}>
          <Button label={settingsText.storeUnchecked} small run={() => store(true)} />
        </Problem>
      )}
      <div class="row">
        <Button label={settingsText.store} kind="primary" submit />
      </div>
    </form>
  );
}
