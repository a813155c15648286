// The hooks of a block: doors for other programs, each with a secret that is shown once.
import { useState } from 'preact/hooks';
import type { HookList, HookView } from '../../../../../core/types.ts';
import { tell } from '../../../base/toast.ts';
import { deliveryCommand, removeHook, setHook } from '../../../data/hooks.ts';
import { ask, Dialog, FormDialog, showDialog } from '../../../parts/dialog.tsx';
import { Field, Segments, TextField } from '../../../parts/fields.tsx';
import { Button, Copy } from '../../../parts/widgets.tsx';
import { hookFactsText, hookRemoveTitle, hooksText, STYLES, scheduleText, WORDS } from '../../../text/index.ts';

/** The part of the tab below the schedules. */
export function Hooks({ name, hooks, reload }: { readonly name: string; readonly hooks: HookList['hooks']; reload(): Promise<void> }) {
  const open = (): void => {
    showDialog((close) => <HookForm block={name} close={close} reload={reload} />);
  };
  return (
    <section class="schedules">
      <header class="row wrap">
        <h2 class="grow">{hooksText.title}</h2>
        <Button label={hooksText.add} icon="plus" run={open} />
      </header>
      <p class="sm t2">{hooksText.lead}</p>
      <ul>
        {hooks.map((hook) => (
          <Row key={hook.id} block={name} hook={hook} reload={reload} />
        ))}
      </ul>
    </section>
  );
}

interface RowProps {
  readonly block: string;
  readonly hook: HookView;
  reload(): Promise<void>;
}

function Row({ block, hook, reload }: RowProps) {
  const { id, message, path, hasSecret } = hook;
  const remove = async (): Promise<void> => {
    if (!(await ask({ title: hookRemoveTitle(id), text: hooksText.removeText, does: hooksText.remove, danger: true }))) return;
    await removeHook(block, id);
    tell(hooksText.removed);
    await reload();
  };
  const renew = async (): Promise<void> => {
    const { hook: changed, secret = '' } = await setHook(block, id, { newSecret: true });
    showSecret(changed, secret);
    await reload();
  };
  return (
    <li class="schedule">
      <header class="row wrap">
        <h3 class="break">{id}</h3>
        <span class="grow sm t2 break">{hookFactsText(hook)}</span>
        <Button label={hooksText.newSecret} small run={renew} />
        <Button label={hooksText.remove} icon="trash" iconOnly small kind="quiet" run={remove} />
      </header>
      <p class="break">{message}</p>
      <p class="sm mono break">{path}</p>
      {!hasSecret && <p class="warn sm">{hooksText.noSecret}</p>}
    </li>
  );
}

function showSecret(hook: HookView, secret: string): void {
  const command = deliveryCommand(hook, secret, location.origin);
  showDialog((close) => (
    <Dialog title={hooksText.secretTitle} close={close} staysOpen footer={<Button label={WORDS.close} run={close} />}>
      <p>{hooksText.secretText}</p>
      <p class="mono break">{location.origin + hook.path}</p>
      <p class="mono break">{secret}</p>
      <Copy text={secret} label={hooksText.copySecret} />
      <p class="sm t2">{hooksText.tryIt}</p>
      <pre class="mono sm hook-command">{command}</pre>
      <Copy text={command} label={hooksText.copyCommand} />
    </Dialog>
  ));
}

interface FormProps {
  readonly block: string;
  readonly close: () => void;
  reload(): Promise<void>;
}

function HookForm({ block, close, reload }: FormProps) {
  const [id, setId] = useState('');
  const [style, setStyle] = useState<HookView['style']>('standard');
  const [message, setMessage] = useState('');
  const [isTried, setTried] = useState(false);
  const isId = /^[a-z0-9][a-z0-9-]{0,31}$/.test(id);
  const act = async (): Promise<void> => {
    setTried(true);
    if (!isId || message.trim() === '') return;
    const { hook, secret = '' } = await setHook(block, id, { style, message });
    close();
    showSecret(hook, secret);
    await reload();
  };
  return (
    <FormDialog title={hooksText.newTitle} does={hooksText.save} close={close} act={act}>
      <TextField
        label={scheduleText.id}
        help={scheduleText.idHelp}
        wrong={isTried && !isId ? scheduleText.idWrong : undefined}
        value={id}
        set={(text) => setId(text.trim())}
      />
      <Segments
        label={hooksText.signed}
        options={Object.entries(STYLES) as [HookView['style'], string][]}
        value={style}
        choose={(chosen) => setStyle(chosen)}
      />
      <Field label={hooksText.message} wrong={isTried && message.trim() === '' ? scheduleText.messageWrong : undefined}>
        {(props) => (
          <textarea {...props} class="input" rows={3} maxLength={32_768} value={message} onInput={(event) => setMessage(event.currentTarget.value)} />
        )}
      </Field>
    </FormDialog>
  );
}
