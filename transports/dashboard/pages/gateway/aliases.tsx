// The names of models: aliases with what they mean now, the provider of all other names, and what any name means.
import { useState } from 'preact/hooks';
import type { ModelNames } from '../../../../core/types.ts';
import { tell } from '../../base/toast.ts';
import type { Connection } from '../../data/connections.ts';
import {
  type Alias,
  FAILURES,
  type Failure,
  removeAlias,
  resolveName,
  setAlias,
  setDefaultProvider,
  type TypedTarget,
  targetsOf,
  USUAL,
} from '../../data/programs.ts';
import { FormDialog, showDialog } from '../../parts/dialog.tsx';
import { Field, TextField } from '../../parts/fields.tsx';
import { Mark } from '../../parts/mark.tsx';
import { ModelRows } from '../../parts/model-rows.tsx';
import { Button, Problem } from '../../parts/widgets.tsx';
import { aliasRemovedText, aliasSavedText, aliasTitle, FAILURE_NAMES, meaningText, programsText, rowText, shareOfText } from '../../text/index.ts';

const MOST_TARGETS = 8;

interface NamesProps {
  readonly names: ModelNames;
  readonly connections: readonly Connection[];
  reload(): Promise<void>;
}

/** The lists. */
export function Names({ names, connections, reload }: NamesProps) {
  const open = (alias?: Alias): void => {
    showDialog((close) => <AliasForm alias={alias} close={close} reload={reload} />);
  };
  return (
    <section class="stack programs">
      <header class="row wrap">
        <h2 class="grow">{programsText.names}</h2>
        <Button label={programsText.newAlias} icon="plus" run={() => open()} />
      </header>
      <p class="t2">{programsText.namesLead}</p>
      {names.aliases.length === 0 ? (
        <p class="t2">{programsText.noAliases}</p>
      ) : (
        <ul class="providers">
          {names.aliases.map((alias) => (
            <AliasRow key={alias.name} alias={alias} connections={connections} change={() => open(alias)} reload={reload} />
          ))}
        </ul>
      )}
      <Default names={names} connections={connections} reload={reload} />
      <Meaning />
    </section>
  );
}

interface AliasRowProps {
  readonly alias: Alias;
  readonly connections: readonly Connection[];
  change(): void;
  reload(): Promise<void>;
}

function AliasRow({ alias, connections, change, reload }: AliasRowProps) {
  const { name, targets, weights = [] } = alias;
  const isReady = (target: string): boolean => connections.find((each) => target.startsWith(`${each.name}/`))?.ready === true;
  const remove = async (): Promise<void> => {
    await removeAlias(name);
    tell(aliasRemovedText(name), { label: programsText.restore, run: () => void setAlias(name, bodyOf(alias)).then(reload) });
    await reload();
  };
  const first = targets.find(isReady);
  return (
    <li class="program">
      <span>
        <b class="b break">{name}</b>
        <span class={`sm ${first === undefined ? 'warn' : 't2'}`}>
          {first === undefined
            ? programsText.nobody
            : `${programsText.answersNow}: ${weights.some((weight) => weight !== null) ? programsText.byShare : first}`}
        </span>
      </span>
      <ol>
        {targets.map((target, index) => (
          <li key={target} class="break">
            <Mark state={isReady(target) ? 'idle' : 'stopped'} named={false} /> {target}
            {shareOfText(weights[index])}
            {!isReady(target) && <span class="t2"> · {programsText.notReady}</span>}
          </li>
        ))}
      </ol>
      <span class="row end">
        <Button label={programsText.change} small run={change} />
        <Button label={programsText.remove} small kind="quiet" run={remove} />
      </span>
    </li>
  );
}

/** As it is sent. */
function bodyOf({ targets, weights = [], on }: Alias): Parameters<typeof setAlias>[1] {
  const sent = targets.map((model, index) => (weights[index] == null ? model : { model, weight: weights[index] }));
  return { targets: sent, ...(on !== undefined && { on }) };
}

interface AliasFormProps {
  readonly alias: Alias | undefined;
  readonly close: () => void;
  reload(): Promise<void>;
}

const NO_TARGET: TypedTarget = { model: '', weight: '' };

function AliasForm({ alias, close, reload }: AliasFormProps) {
  const [name, setName] = useState(alias?.name ?? '');
  const [rows, setRows] = useState<readonly TypedTarget[]>(
    alias?.targets.map((model, index) => ({ model, weight: String(alias.weights?.[index] ?? '') })) ?? [NO_TARGET],
  );
  const [isSpread, setSpread] = useState(alias?.weights !== undefined);
  const [on, setOn] = useState<readonly Failure[]>(alias?.on ?? USUAL);
  const [isTried, setTried] = useState(false);
  const targets = targetsOf(isSpread ? rows : rows.map(({ model }) => ({ model, weight: '' })));
  const act = async (): Promise<void> => {
    setTried(true);
    if (name === '' || targets === undefined) return;
    const isUsual = on.length === USUAL.length && USUAL.every((each) => on.includes(each));
    await setAlias(name, { targets, ...(!isUsual && { on: [...on] }) });
    tell(
      aliasSavedText(
        name,
        targets.map((each) => (typeof each === 'string' ? each : each.model)),
      ),
    );
    close();
    await reload();
  };
  return (
    <FormDialog title={aliasTitle(alias?.name)} does={programsText.saveAlias} close={close} act={act}>
      {alias === undefined && (
        <TextField
          label={programsText.alias}
          help={programsText.aliasHelp}
          wrong={isTried && name === '' ? programsText.aliasWrong : undefined}
          value={name}
          set={(text) => setName(text.trim())}
        />
      )}
      <Targets rows={rows} isSpread={isSpread} set={setRows} />
      {isTried && targets === undefined && (
        <p class="bad" role="alert">
          {programsText.targetsWrong}
        </p>
      )}
      {rows.length > 1 && (
        <>
          <label class="check">
            <input type="checkbox" checked={isSpread} onChange={(event) => setSpread(event.currentTarget.checked)} />
            {programsText.spread}
          </label>
          <Failures on={on} set={setOn} />
        </>
      )}
    </FormDialog>
  );
}

interface TargetsProps {
  readonly rows: readonly TypedTarget[];
  readonly isSpread: boolean;
  set(rows: readonly TypedTarget[]): void;
}

function Targets({ rows, isSpread, set }: TargetsProps) {
  return (
    <ModelRows
      label={programsText.targets}
      rows={rows}
      most={MOST_TARGETS}
      empty={NO_TARGET}
      nameOf={({ model }) => model}
      named={(row, model) => ({ ...row, model })}
      beside={(row, index, put) =>
        isSpread && (
          <input
            class="input share"
            inputMode="numeric"
            aria-label={rowText(programsText.share, index)}
            placeholder={programsText.share}
            value={row.weight}
            onInput={(event) => put({ ...row, weight: event.currentTarget.value })}
          />
        )
      }
      set={set}
    />
  );
}

function Failures({ on, set }: { readonly on: readonly Failure[]; set(on: readonly Failure[]): void }) {
  return (
    <fieldset class="stack program-failures">
      <legend>{programsText.on}</legend>
      {FAILURES.map((each) => (
        <label key={each} class="check">
          <input
            type="checkbox"
            checked={on.includes(each)}
            onChange={(event) => set(event.currentTarget.checked ? [...on, each] : on.filter((other) => other !== each))}
          />
          {FAILURE_NAMES[each]}
        </label>
      ))}
    </fieldset>
  );
}

function Default({ names: { defaultProvider }, connections, reload }: NamesProps) {
  const choose = async (name: string): Promise<void> => {
    await setDefaultProvider(name === '' ? null : name);
    await reload();
  };
  const [failure, setFailure] = useState<unknown>();
  return (
    <div class="narrow">
      <Field label={programsText.defaultProvider}>
        {(props) => (
          <select {...props} class="input" value={defaultProvider ?? ''} onChange={(event) => void choose(event.currentTarget.value).catch(setFailure)}>
            <option value="">{programsText.refused}</option>
            {connections.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {failure !== undefined && <Problem error={failure} />}
    </div>
  );
}

/** Any name, and what it would lead to at this moment. */
function Meaning() {
  const [name, setName] = useState('');
  const [answer, setAnswer] = useState<string>();
  const [failure, setFailure] = useState<unknown>();
  const look = async (): Promise<void> => {
    setFailure(undefined);
    setAnswer(undefined);
    if (name === '') return;
    try {
      const { by, targets } = await resolveName(name);
      setAnswer(
        meaningText(
          name,
          by,
          targets.map(({ adapter, model }) => `${adapter}/${model}`),
        ),
      );
    } catch (error) {
      setFailure(error);
    }
  };
  return (
    <form
      class="narrow stack"
      onSubmit={(event) => {
        event.preventDefault();
        void look();
      }}
    >
      <Field label={programsText.meaning} help={programsText.meaningHelp}>
        {(props) => (
          <span class="row">
            <input
              {...props}
              class="input grow"
              autocomplete="off"
              spellcheck={false}
              value={name}
              onInput={(event) => setName(event.currentTarget.value.trim())}
            />
            <Button label={programsText.look} submit />
          </span>
        )}
      </Field>
      <p role="status" class="break">
        {answer}
      </p>
      {failure !== undefined && <Problem error={failure} />}
    </form>
  );
}
