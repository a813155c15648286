// Reads the list of models of LiteLLM's configuration: each entry is a deployment, and several may have one name. Pure: no I/O.
import { isObject } from '../../../core/base/json.ts';
import type { ReportBook } from './report.ts';

/** What is known of the providers and services here. */
export interface ImportWorld {
  /** The id of the adapter of this name or alias. */
  adapterIdOf(name: string): string | undefined;
  /** The settings of an adapter, with the variables of each. */
  settingsOf(id: string): Readonly<Record<string, { readonly env?: readonly string[] | undefined }>>;
  /** The adapter that has models with such a name. */
  ownerOf(model: string): string | undefined;
  preset(
    name: string,
  ): { readonly adapter: string; readonly baseURL: string | null; readonly baseURLForm: string | null; readonly variable: string | null } | undefined;
}

/** One entry of `model_list`. */
export interface Deployment {
  /** `model_list[0]`. */
  readonly path: string;
  readonly name: string;
  /** A preset, or else the id of an adapter. */
  readonly service: string;
  readonly isPreset: boolean;
  /** The adapter whose protocol it speaks. */
  readonly adapter: string;
  /** What the provider calls the model. */
  readonly model: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly info: Readonly<Record<string, unknown>>;
}

/** Presets that are called otherwise there. A name that ends in `_chat` is also tried without it. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  dashscope: 'alibaba',
  fireworks_ai: 'fireworks',
  hosted_vllm: 'vllm',
  lm_studio: 'lmstudio',
  nvidia_nim: 'nvidia',
  together_ai: 'together',
  vercel_ai_gateway: 'vercel',
};

/** Each deployment that can be taken; the others are in the report. */
export function readDeployments(list: unknown, world: ImportWorld, book: ReportBook): Deployment[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown, index): Deployment[] => {
    const path = `model_list[${index}]`;
    const [params, info] = isObject(entry) ? [entry['litellm_params'], entry['model_info']] : [];
    if (!isObject(entry) || !isObject(params) || typeof entry['model_name'] !== 'string' || typeof params['model'] !== 'string') {
      book.left(path, 'It needs a model_name and litellm_params.model.');
      return [];
    }
    const found = serviceOf(params['model'], params['custom_llm_provider'], world);
    if (found === undefined) {
      const [prefix] = /^[a-z_]{1,32}(?=\/)/.exec(params['model']) ?? ['this model'];
      book.left(
        path,
        `Blockhouse has no preset or provider for ${prefix}. If the service speaks a known protocol, add a connection (\`blockhouse auth set <id> --provider … --base-url …\`).`,
      );
      return [];
    }
    if (typeof params['custom_llm_provider'] === 'string') book.taken(`${path}.litellm_params.custom_llm_provider`, `the provider ${found.service}`);
    return [{ path, name: entry['model_name'], ...found, params, info: isObject(info) ? info : {} }];
  });
}

type Service = Pick<Deployment, 'service' | 'isPreset' | 'adapter' | 'model'>;

function serviceOf(text: string, given: unknown, world: ImportWorld): Service | undefined {
  const slash = text.indexOf('/');
  const prefix = slash < 1 ? undefined : text.slice(0, slash);
  const named = (typeof given === 'string' ? serviceNamed(given, world) : undefined) ?? (prefix === undefined ? undefined : serviceNamed(prefix, world));
  if (named === undefined) {
    const owner = prefix === undefined ? world.ownerOf(text) : undefined;
    return owner === undefined ? undefined : { service: owner, isPreset: false, adapter: owner, model: text };
  }
  const isPrefixed = prefix !== undefined && serviceNamed(prefix, world)?.service === named.service;
  // Their name of a protocol within the provider, which is no part of the model.
  const model = (isPrefixed ? text.slice(slash + 1) : text).replace(/^(?:converse|invoke|converse_like|responses|chat)\//, '');
  return model === '' ? undefined : { ...named, model };
}

function serviceNamed(name: string, world: ImportWorld): Omit<Service, 'model'> | undefined {
  for (const one of [OTHER_NAMES[name] ?? name, name.replace(/_chat$/, '')]) {
    const id = world.adapterIdOf(one);
    if (id !== undefined) return { service: id, isPreset: false, adapter: id };
    const preset = world.preset(one);
    if (preset !== undefined) return { service: one, isPreset: true, adapter: preset.adapter };
  }
  return undefined;
}

/** A number; YAML 1.1 reads `1e-06` as a text. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'number' ? value : typeof value === 'string' && /^[\d.]+(?:e[+-]?\d+)?$/i.test(value) ? Number(value) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}
