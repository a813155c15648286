// What the form of a configuration knows: what it began with, what is typed, what is wrong, and what of it is stored.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { guardLeaving } from '../../../base/address.ts';
import { useKeys } from '../../../base/keys.ts';
import { ownOf } from '../../../base/own.ts';
import { tell } from '../../../base/toast.ts';
import { ApiError } from '../../../data/api-error.ts';
import { isCap } from '../../../data/caps.ts';
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
  type Values,
  withValue,
} from '../../../data/config.ts';
import { call } from '../../../data/http.ts';
import { blockURL } from '../../../data/paths.ts';
import { route } from '../../../data/route.ts';
import { configText } from '../../../text/index.ts';
import { sectionsOf } from './sections.tsx';

/** A configuration as it was read, with its revision. */
export interface Read {
  readonly config: Values;
  readonly etag: string | undefined;
}

/** What the form is about. */
export interface FormBasis {
  readonly name: string;
  readonly schema: Schema;
  readonly read: Read;
  reload(): Promise<void>;
}

export type ConfigForm = ReturnType<typeof useForm>;

/** The values as they are typed, in fields or as JSON, and the fault of each field by its path. */
function useTyped(schema: Schema, read: Read) {
  /** What the form began with, and its revision. */
  const base = useSignal<Read>(read);
  const draft = useSignal<Values>(settable(read.config, schema));
  const wrong = useSignal<Readonly<Record<string, string>>>({});
  const json = useSignal<string | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  /** A part of the fields' keys: a new number draws them anew, without their old text. */
  const turn = useSignal(0);
  const setFault = (path: string, fault: string | undefined): void => {
    const { [path]: _old, ...others } = wrong.peek();
    wrong.value = fault === undefined ? others : { ...others, [path]: fault };
  };
  const set = (field: ConfigField, value: unknown, fault: string | undefined): void => {
    setFault(field.path, fault);
    if (fault === undefined) draft.value = withValue(draft.peek(), field.path, value);
    json.value = undefined;
  };
  const typeJson = (text: string): void => {
    json.value = text;
    const result = parsedJson(text);
    const value = typeof result === 'string' ? undefined : result.value;
    const notObject = isObject(value) ? undefined : configText.mustBeObject;
    setFault('json', typeof result === 'string' ? result : notObject);
    if (isObject(value)) draft.value = value;
  };
  const begin = (values: Values): void => {
    base.value = read;
    draft.value = values;
    wrong.value = {};
    json.value = undefined;
    failure.value = undefined;
    turn.value += 1;
  };
  return { base, draft, wrong, json, failure, turn, set, typeJson, begin };
}

/** The form over the configuration that was read last. */
export function useForm({ name, schema, read, reload }: FormBasis) {
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const sections = useMemo(() => sectionsOf(fields), [fields]);
  const { base, draft, wrong, json, failure, turn, set, typeJson, begin } = useTyped(schema, read);
  const before = settable(base.value.config, schema);
  const stored = settable(read.config, schema);
  const isChanged = !isSame(before, draft.value);
  const isOutdated = base.value.etag !== read.etag;
  const faults = Object.keys(wrong.value).length;
  /** Something is typed that is not stored, even if it can't be stored as it is. */
  const isHeld = isChanged || faults > 0;
  useEffect(() => {
    if (!isOutdated || isChanged) return;
    base.value = read;
    draft.value = stored;
  }, [read.etag]);
  useEffect(() => (isHeld ? guardLeaving(() => !confirm(configText.leave)) : undefined), [isHeld]);
  useEffect(focusNamed, []);
  const save = async (): Promise<void> => {
    if (faults > 0) return document.querySelector<HTMLElement>('.config-page [aria-invalid="true"]')?.focus();
    if (!isChanged) return;
    failure.value = undefined;
    try {
      base.value = await stores(name, base.value.etag, patchOf(before, draft.value));
      draft.value = settable(base.value.config, schema);
      json.value = undefined;
      tell(configText.saved);
      await reload();
    } catch (error) {
      failure.value = error;
      if (isMismatch(error)) await reload();
    }
  };
  useKeys([{ keys: 'mod+s', does: configText.save, inFields: true, run: () => void save() }], [isChanged, faults, read.etag]);
  const { value: fault } = failure;
  const faultOf = (path: string): string | undefined => ownOf(wrong.value, path) ?? detailsOf(fault).find((each) => each.path === path)?.message;
  return {
    sections,
    base: before,
    draft: draft as Signal<Values>,
    stored,
    changed: changedPaths(fields, before, draft.value),
    isChanged,
    isHeld,
    isConflict: isMismatch(fault) || (isOutdated && isChanged),
    wrongPaths: Object.keys(wrong.value),
    refused: [...new Set(detailsOf(fault).map(({ path }) => path))],
    faultOf,
    failure: fault,
    json,
    jsonFault: wrong.value['json'],
    turn,
    set,
    typeJson,
    begin,
    save,
  };
}

/** Stores a patch of a revision. Rejects with an ApiError. */
async function stores(name: string, etag: string | undefined, patch: Values): Promise<Read> {
  const headers = etag === undefined ? {} : { 'if-match': etag };
  const answer = await call<{ readonly config: Values }>('PUT', blockURL(name, '/config'), { body: patch, headers });
  return { config: answer.data.config, etag: answer.etag };
}

/** The fields that the server has refused. */
function detailsOf(error: unknown): NonNullable<ApiError['details']> {
  return error instanceof ApiError ? (error.details ?? []) : [];
}

function isMismatch(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'REVISION_MISMATCH';
}

/** A cure leads to the field that it is about. */
function focusNamed(): void {
  const path = route.peek().query.get('field');
  if (path !== null) focusField(path);
}

/** Shows a field; of the caps, the first that is set. */
export function focusField(path: string): void {
  const named = [...document.querySelectorAll<HTMLElement>(`[data-path="${CSS.escape(path)}"], [data-path^="${CSS.escape(path)}."]`)];
  const isSetCap = (each: HTMLElement): boolean => isCap(each.dataset['path'] ?? '') && each.querySelector('input')?.value !== '';
  const element = named.find(isSetCap) ?? named[0];
  element?.scrollIntoView({ block: 'center' });
  element?.querySelector<HTMLElement>('input, select, textarea')?.focus();
}
