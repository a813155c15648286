// The providers: whether each can be used, where its key is, and a field to set one.
//
// write-only: a typed key goes from its field to the server and is in nothing else of the page.
import { useEffect, useRef, useState } from 'preact/hooks';
import { tell } from '../base/toast.ts';
import { type Provider, removeCredential, storeCredential } from '../data/credentials.ts';
import { keyGoesText, providerText, removedKeyText, settingsText, storedText, WORDS } from '../text/index.ts';
import { Field } from './fields.tsx';
import { Mark } from './mark.tsx';
import { StoreForm } from './store-form.tsx';
import { Button } from './widgets.tsx';

/** The list; `open` is the provider whose field is shown at first. */
export function Providers({ list, reload, open }: { readonly list: readonly Provider[]; reload(): Promise<void>; readonly open?: string | undefined }) {
  const [shown, show] = useState<string | undefined>(open);
  return (
    <ul class="providers">
      {list.map((provider) => (
        <li key={provider.id}>
          <div class="provider">
            <Mark state={markOf(provider)} named={false} />
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

function markOf({ ready, problem }: Provider): string {
  if (ready) return 'idle';
  return problem === 'unchecked' ? 'unconfigured' : 'stopped';
}

interface ActionsProps {
  readonly provider: Provider;
  readonly isOpen: boolean;
  show(id: string | undefined): void;
  reload(): Promise<void>;
}

function Actions({ provider: { id, displayName, credential, authRequired, ready }, isOpen, show, reload }: ActionsProps) {
  const isStored = credential?.source === 'auth.json';
  const keyLabel = isStored ? settingsText.replaceKey : settingsText.setKey;
  const label = authRequired ? keyLabel : settingsText.address;
  return (
    <span class="row">
      {!ready && !authRequired && <Button label={settingsText.lookAgain} small run={reload} />}
      {isStored && (
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

/** write-only. */
function KeyForm({ provider: { id, displayName, authRequired, credential }, done }: { readonly provider: Provider; done(): Promise<void> }) {
  const address = useRef<HTMLInputElement>(null);
  const key = useRef<HTMLInputElement>(null);
  const hasKey = authRequired || credential?.source === 'auth.json';
  const stored = credential?.baseURL ?? undefined;
  useEffect(() => (address.current ?? key.current)?.focus(), []);
  const store = async (isUnchecked: boolean): Promise<void> => {
    const typed = { baseURL: address.current?.value.trim() ?? '', apiKey: key.current?.value.trim() ?? '' };
    const fields = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== ''));
    if (Object.keys(fields).length === 0) return (address.current ?? key.current)?.focus();
    await storeCredential(id, fields, isUnchecked);
    if (key.current !== null) key.current.value = '';
    tell(storedText(displayName));
    await done();
  };
  return (
    <StoreForm store={store}>
      {!authRequired && (
        <Field label={`${displayName}: ${settingsText.baseURL}`} help={settingsText.baseURLHelp}>
          {(props) => <input {...props} ref={address} class="input" type="text" autocomplete="off" spellcheck={false} defaultValue={stored ?? ''} />}
        </Field>
      )}
      {hasKey && (
        <Field
          label={`${displayName}: ${settingsText.key}`}
          help={authRequired ? settingsText.keyHelp : settingsText.keyAgainHelp}
          fact={authRequired && stored !== undefined ? keyGoesText(stored) : undefined}
        >
          {(props) => <input {...props} ref={key} class="input" type="password" autocomplete="off" spellcheck={false} />}
        </Field>
      )}
    </StoreForm>
  );
}
