// A form whose content is checked with its server before it is stored; what the server refuses can be stored as it is.
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { settingsText, WORDS } from '../text/index.ts';
import { Button, Problem } from './widgets.tsx';

interface StoreFormProps {
  /** Rejects if it can't be stored. */
  store(isUnchecked: boolean): Promise<void>;
  /** Closes the form; without it, something else does. */
  cancel?: (() => void) | undefined;
  readonly children: ComponentChildren;
}

/** Stores once at a time: a second press of the button does nothing until the first has ended. */
export function StoreForm({ store, cancel, children }: StoreFormProps) {
  const [failure, setFailure] = useState<unknown>();
  const isBusy = useRef(false);
  const run = async (isUnchecked: boolean): Promise<void> => {
    if (isBusy.current) return;
    isBusy.current = true;
    try {
      await store(isUnchecked);
    } catch (error) {
      setFailure(error);
    } finally {
      isBusy.current = false;
    }
  };
  return (
    <form
      class="key-form"
      onSubmit={(event) => {
        event.preventDefault();
        void run(false);
      }}
    >
      {children}
      {failure !== undefined && (
        <Problem error={failure}>
          <Button label={settingsText.storeUnchecked} small run={() => run(true)} />
        </Problem>
      )}
      <div class="row">
        <Button label={settingsText.store} kind="primary" submit />
        {cancel !== undefined && <Button label={WORDS.cancel} kind="quiet" run={cancel} />}
      </div>
    </form>
  );
}
