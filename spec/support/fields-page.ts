// docs/fields.md: which field of a chat request reaches which provider, and under which name. Each field is put into a request for each model that an
// adapter knows; the page says what that changes in the request that would be sent, and which warnings come.
import { buildRequest as anthropic } from '../../adapters/anthropic/request.ts';
import { buildRequest as bedrock } from '../../adapters/bedrock/request.ts';
import { buildRequest as google } from '../../adapters/google/request.ts';
import { createAdapters } from '../../adapters/index.ts';
import { ContextSizes } from '../../adapters/ollama/context-size.ts';
import { buildRequest as ollama } from '../../adapters/ollama/request.ts';
import { buildRequest as openai } from '../../adapters/openai/request.ts';
import type { ChatContext, WireRequest } from '../../adapters/shared/provider.ts';
import { isObject } from '../../core/base/json.ts';
import { withPlace } from '../../core/gateway/refused-part.ts';
import { promptFor } from '../../core/gateway/support.ts';
import { BlockhouseError, resolveSettings } from '../../core/index.ts';
import type { Adapter } from '../../core/ports.ts';
import { ChatConfig } from '../../core/schemas/chat.ts';
import type { ChatRequest, ContentPart, Message, Warning } from '../../core/types.ts';

type Change = Partial<Pick<ChatRequest, 'config' | 'tools' | 'toolChoice' | 'messages'>>;

/** A column of the tables. */
interface Target {
  readonly title: string;
  readonly adapter: Adapter;
  readonly models: readonly string[];
  readonly stored: Readonly<Record<string, string>>;
  readonly build: (context: ChatContext) => WireRequest;
}

/** A row: its name, the requests that have the field, and what they have besides it. */
type Row = readonly [name: string, changes: readonly Change[], without?: Change];

const BUILDERS: Readonly<Record<string, Target['build']>> = { anthropic, bedrock, google, openai, ollama: (context) => ollama(context, new ContextSizes()) };
const TOOLS = [{ name: 'f', parameters: { type: 'object', properties: {} } }];
const SCHEMA = { type: 'object', properties: { n: { type: 'number' } } };
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
const config = (...values: NonNullable<ChatRequest['config']>[]): Change[] => values.map((value) => ({ config: value }));

/** By the field of `config`; a field that is missing here and in the settings of every adapter is an error. */
const CONFIG_ROWS: Readonly<Record<string, readonly Row[]>> = {
  maxTokens: [['config.maxTokens', config({ maxTokens: 77 })]],
  temperature: [['config.temperature', config({ temperature: 0.5 })]],
  cacheControl: [['config.cacheControl', config({ cacheControl: true })]],
  cacheKey: [['config.cacheKey', config({ cacheKey: 'k' })]],
  topP: [['config.topP', config({ topP: 0.5 })]],
  topK: [['config.topK', config({ topK: 7 })]],
  stop: [['config.stop', config({ stop: ['END'] })]],
  seed: [['config.seed', config({ seed: 7 })]],
  presencePenalty: [['config.presencePenalty', config({ presencePenalty: 1 })]],
  frequencyPenalty: [['config.frequencyPenalty', config({ frequencyPenalty: 1 })]],
  parallelToolCalls: [['config.parallelToolCalls', [{ config: { parallelToolCalls: false }, tools: TOOLS }], { tools: TOOLS }]],
  logprobs: [['config.logprobs', config({ logprobs: true })]],
  topLogprobs: [['config.topLogprobs', config({ logprobs: true, topLogprobs: 2 }), { config: { logprobs: true } }]],
  serviceTier: [['config.serviceTier', config({ serviceTier: 'auto' }, { serviceTier: 'flex' })]],
  user: [['config.user', config({ user: 'u' })]],
  metadata: [['config.metadata', config({ metadata: { a: '1', b: '2' } })]],
  output: [
    ['config.output, type json', config({ output: { type: 'json' } })],
    ['config.output, type json_schema', config({ output: { type: 'json_schema', schema: SCHEMA } })],
  ],
  reasoning: [
    ['config.reasoning.effort', EFFORTS.flatMap((effort) => config({ reasoning: { effort } }))],
    ['config.reasoning.budgetTokens', config({ reasoning: { budgetTokens: 2048 } })],
    ['config.reasoning.summary', config({ reasoning: { effort: 'high', summary: true } }), { config: { reasoning: { effort: 'high' } } }],
  ],
};

const CHOICE_ROWS: readonly Row[] = [
  ['toolChoice: "required"', [{ tools: TOOLS, toolChoice: 'required' }], { tools: TOOLS }],
  ['toolChoice: {name}', [{ tools: TOOLS, toolChoice: { name: 'f' } }], { tools: TOOLS }],
  ['toolChoice: "none"', [{ tools: TOOLS, toolChoice: 'none' }], { tools: TOOLS }],
];

const says = (part: ContentPart): Change => ({ messages: [{ role: 'user', content: [{ type: 'text', text: 'look' }, part] }] });
const ASKS: readonly Message[] = [
  { role: 'user', content: 'look' },
  { role: 'assistant', toolCalls: [{ id: 'c1', name: 'f', arguments: {} }] },
];
const IMAGE = { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const;
const PDF = { mediaType: 'application/pdf', data: 'JVBERi0=' } as const;

const PART_ROWS: readonly Row[] = [
  ['image with data', [says(IMAGE)]],
  ['image with url', [says({ type: 'image', url: 'https://example.org/a.png' })]],
  ['document with data (PDF)', [says({ type: 'document', ...PDF, name: 'a.pdf' })]],
  ['document with url', [says({ type: 'document', url: 'https://example.org/a.pdf' })]],
  ['document with text', [says({ type: 'document', text: 'words', name: 'a.txt' })]],
  ['audio', [says({ type: 'audio', mediaType: 'audio/wav', data: 'UklGRg==' })]],
  ['image in a tool result', [{ tools: TOOLS, messages: [...ASKS, { role: 'tool', toolResults: [{ toolCallId: 'c1', content: [IMAGE] }] }] }]],
];

/** The text of docs/fields.md. */
export async function fieldsPage(): Promise<string> {
  const adapters = createAdapters();
  try {
    return pageOf(adapters.flatMap(targetsOf), adapters);
  } finally {
    await Promise.all(adapters.map((adapter) => adapter.close()));
  }
}

/** An adapter with two endpoints has a column for each, where models that do not reason matter as well. Local models have no list. */
function targetsOf(adapter: Adapter): Target[] {
  const build = BUILDERS[adapter.id];
  if (build === undefined) throw new Error(`spec/support/fields-page.ts knows no request of ${adapter.id}.`);
  const models = adapter.curatedModels ?? [adapter.defaultModel, 'gpt-oss:20b'];
  const apis = adapter.settings['api']?.oneOf ?? [];
  if (apis.length === 0) return [{ title: adapter.id, adapter, models, stored: {}, build }];
  return apis.map((api) => ({ title: `${adapter.id}, ${api}`, adapter, models: [...models, 'gpt-4.1'], stored: { api }, build }));
}

function pageOf(targets: readonly Target[], adapters: readonly Adapter[]): string {
  const configRows = Object.keys(ChatConfig.properties).flatMap((name) => {
    const rows = CONFIG_ROWS[name];
    if (rows === undefined && !adapters.some(({ settings }) => settings[name] !== undefined)) throw new Error(`docs/fields.md has no row for config.${name}.`);
    return rows ?? [];
  });
  const settingRows = Object.keys(ChatConfig.properties).filter((name) => CONFIG_ROWS[name] === undefined);
  const probed = [...configRows, ...CHOICE_ROWS].map((row) => ({ row, cells: targets.map((target) => probe(target, row)) }));
  const parts = PART_ROWS.map((row) => ({ row, cells: targets.map((target) => probe(target, row)) }));
  const titles = targets.map(({ title }) => title);
  return `# Fields and providers

This page says which field of a chat request reaches which provider, and under which name. \`npm run generate\` makes it from the code that calls them, with every model that they list.

A dash means that the field is left out with a warning. A * means that some models or values get a warning; the [remarks](#remarks) have the texts. What is refused is a
400 that names the part, because the answer would be wrong without it. How to write a request: [HTTP](http.md#chat).

## Meaning

${table(
  ['field', 'meaning'],
  Object.entries(ChatConfig.properties).map(([name, { description }]) => [`\`config.${name}\``, description]),
)}

## Options

${table(
  ['field', ...titles],
  probed.map(({ row: [name], cells }) => [`\`${name}\``, ...cells.map(fieldCell)]),
)}

## Parts

${table(
  ['part', ...titles],
  parts.map(({ row: [name], cells }) => [name, ...cells.map(partCell)]),
)}

## Credentials and addresses

A field of \`config\` that replaces a stored setting for one request. An address that a provider does not use is refused; the others are left out with a warning.

${table(
  ['field', ...adapters.map(({ id }) => id)],
  settingRows.map((name) => [
    `\`config.${name}\``,
    ...adapters.map(({ settings }) => (settings[name] === undefined || settings[name].storedOnly ? '–' : 'yes')),
  ]),
)}

## Remarks

${targets
  .map(({ title }, column) =>
    remarksOf(
      title,
      [...probed, ...parts].map(({ row: [name], cells }) => [name, cells[column]] as const),
    ),
  )
  .join('\n\n')}
`;
}

/** In the warning about a field that an adapter does not know. */
const LEFT_OUT = 'does not support this setting, so it was not sent';

/** What a field does to the requests of one adapter. */
interface Found {
  /** The names of the provider's own fields. */
  readonly paths: readonly string[];
  /** The texts of warnings and refusals. */
  readonly remarks: readonly string[];
  readonly isRefused: boolean;
  /** True if the adapter does not know the field at all. */
  readonly isLeftOut: boolean;
}

function probe(target: Target, [name, changes, without = {}]: Row): Found {
  const paths = new Set<string>();
  const texts = new Set<string>();
  let isRefused = false;
  const field = name.split(/[:, ]/)[0] ?? '';
  const isAbout = (warning: Warning): boolean => warning.field.startsWith(field) || field.startsWith(`${warning.field}.`);
  for (const model of target.models) {
    const plain = sent(target, model, without);
    for (const change of changes) {
      const { body, warnings, refusal } = sent(target, model, change);
      for (const { message } of warnings.filter(isAbout)) texts.add(named(message, model));
      for (const path of refusal === undefined ? differences(plain.body, body, '', 2) : []) paths.add(path);
      isRefused ||= refusal !== undefined;
      if (refusal !== undefined) texts.add(refusal);
    }
  }
  const remarks = [...texts].filter((text) => !text.includes(LEFT_OUT));
  const found = [...paths].filter((path) => ![...paths].some((other) => path.startsWith(`${other}.`)));
  return { paths: found, remarks, isRefused, isLeftOut: remarks.length < texts.size };
}

function named(message: string, model: string): string {
  return (message.startsWith(model) ? message.replace(model, 'The model') : message).replaceAll(model, 'the model');
}

interface Sent {
  readonly body: unknown;
  readonly warnings: readonly Warning[];
  readonly refusal: string | undefined;
}

function sent({ adapter, stored, build }: Target, model: string, change: Change): Sent {
  const request: ChatRequest = { adapter: adapter.id, model, messages: [{ role: 'user', content: 'look' }], ...change };
  try {
    const prompt = promptFor(request, adapter);
    const settings = resolveSettings(adapter.settings, { stored: { apiKey: 'k', region: 'us-east-1', ...stored }, env: {} });
    const { body, warnings } = build({ model, prompt, settings, stream: true });
    return { body, warnings: [...prompt.warnings, ...warnings], refusal: undefined };
  } catch (thrown) {
    const error = withPlace(thrown, request);
    if (!(error instanceof BlockhouseError) || error.code !== 'INVALID_REQUEST') throw error;
    return { body: undefined, warnings: [], refusal: error.message };
  }
}

/** The fields that differ; a new object with one field is named by that field. */
function differences(before: unknown, after: unknown, path: string, depth: number): string[] {
  if (!isObject(after)) return [path];
  const known = isObject(before) ? before : {};
  const names = [...new Set([...Object.keys(known), ...Object.keys(after)])].filter((name) => JSON.stringify(known[name]) !== JSON.stringify(after[name]));
  if (depth === 0 || (before === undefined && names.length !== 1)) return [path];
  return names.flatMap((name) => differences(known[name], after[name], path === '' ? name : `${path}.${name}`, depth - 1));
}

function fieldCell({ paths, remarks, isLeftOut }: Found): string {
  if (paths.length === 0) return remarks.length > 0 ? '– *' : isLeftOut ? '–' : 'no effect';
  return paths.map((path) => `\`${path}\``).join(', ') + (remarks.length === 0 ? '' : ' *');
}

function partCell({ remarks, isRefused }: Found): string {
  return isRefused ? 'refused' : remarks.length === 0 ? 'yes' : 'yes *';
}

function remarksOf(title: string, rows: readonly (readonly [name: string, found: Found | undefined])[]): string {
  const lines = rows.flatMap(([name, found]) => (found?.remarks ?? []).map((text) => `- ${/[.:]/.test(name) ? `\`${name}\`` : name}: ${text}`));
  return `### ${title}\n\n${lines.length === 0 ? 'None.' : lines.join('\n')}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
