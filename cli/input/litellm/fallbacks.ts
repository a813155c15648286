// Adds fallbacks and further names to aliases. Pure: no I/O.
//
// no-loop: an alias never leads to an alias, so what a fallback leads to is written out.
import { isObject } from '../../../core/base/json.ts';
import type { AliasTarget } from '../../../core/index.ts';
import type { ReportBook } from './report.ts';
import { modelOf } from './targets.ts';

/** Of one alias. */
export const MAX_TARGETS = 8;
/** Each may stand in either of two places. */
const PLACES = ['router_settings', 'litellm_settings'] as const;
const FALLBACKS = ['fallbacks', 'context_window_fallbacks'] as const;

/** Appends the models of fallbacks to `targets`, by the name that has them. */
export function addFallbacks(source: Readonly<Record<string, unknown>>, targets: Map<string, AliasTarget[]>, book: ReportBook): void {
  const before = new Map(targets);
  for (const place of PLACES)
    for (const kind of FALLBACKS) {
      const settings = source[place];
      const list = isObject(settings) ? settings[kind] : undefined;
      if (!Array.isArray(list)) continue;
      for (const [index, item] of list.entries())
        for (const [name, others] of Object.entries(isObject(item) ? item : {})) {
          const path = `${place}.${kind}[${index}].${name}`;
          const more = Array.isArray(others) ? others.map((other: unknown) => (typeof other === 'string' ? before.get(other) : undefined)) : [];
          const own = targets.get(name);
          if (Array.isArray(others) && others.length > 0 && others.every((other) => other === name)) book.left(path, ofItself(name));
          else if (own === undefined || more.length === 0 || more.includes(undefined))
            book.left(path, 'It names a model that is not in model_list, or was left out.');
          else {
            const names = new Set(own.map(modelOf));
            const further = new Set(more.flatMap((one) => (one ?? []).map(modelOf)).filter((model) => !names.has(model)));
            const all = [...own, ...further];
            targets.set(name, all.slice(0, MAX_TARGETS));
            if (all.length > MAX_TARGETS) book.changed(path, `the alias ${name}, with the first ${MAX_TARGETS} models`);
            else if (kind === 'fallbacks') book.taken(path, `further models of the alias ${name}`);
            else book.changed(path, `further models of the alias ${name}, which are asked after any failure`);
          }
        }
    }
}

function ofItself(name: string): string {
  return `${name} names itself. Give the name of another model in model_list, or remove the line.`;
}

/** Adds the names of `model_group_alias` to `targets`. */
export function addOtherNames(source: Readonly<Record<string, unknown>>, targets: Map<string, AliasTarget[]>, book: ReportBook): void {
  for (const place of PLACES) {
    const settings = source[place];
    const names = isObject(settings) ? settings['model_group_alias'] : undefined;
    if (!isObject(names)) continue;
    for (const [name, value] of Object.entries(names)) {
      const path = `${place}.model_group_alias.${name}`;
      const meant = isObject(value) ? value['model'] : value;
      const own = typeof meant === 'string' ? targets.get(meant) : undefined;
      if (meant === name) book.left(path, ofItself(name));
      else if (own === undefined) book.left(path, 'It names a model that is not in model_list, or was left out.');
      else if (targets.has(name)) book.left(path, 'A model of model_list has this name.');
      else {
        targets.set(name, own);
        if (isObject(value) && value['hidden'] === true) book.changed(path, `the alias ${name}, which lists show`);
        else book.taken(path, `the alias ${name}`);
      }
    }
  }
}
