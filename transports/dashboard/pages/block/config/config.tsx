// The configuration of a block: a form made from the contract's schema, and the same as JSON.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { BlockCosts } from '../../../../../core/types.ts';
import { guardLeaving } from '../../../base/address.ts';
import { serverNow } from '../../../base/clock.ts';
import { useKeys } from '../../../base/keys.ts';
import { ownOf } from '../../../base/own.ts';
import { tell } from '../../../base/toast.ts';
import { ApiError } from '../../../data/api-error.ts';
import { capMeaning, isCap } from '../../../data/caps.ts';
import {
  type ConfigField,
  changedPaths,
  fieldsOf,
  isObject,
  isSame,
  parsedJson,
  patchOf,
  type Schema,
  settable,
  unknownFields,
  type Values,
  valueAt,
  withValue,
} from '../../../data/config.ts';
import { useDetails } from '../../../data/details.ts';
import { call, get } from '../../../data/http.ts';
import { useLoad } from '../../../data/load.ts';
import { blockURL } from '../../../data/paths.ts';
import { route } from '../../../data/route.ts';
import { Button, Problem } from '../../../parts/widgets.tsx';
import { capText, changesText, configText, faultsText } from '../../../text/index.ts';
import type { TabProps } from '../tab.ts';
import { Conflict } from './conflict.tsx';
import { ConfigInput } from './input.tsx';
import { Sections, sectionsOf } from './sections.tsx';

interface Read {
  readonly config: Values;
  readonly etag: string | undefined;
}

/** The tab. */
export function Config({ name }: TabProps) {
  const schema = useLoad(readSchema, []);
  const details = useDetails(name);
  const rev = details.state.value.data?.config.rev;
  const stored = useLoad(async (): Promise<Read> => {
    const { data, etag } = await call<{ readonly config: Values }>('GET', blockURL(name, '/config'));
    return { config: data.config, etag };
  }, [name, rev]);
  const { data, error } = stored.state.value;
  const shape = schema.state.value.data;
  if (data === undefined || shape === undefined)
    return <div class="page">{[error, schema.state.value.error].map((each) => each !== undefined && <Problem key={String(each)} error={each} />)}</div>;
  return <Form key={name} name={name} schema={shape} read={data} costs={details.state.value.data?.costs} reload={stored.reload} />;
}

interface FormProps {
  readonly name: string;
  readonly schema: Schema;
  readonly read: Read;
  readonly costs: BlockCosts | undefined;
  reload(): Promise<void>;
}

function Form({ name, schema, read, costs, reload }: FormProps) {
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const sections = useMemo(() => sectionsOf(fields), [fields]);
  /** What the form began with, and its revision. */
  const base = useSignal<Read>(read);
  const draft = useSignal<Values>(settable(read.config, schema));
  const wrong = useSignal<Readonly<Record<string, string>>>({});
  const json = useSignal<string | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  const before = settable(base.value.config, schema);
  const now = settable(read.config, schema);
  const changed = changedPaths(fields, before, draft.value);
  const isChanged = !isSame(before, draft.value);
  const isOutdated = base.value.etag !== read.etag;
  const faults = Object.keys(wrong.value).length;
  /** Something is typed that is not stored, even if it can't be stored as it is. */
  const isHeld = isChanged || faults > 0;
  /** A new number draws the fields anew, without what was typed into them. */
  const turn = useSignal(0);
  const begin = (from: Read, values: Values): void => {
    base.value = from;
    draft.value = values;
    wrong.value = {};
    json.value = undefined;
    failure.value = undefined;
    turn.value += 1;
  };
  useEffect(() => {
    if (isOutdated && !isChanged) {
      base.value = read;
      draft.value = now;
    }
  }, [read.etag]);
  useEffect(() => (isHeld ? guardLeaving(() => !confirm(configText.leave)) : undefined), [isHeld]);
  useEffect(() => focusNamed(), []);
  const save = async (): Promise<void> => {
    if (faults > 0) return document.querySelector<HTMLElement>('.config-page [aria-invalid="true"]')?.focus();
    if (!isChanged) return;
    failure.value = undefined;
    try {
      const headers = base.value.etag === undefined ? {} : { 'if-match': base.value.etag };
      const { data, etag } = await call<{ readonly config: Values }>('PUT', blockURL(name, '/config'), { body: patchOf(before, draft.value), headers });
      base.value = { config: data.config, etag };
      draft.value = settable(data.config, schema);
      json.value = undefined;
      tell(configText.saved);
      await reload();
    } catch (error) {
      failure.value = error;
      if (error instanceof ApiError && error.code === 'REVISION_MISMATCH') await reload();
    }
  };
  useKeys([{ keys: 'mod+s', does: configText.save, inFields: true, run: () => void save() }], [isChanged, faults, read.etag]);
  const set = (field: ConfigField, value: unknown, fault: string | undefined): void => {
    const { [field.path]: _old, ...others } = wrong.peek();
    wrong.value = fault === undefined ? others : { ...others, [field.path]: fault };
    if (fault === undefined) draft.value = withValue(draft.peek(), field.path, value);
    json.value = undefined;
  };
  const isConflict = failure.value instanceof ApiError && failure.value.code === 'REVISION_MISMATCH';
  const faultOf = (path: string): string | undefined =>
    ownOf(wrong.value, path) ?? (failure.value instanceof ApiError ? failure.value.details.find((each) => each.path === path)?.message : undefined);
  const factOf = (path: string): string | undefined => {
    if (!isCap(path) || costs === undefined) return undefined;
    const cap = valueAt(draft.value, path);
    const timeZone = valueAt(draft.value, 'budget.timezone');
    const meaning = capMeaning(path, typeof cap === 'number' ? cap : null, costs.budget, typeof timeZone === 'string' ? timeZone : 'UTC', serverNow());
    return capText(path, meaning, costs.unpricedCalls ?? 0);
  };
  const others = unknownFields(read.config, schema);
  return (
    <>
      <div class="page config-page">
        <div class="config-body">
          <Sections list={sections} changed={changed} />
          <div class="config-form">
            {isConflict || (isOutdated && isChanged) ? (
              <Conflict base={before} mine={draft.value} theirs={now} settle={(values) => begin(read, values)} />
            ) : (
              failure.value !== undefined && <Problem error={failure.value} />
            )}
            {sections.map(({ title, list }) => (
              <fieldset key={title} data-section={title}>
                <legend>{title}</legend>
                {list.map((field) => (
                  <ConfigInput
                    key={`${field.path} ${turn.value}`}
                    field={field}
                    values={draft.value}
                    isChanged={changed.includes(field.path)}
                    fact={factOf(field.path)}
                    wrong={faultOf(field.path)}
                    set={set}
                  />
                ))}
              </fieldset>
            ))}
            {Object.keys(others).length > 0 && (
              <fieldset>
                <legend>{configText.other}</legend>
                <p class="t2 sm">{configText.otherLead}</p>
                <pre class="mono sm">{JSON.stringify(others, null, 2)}</pre>
              </fieldset>
            )}
          </div>
        </div>
        <section class="config-json" aria-label={configText.asJson}>
          <h2>{configText.asJson}</h2>
          <textarea
            class="input mono"
            spellcheck={false}
            aria-label={configText.asJson}
            aria-invalid={wrong.value['json'] !== undefined}
            value={json.value ?? JSON.stringify(draft.value, null, 2)}
            onInput={(event) => {
              json.value = event.currentTarget.value;
              const result = parsedJson(json.value);
              const fault = typeof result === 'string' ? result : isObject(result.value) ? undefined : configText.mustBeObject;
              const { json: _old, ...rest } = wrong.peek();
              wrong.value = fault === undefined ? rest : { ...rest, json: fault };
              if (typeof result !== 'string' && isObject(result.value)) draft.value = result.value;
            }}
          />
          {wrong.value['json'] !== undefined && <p class="bad sm">{wrong.value['json']}</p>}
        </section>
      </div>
      <footer class="strip save-strip">
        <span class="t2">
          {configText.revision} {String(read.config['rev'] ?? '')}
        </span>
        <span class="grow" />
        {faults > 0 ? <span class="bad">{faultsText(faults)}</span> : isChanged && <span>{changesText(Math.max(1, changed.length))}</span>}
        {isHeld && <Button label={configText.undo} kind="quiet" run={() => begin(read, now)} />}
        <Button label={configText.save} kind="primary" keys="mod+s" disabled={!isChanged || faults > 0} run={save} />
      </footer>
    </>
  );
}

async function readSchema(): Promise<Schema> {
  const document = await get<{ readonly components: { readonly schemas: Readonly<Record<string, Schema>> } }>('/openapi.json');
  const patch = document.components.schemas['BlockConfigPatch'];
  if (patch === undefined) throw new Error('The contract of this server has no BlockConfigPatch.');
  return patch;
}

/** A cure leads to the field that it is about; of the caps, to the first that is set. */
function focusNamed(): void {
  const path = route.peek().query.get('field');
  if (path === null) return;
  const named = [...document.querySelectorAll<HTMLElement>(`[data-path="${CSS.escape(path)}"], [data-path^="${CSS.escape(path)}."]`)];
  const isSetCap = (each: HTMLElement): boolean => isCap(each.dataset['path'] ?? '') && each.querySelector('input')?.value !== '';
  const element = named.find(isSetCap) ?? named[0];
  element?.scrollIntoView({ block: 'center' });
  element?.querySelector<HTMLElement>('input, select, textarea')?.focus();
}
