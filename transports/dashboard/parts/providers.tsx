// The providers: whether each can be used, where its key is, and a field to set one.
//
// write-only: a typed key goes from its field to the server and is in nothing else of the page.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { tell } from '../base/toast.ts';
import type { Connection } from '../data/connections.ts';
import { type Provider, removeCredential, storeCredential } from '../data/credentials.ts';
import { connectionsText, keyGoesText, providerText, removedKeyText, settingsText, storedText, WORDS } from '../text/index.ts';
import { Field } from './fields.tsx';
import { Mark } from './mark.tsx';
import { StoreForm } from './store-form.tsx';
import { Button } from './widgets.tsx';

interface ProvidersProps {
  readonly list: readonly Provider[];
  reload(): Promise<void>;
  /** The provider whose field is shown at first. */
  readonly open?: string | undefined;
  /** A provider is the connection of its own name. */
  readonly connections?: readonly Connection[] | undefined;
  /** Draws the keys of a provider that has any. */
  keysOf?(connection: Connection): ComponentChildren;
}

/** The list. */
export function Providers({ list, reload, open, connections = [], keysOf }: ProvidersProps) {
  const [shown, show] = useState<string | undefined>(open);
  return (
    <ul class="providers">
      {list.map((provider) => {
        const connection = connections.find(({ name, keys }) => name === provider.id && keys.length > 0);
        return (
          <li key={provider.id}>
            <div class="provider">
              <Mark state={markOf(provider)} named={false} />
              <b class="b">{provider.displayName}</b>
              <span class="t2 break" title={provider.detail}>
                {providerText(provider)}
              </span>
              <Actions provider={provider} keys={connection?.keys.length ?? 0} shown={shown} show={show} reload={reload} />
            </div>
            {connection !== undefined && shown === keysId(provider.id) && <div class="unfolded">{keysOf?.(connection)}</div>}
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
        );
      })}
    </ul>
  );
}

/** What is shown while the keys of a provider are. */
function keysId(id: string): string {
  return `${id} keys`;
}

function markOf({ ready, problem }: Provider): string {
  if (ready) return 'idle';
  return problem === 'unchecked' ? 'unconfigured' : 'stopped';
}

interface ActionsProps {
  readonly provider: Provider;
  /** How many it has. Of several, each is changed on its own. */
  readonly keys: number;
  readonly shown: string | undefined;
  show(id: string | undefined): void;
  reload(): Promise<void>;
}

function Actions({ provider: { id, displayName, credential, authRequired, ready }, keys, shown, show, reload }: ActionsProps) {
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
      {keys > 0 && <Toggle label={connectionsText.keysOf} id={keysId(id)} shown={shown} show={show} />}
      {credential?.source !== 'env' && keys < 2 && <Toggle label={label} id={id} shown={shown} show={show} />}
    </span>
  );
}

function Toggle({ label, id, shown, show }: Pick<ActionsProps, 'shown' | 'show'> & { readonly label: string; readonly id: string }) {
  const isOpen = shown === id;
  return <Button label={isOpen ? WORDS.close : label} small {...(isOpen && { kind: 'quiet' as const })} run={() => show(isOpen ? undefined : id)} />;
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
