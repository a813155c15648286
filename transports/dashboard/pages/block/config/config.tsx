// The configuration of a block: a form made from the contract's schema, and the same as JSON.
import { useEffect, useRef } from 'preact/hooks';
import type { BlockCosts } from '../../../../../core/types.ts';
import { serverNow } from '../../../base/clock.ts';
import { capMeaning, isCap } from '../../../data/caps.ts';
import { type Schema, unknownFields, type Values, valueAt } from '../../../data/config.ts';
import { useDetails } from '../../../data/details.ts';
import { call, get } from '../../../data/http.ts';
import { useLoad } from '../../../data/load.ts';
import { blockURL } from '../../../data/paths.ts';
import { Button, Problem } from '../../../parts/widgets.tsx';
import { capText, changesText, configText, faultsText, fieldLabel } from '../../../text/index.ts';
import { Conflict } from './conflict.tsx';
import { type ConfigForm, type FormBasis, focusField, type Read, useForm } from './form.ts';
import { ConfigInput } from './input.tsx';
import { Sections } from './sections.tsx';

/** The tab. */
export function Config({ name }: { readonly name: string }) {
  const schema = useLoad(readSchema, []);
  const details = useDetails(name);
  const rev = details.state.value.data?.config.rev;
  const isRead = rev !== undefined || details.state.value.error !== undefined;
  const stored = useLoad(async (): Promise<Read | undefined> => {
    if (!isRead) return undefined; // each revision once
    const { data, etag } = await call<{ readonly config: Values }>('GET', blockURL(name, '/config'));
    return { config: data.config, etag };
  }, [name, rev, isRead]);
  const { data, error } = stored.state.value;
  const shape = schema.state.value.data;
  if (data === undefined || shape === undefined)
    return <div class="page">{[error, schema.state.value.error].map((each) => each !== undefined && <Problem key={String(each)} error={each} />)}</div>;
  return <Form key={name} name={name} schema={shape} read={data} costs={details.state.value.data?.costs} reload={stored.reload} />;
}

function Form(props: FormBasis & { readonly costs: BlockCosts | undefined }) {
  const { read, schema, costs } = props;
  const form = useForm(props);
  const { sections, draft, changed, set, faultOf, turn } = form;
  const others = unknownFields(read.config, schema);
  return (
    <>
      <div class="page config-page">
        <div class="config-body">
          <Sections list={sections} changed={changed} />
          <div class="config-form">
            {sections.map(({ title, list }) => (
              <fieldset key={title} data-section={title}>
                <legend>{title}</legend>
                {list.map((field) => (
                  <ConfigInput
                    key={`${field.path} ${turn.value}`}
                    field={field}
                    values={draft.value}
                    isChanged={changed.includes(field.path)}
                    fact={capFact(field.path, draft.value, costs)}
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
        <AsJson {...form} />
      </div>
      <Trouble {...form} />
      <SaveStrip {...form} revision={String(read.config['rev'] ?? '')} />
    </>
  );
}

/** Above the button that saves: two changes of one configuration, or why it was not saved and which fields are meant. It has the focus when a save has failed. */
function Trouble({ isConflict, base, draft, stored, failure, refused, begin }: ConfigForm) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (failure !== undefined) box.current?.focus();
  }, [failure]);
  if (!isConflict && failure === undefined) return null;
  return (
    <div class="save-trouble" ref={box} tabIndex={-1}>
      {isConflict ? (
        <Conflict base={base} mine={draft.value} theirs={stored} settle={begin} />
      ) : (
        <Problem error={failure}>
          {refused.map((path) => (
            <Button key={path} label={fieldLabel(path)} small run={() => focusField(path)} />
          ))}
        </Problem>
      )}
    </div>
  );
}

/** The same as the form, to be typed. */
function AsJson({ json, draft, typeJson, jsonFault }: ConfigForm) {
  return (
    <section class="config-json" aria-label={configText.asJson}>
      <h2>{configText.asJson}</h2>
      <textarea
        class="input mono"
        spellcheck={false}
        aria-label={configText.asJson}
        aria-invalid={jsonFault !== undefined}
        value={json.value ?? JSON.stringify(draft.value, null, 2)}
        onInput={(event) => typeJson(event.currentTarget.value)}
      />
      {jsonFault !== undefined && <p class="bad sm">{jsonFault}</p>}
    </section>
  );
}

function SaveStrip({ revision, wrongPaths, isChanged, changed, isHeld, begin, stored, save }: ConfigForm & { readonly revision: string }) {
  return (
    <footer class="strip save-strip">
      <span class="t2">
        {configText.revision} {revision}
      </span>
      <span class="grow" />
      {wrongPaths.length > 0 && <span class="bad">{faultsText(wrongPaths)}</span>}
      {wrongPaths.length === 0 && isChanged && <span>{changesText(Math.max(1, changed.length))}</span>}
      {isHeld && <Button label={configText.undo} kind="quiet" run={() => begin(stored)} />}
      <Button label={configText.save} kind="primary" keys="mod+s" disabled={!isChanged || wrongPaths.length > 0} run={save} />
    </footer>
  );
}

/** What the height of a cap means today; undefined for every other field. */
function capFact(path: string, values: Values, costs: BlockCosts | undefined): string | undefined {
  if (!isCap(path) || costs === undefined) return undefined;
  const cap = valueAt(values, path);
  const timeZone = valueAt(values, 'budget.timezone');
  const meaning = capMeaning(path, typeof cap === 'number' ? cap : null, costs.budget, typeof timeZone === 'string' ? timeZone : 'UTC', serverNow());
  return capText(path, meaning, costs.unpricedCalls ?? 0);
}

async function readSchema(): Promise<Schema> {
  const document = await get<{ readonly components: { readonly schemas: Readonly<Record<string, Schema>> } }>('/openapi.json');
  const patch = document.components.schemas['BlockConfigPatch'];
  if (patch === undefined) throw new Error('The contract of this server has no BlockConfigPatch.');
  return patch;
}
