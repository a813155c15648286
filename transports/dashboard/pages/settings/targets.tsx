// The addresses that are told what needs a person.
import { useState } from 'preact/hooks';
import type { NotifyTarget } from '../../../../core/types.ts';
import { tell } from '../../base/toast.ts';
import { useLoad } from '../../data/load.ts';
import { NOTICES, readTargets, removeTarget, setTarget, testTarget } from '../../data/notify.ts';
import { ask, Dialog, FormDialog, showDialog } from '../../parts/dialog.tsx';
import { Field, TextField } from '../../parts/fields.tsx';
import { Button, Copy, Problem } from '../../parts/widgets.tsx';
import { NOTICE_NAMES, notArrivedText, removeTargetText, targetStateText, targetText, WORDS } from '../../text/index.ts';

/** The list, and the way to another one. */
export function Targets() {
  const { state, reload } = useLoad(readTargets, []);
  const { data, error } = state.value;
  return (
    <>
      <h3 class="b">{targetText.title}</h3>
      <p class="t2">{targetText.lead}</p>
      {error !== undefined && <Problem error={error} />}
      {data !== undefined && data.length > 0 && (
        <ul class="providers">
          {data.map((target) => (
            <Row key={target.name} target={target} reload={reload} />
          ))}
        </ul>
      )}
      {data !== undefined && (
        <div>
          <Button label={targetText.add} icon="plus" run={() => showDialog((close) => <Form close={close} reload={reload} />)} />
        </div>
      )}
    </>
  );
}

function Row({ target, reload }: { readonly target: NotifyTarget; reload(): Promise<void> }) {
  const { name, url, events, state, pending, dropped, last } = target;
  const remove = async (): Promise<void> => {
    if (!(await ask({ ...removeTargetText(name), danger: true }))) return;
    await removeTarget(name);
    tell(targetText.removed);
    await reload();
  };
  const test = async (): Promise<void> => {
    const { delivered, problem, status } = await testTarget(name);
    tell(delivered ? targetText.delivered : notArrivedText(problem, status));
  };
  return (
    <li class="row wrap pad">
      <b class="b break">{name}</b>
      <span class="t2 break">{url}</span>
      <span class="sm t2 grow">
        {events.map((event) => NOTICE_NAMES[event] ?? event).join(', ')}
        {'. '}
        {state === 'off' ? <span class="warn">{targetText.off}</span> : targetStateText(pending, dropped, last?.status)}
      </span>
      <Button label={targetText.test} small run={test} />
      <Button label={targetText.remove} icon="trash" iconOnly small kind="quiet" run={remove} />
    </li>
  );
}

/** The secret is in one answer alone. */
function showSecret(secret: string): void {
  showDialog((close) => (
    <Dialog title={targetText.secretTitle} close={close} staysOpen footer={<Button label={WORDS.close} run={close} />}>
      <p>{targetText.secretText}</p>
      <p class="mono break">{secret}</p>
      <Copy text={secret} />
    </Dialog>
  ));
}

function Form({ close, reload }: { readonly close: () => void; reload(): Promise<void> }) {
  const [name, setName] = useState('');
  const [url, setURL] = useState('');
  const [events, setEvents] = useState<readonly NotifyTarget['events'][number][]>(NOTICES.slice(0, 3));
  const [blocks, setBlocks] = useState('');
  const [links, setLinks] = useState(false);
  const [publicURL, setPublic] = useState(location.origin);
  const [isTried, setTried] = useState(false);
  const isNamed = /^[a-z0-9][a-z0-9-]{0,31}$/.test(name);
  const act = async (): Promise<void> => {
    setTried(true);
    if (!isNamed) return;
    const list = blocks.split('\n').filter((line) => line.trim() !== '');
    const secret = await setTarget(name, { url: url.trim(), events, links, publicURL: publicURL.trim(), ...(list.length > 0 && { blocks: list }) });
    close();
    if (secret !== undefined) showSecret(secret);
    await reload();
  };
  return (
    <FormDialog title={targetText.add} does={targetText.save} close={close} act={act}>
      <TextField label={targetText.name} wrong={isTried && !isNamed ? targetText.nameWrong : undefined} value={name} set={(text) => setName(text.trim())} />
      <TextField label={targetText.url} help={targetText.urlHelp} value={url} set={setURL} />
      <fieldset class="field">
        <legend class="label">{targetText.events}</legend>
        {NOTICES.map((event) => (
          <label key={event} class="check">
            <input
              type="checkbox"
              checked={events.includes(event)}
              onChange={({ currentTarget }) => setEvents(NOTICES.filter((each) => (each === event ? currentTarget.checked : events.includes(each))))}
            />
            {NOTICE_NAMES[event]}
          </label>
        ))}
      </fieldset>
      <Field label={targetText.blocks} help={targetText.blocksHelp}>
        {(props) => <textarea {...props} class="input" rows={2} value={blocks} onInput={(event) => setBlocks(event.currentTarget.value)} />}
      </Field>
      <TextField label={targetText.publicURL} value={publicURL} set={setPublic} />
      <label class="check">
        <input type="checkbox" checked={links} onChange={(event) => setLinks(event.currentTarget.checked)} />
        {targetText.links}
      </label>
    </FormDialog>
  );
}
