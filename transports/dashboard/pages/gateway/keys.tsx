// The keys of programs: what each has spent of its caps, and the dialogs that make and change one.
//
// shown-once: a new key is in its dialog only, and gone with it.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ModelNames } from '../../../../core/types.ts';
import { now, serverNow } from '../../base/clock.ts';
import { tell } from '../../base/toast.ts';
import {
  COUNT_FIELDS,
  capsOfKey,
  changeLimits,
  createKey,
  curlLine,
  endDebug,
  firstModel,
  limitsOf,
  type NumberField,
  type ProgramKey,
  refusesUnpriced,
  revokeKey,
  type TypedLimits,
  typedLimits,
  USD_FIELDS,
  withAgents,
} from '../../data/programs.ts';
import { ask, Dialog, FormDialog, showDialog } from '../../parts/dialog.tsx';
import { Field, TextField } from '../../parts/fields.tsx';
import { Bar, Button, Copy, Empty, Sum } from '../../parts/widgets.tsx';
import {
  capOfKeyText,
  createdText,
  debugText,
  endText,
  LIMIT_NAMES,
  lastUseText,
  limitsOfText,
  limitsSavedText,
  limitsText,
  programsText,
  revokedText,
  revokeText,
} from '../../text/index.ts';

const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/;
const WARN_AT = 0.8;

interface KeysProps {
  readonly keys: readonly ProgramKey[];
  readonly groups: readonly string[];
  readonly names: ModelNames | undefined;
  reload(): Promise<void>;
}

/** The list. */
export function Keys({ keys, groups, names, reload }: KeysProps) {
  const make = (): void => {
    showDialog((close) => <NewKey groups={groups} names={names} close={close} reload={reload} />);
  };
  return (
    <section class="stack programs">
      <header class="row wrap">
        <h2 class="grow">{programsText.keys}</h2>
        <Button label={programsText.newKey} icon="plus" run={make} />
      </header>
      <p class="t2">{programsText.keysLead}</p>
      {keys.length === 0 ? (
        <Empty text={programsText.noKeys} />
      ) : (
        <ul class="providers">
          {keys.map((key) => (
            <KeyRow key={key.name} of={key} groups={groups} reload={reload} />
          ))}
        </ul>
      )}
    </section>
  );
}

function KeyRow({ of: key, groups, reload }: { readonly of: ProgramKey; readonly groups: readonly string[]; reload(): Promise<void> }) {
  const caps = capsOfKey(key);
  const end = endText(key, now.value);
  const more = limitsText(key);
  const change = (): void => {
    showDialog((close) => <ChangeKey of={key} groups={groups} close={close} reload={reload} />);
  };
  const revoke = async (): Promise<void> => {
    if (!(await ask({ ...revokeText(key.name), danger: true }))) return;
    await revokeKey(key.name);
    tell(revokedText(key.name));
    await reload();
  };
  return (
    <li class="program">
      <span>
        <b class="b break">{key.name}</b>
        <span class="t2 sm">{lastUseText(key, new Date(serverNow()).toISOString().slice(0, '2026-11-22'.length))}</span>
        {end !== '' && <span class={`sm ${Date.parse(key.expiresAt ?? '') <= now.value ? 'bad' : 't2'}`}>{end}</span>}
      </span>
      <span>
        {caps.map((cap) => (
          <span key={cap.field} class="key-cap">
            <span class="num">{capOfKeyText(cap)}</span>
            <Bar part={cap.spent} whole={cap.cap} tone={toneOf(cap.spent, cap.cap)} />
          </span>
        ))}
        {caps.length === 0 && (
          <span class="t2">
            {programsText.noCap} · <Sum usd={key.spentThisMonth.usd} uncounted={key.spentThisMonth.unpricedCalls} /> {programsText.thisMonth}
          </span>
        )}
        {more !== '' && <span class="t2 sm break">{more}</span>}
        {key.debugUntil !== undefined && <span class="warn sm">{debugText(key.debugUntil)}</span>}
      </span>
      <span class="row end wrap">
        {key.debugUntil !== undefined && <Button label={programsText.endDebug} small run={() => endDebug(key.name).then(reload)} />}
        <Button label={programsText.change} small run={change} />
        <Button label={programsText.revoke} small kind="quiet" run={revoke} />
      </span>
    </li>
  );
}

function toneOf(spent: number, cap: number): '' | 'warn' | 'bad' {
  if (spent >= cap) return 'bad';
  return spent >= cap * WARN_AT ? 'warn' : '';
}

interface NewKeyProps {
  readonly groups: readonly string[];
  readonly names: ModelNames | undefined;
  readonly close: () => void;
  reload(): Promise<void>;
}

/** shown-once. */
function NewKey({ groups, names, close, reload }: NewKeyProps) {
  const [name, setName] = useState('');
  const [typed, setTyped] = useState(typedLimits());
  const [wrong, setWrong] = useState<ReadonlySet<string>>(new Set());
  const [made, setMade] = useState<{ readonly key: string; readonly notes: readonly string[]; readonly models: readonly string[] | null | undefined }>();
  const act = async (): Promise<void> => {
    const limits = limitsOf(typed, undefined);
    const faults = new Set([...(limits instanceof Set ? limits : []), ...(NAME.test(name) ? [] : ['name'])]);
    setWrong(faults);
    if (faults.size > 0) return;
    const body = limits as Exclude<typeof limits, ReadonlySet<string>>;
    const { key, warnings = [] } = await createKey({ name, ...body });
    setMade({ key, notes: warnings.map(({ message }) => message), models: body.models });
    await reload();
  };
  if (made !== undefined) {
    const model = names === undefined ? undefined : firstModel(names, made.models);
    return <Made name={name} made={made.key} notes={made.notes} model={model ?? programsText.anyModel} close={close} />;
  }
  return (
    <FormDialog title={programsText.newKey.replace('…', '')} does={programsText.create} close={close} act={act}>
      <TextField
        label={programsText.name}
        help={programsText.nameHelp}
        wrong={wrong.has('name') ? programsText.nameWrong : undefined}
        value={name}
        set={(text) => setName(text.trim())}
        input={{ maxLength: 64 }}
      />
      <Limits typed={typed} wrong={wrong} groups={groups} set={setTyped} />
    </FormDialog>
  );
}

interface MadeProps {
  readonly name: string;
  readonly made: string;
  readonly notes: readonly string[];
  readonly model: string;
  readonly close: () => void;
}

/** What a program needs, to be copied. A press beside the dialog does not close it. */
function Made({ name, made, notes, model, close }: MadeProps) {
  const first = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => first.current?.focus(), []);
  const given = (label: string, text: string, help?: string) => (
    <Field label={label} help={help}>
      {(props) => (
        <span class="row">
          <input
            {...props}
            {...(label === programsText.key && { ref: first })}
            class="input mono grow"
            readOnly
            value={text}
            onFocus={(event) => event.currentTarget.select()}
          />
          <Copy text={text} />
        </span>
      )}
    </Field>
  );
  return (
    <Dialog title={createdText(name)} close={close} staysOpen footer={<Button label={programsText.done} kind="primary" run={close} />}>
      <p>{programsText.shownOnce}</p>
      {given(programsText.key, made)}
      {given(programsText.baseURL, `${location.origin}/v1`, programsText.baseHelp)}
      {given(programsText.tryIt, curlLine(location.origin, made, model))}
      {notes.map((note) => (
        <p key={note} class="warn">
          {note}
        </p>
      ))}
    </Dialog>
  );
}

interface ChangeKeyProps {
  readonly of: ProgramKey;
  readonly groups: readonly string[];
  readonly close: () => void;
  reload(): Promise<void>;
}

/** Sends what was changed, and nothing else. */
function ChangeKey({ of: key, groups, close, reload }: ChangeKeyProps) {
  const [before] = useState(typedLimits(key));
  const [typed, setTyped] = useState(before);
  const [wrong, setWrong] = useState<ReadonlySet<string>>(new Set());
  const act = async (): Promise<void> => {
    const limits = limitsOf(typed, before);
    if (limits instanceof Set) return setWrong(limits);
    await changeLimits(key.name, limits as Exclude<typeof limits, ReadonlySet<string>>);
    tell(limitsSavedText(key.name));
    close();
    await reload();
  };
  return (
    <FormDialog title={limitsOfText(key.name)} does={programsText.save} close={close} act={act}>
      <Limits typed={typed} wrong={wrong} groups={groups} set={setTyped} />
    </FormDialog>
  );
}

interface LimitsProps {
  readonly typed: TypedLimits;
  readonly wrong: ReadonlySet<string>;
  readonly groups: readonly string[];
  set(typed: TypedLimits): void;
}

interface NumberFieldsProps extends Omit<LimitsProps, 'groups'> {
  readonly fields: readonly NumberField[];
  /** What is said of a value that is no number. */
  readonly fault: string;
}

function NumberFields({ fields, fault, typed, wrong, set }: NumberFieldsProps) {
  return fields.map((field) => (
    <TextField
      key={field}
      label={LIMIT_NAMES[field]}
      wrong={wrong.has(field) ? fault : undefined}
      value={typed[field]}
      set={(text) => set({ ...typed, [field]: text })}
      input={{ inputMode: 'decimal' }}
    />
  ));
}

function Limits({ typed, wrong, groups, set }: LimitsProps) {
  return (
    <>
      <fieldset class="limits">
        <legend>{programsText.caps}</legend>
        <NumberFields fields={USD_FIELDS} fault={programsText.wrongAmount} {...{ typed, wrong, set }} />
      </fieldset>
      <p class="t3 sm">{programsText.capsHelp}</p>
      <label class="check" title={programsText.refuseHelp}>
        <input type="checkbox" checked={refusesUnpriced(typed)} onChange={(event) => set({ ...typed, refuses: event.currentTarget.checked })} />
        {programsText.refuse}
      </label>
      <TextField label={programsText.lastDay} value={typed.lastDay} set={(lastDay) => set({ ...typed, lastDay })} input={{ type: 'date' }} />
      <MoreLimits typed={typed} wrong={wrong} groups={groups} set={set} />
    </>
  );
}

function Lines({ label, help, value, set }: { readonly label: string; readonly help: string; readonly value: string; set(value: string): void }) {
  return (
    <Field label={label} help={help}>
      {(props) => <textarea {...props} class="input" rows={3} spellcheck={false} value={value} onInput={(event) => set(event.currentTarget.value)} />}
    </Field>
  );
}

function MoreLimits({ typed, wrong, groups, set }: LimitsProps) {
  const [isUnfolded] = useState(COUNT_FIELDS.some((field) => typed[field] !== '') || typed.models !== '' || typed.blocks !== '' || typed.group !== '');
  return (
    <details open={isUnfolded}>
      <summary>{programsText.more}</summary>
      <div class="stack">
        <div class="limits">
          <NumberFields fields={COUNT_FIELDS} fault={programsText.wrongCount} {...{ typed, wrong, set }} />
        </div>
        <Lines label={programsText.models} help={programsText.modelsHelp} value={typed.models} set={(models) => set({ ...typed, models })} />
        <Lines label={programsText.blocks} help={programsText.blocksHelp} value={typed.blocks} set={(blocks) => set({ ...typed, blocks })} />
        <label class="check">
          <input
            type="checkbox"
            checked={typed.rights.includes('mcp')}
            onChange={(event) => set({ ...typed, rights: withAgents(typed.rights, event.currentTarget.checked) })}
          />
          {programsText.agents}
        </label>
        {(groups.length > 0 || typed.group !== '') && (
          <Field label={programsText.group} help={programsText.groupHelp}>
            {(props) => (
              <select {...props} class="input" value={typed.group} onChange={(event) => set({ ...typed, group: event.currentTarget.value })}>
                <option value="">{programsText.noGroup}</option>
                {[...new Set([...groups, typed.group])]
                  .filter((group) => group !== '')
                  .map((group) => (
                    <option key={group} value={group}>
                      {group}
                    </option>
                  ))}
              </select>
            )}
          </Field>
        )}
      </div>
    </details>
  );
}
