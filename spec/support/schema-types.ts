// Makes core/types.ts: the TypeScript types of the schemas in core/schemas, with their descriptions as documentation on hover.
// A schema that is exported has a type of its name, and other types refer to it by this name.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MESSAGE_FIELDS, Message } from '../../core/schemas/chat.ts';
import { addressOf } from './node-args.ts';

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

interface Named {
  readonly name: string;
  readonly doc: string | undefined;
  readonly value: unknown;
}

const FOLDER = resolve(import.meta.dirname, '../../core/schemas');
const FILES = readdirSync(FOLDER)
  .filter((file) => file !== 'index.ts')
  .sort();
/** Lists of words that have a type of their own. */
const WORD_TYPES: Readonly<Record<string, string>> = {
  STATUSES: 'BlockStatus',
  STATES: 'BlockState',
  STOP_REASONS: 'StopReason',
  CHANNELS: 'Channel',
};
/** Their types need more than a schema can say, and are written by hand beside the schema, or in core/adapter-id.ts. */
const BY_HAND = new Set(['AdapterId', 'ModelId', 'ErrorReport', 'WsErrorFrame']);
const HEADER = `// The types of the resources, which \`npm run generate\` makes from the schemas in core/schemas. Change the schema, not this file. Pure: types only.
import type { AdapterId } from './adapter-id.ts';
`;
/** Types that derive from those of the schemas: most are the contents of the files with all defaults filled in. */
const DERIVED = `/** costs.json with every field. */
export type BlockCosts = Required<CostsFile>;

/** pulse.json with every field. */
export type BlockPulse = Required<PulseFile>;

/** memory.json. */
export type BlockMemory = MemoryFile;

/** What was paid for: a call of a model for an answer or for a summary of the memory, or a call of a tool. */
export type CallPurpose = 'chat' | 'summary' | 'tool';

/** Who or what caused a transition. */
export type TransitionActor = Transition['actor'];

type Section = 'memory' | 'pulse' | 'retry' | 'budget' | 'queue' | 'logs';
type ConfigFields = Required<Omit<BlockConfigFile, 'tools'>> & Pick<BlockConfigFile, 'tools'>;
/** config.json with all defaults filled in; unknown fields are kept beside these. */
export type BlockConfig = { readonly [F in keyof ConfigFields]: F extends Section ? Readonly<Required<ConfigFields[F]>> : ConfigFields[F] };
`;

/** The text of core/types.ts. */
export async function schemaTypes(): Promise<string> {
  const named = (await Promise.all(FILES.map(exportsOf))).flat();
  const printer = new Printer(named);
  return [HEADER, ...named.flatMap((one) => printer.declaration(one)), DERIVED].join('\n');
}

async function exportsOf(file: string): Promise<Named[]> {
  const source = readFileSync(join(FOLDER, file), 'utf8');
  const module = (await import(addressOf(`core/schemas/${file}`))) as Record<string, unknown>;
  return Object.entries(module)
    .filter(([name]) => /^[A-Z]/.test(name))
    .map(([name, value]) => ({ name, value, doc: docOf(source, name) }));
}

/** The comment above a constant. */
function docOf(source: string, name: string): string | undefined {
  const match = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\nexport const ${name}\\b`).exec(source);
  return match?.[1]?.replace(/\n \* ?/g, '\n').trim();
}

class Printer {
  /** From a part that survives a spread (the properties of an object, the words of a list) to the name of its type. */
  readonly #names = new Map<unknown, string>();

  constructor(named: readonly Named[]) {
    for (const { name, value } of named) {
      const known = WORD_TYPES[name];
      if (known !== undefined) this.#names.set(value, known);
      else if (name === 'AdapterId') this.#names.set(value, name);
      else if (isSchema(value) && !BY_HAND.has(name)) this.#names.set(value.properties ?? value, name);
    }
  }

  declaration({ name, value, doc }: Named): string[] {
    const words = WORD_TYPES[name];
    if (words !== undefined) return [`${comment(doc, '')}export type ${words} = ${(value as unknown[]).map(literal).join(' | ')};\n`];
    if (!isSchema(value) || BY_HAND.has(name)) return [];
    if (value.properties === undefined) return [`${comment(doc, '')}export type ${name} = ${this.#structure(value, '')};\n`];
    if (value === Message) return this.#messages(doc);
    return [`${comment(doc, '')}export interface ${name} ${this.#members(value, '')}\n`];
  }

  /** A message has an interface for each role, because each role has fields of its own. */
  #messages(doc: string | undefined): string[] {
    const roles = Object.entries(MESSAGE_FIELDS).map(([role, { required, optional }]) => {
      const name = `${role.charAt(0).toUpperCase()}${role.slice(1)}Message`;
      const fields = [...required, ...optional].map((field) => [field, Message.properties[field]] as const);
      const schema = { required: ['role', ...required], properties: { role: { const: role }, ...Object.fromEntries(fields) } };
      return { name, text: `/** A message of role \`${role}\`. */\nexport interface ${name} ${this.#members(schema, '')}\n` };
    });
    return [...roles.map(({ text }) => text), `${comment(doc, '')}export type Message = ${roles.map(({ name }) => name).join(' | ')};\n`];
  }

  #members({ properties = {}, required = [] }: Schema, indent: string): string {
    const deeper = `${indent}  `;
    const lines = Object.entries(properties).map(
      ([name, schema]) =>
        `${comment(schema.description, deeper)}${deeper}readonly ${name}${required.includes(name) ? '' : '?'}: ${this.#type(schema, deeper)};\n`,
    );
    return `{\n${lines.join('')}${indent}}`;
  }

  #type(schema: Schema, indent: string): string {
    return this.#names.get(schema) ?? this.#names.get(schema.properties) ?? this.#names.get(schema.enum) ?? this.#structure(schema, indent);
  }

  #structure(schema: Schema, indent: string): string {
    if (schema.const !== undefined) return literal(schema.const);
    if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
    if (schema.anyOf !== undefined) return schema.anyOf.map((one) => this.#type(one, indent)).join(' | ');
    if (schema.properties !== undefined) return this.#members(schema, indent);
    if (schema.type === 'array') return this.#list(schema.items ?? {}, indent);
    if (schema.type === 'object') return `Readonly<Record<string, ${this.#type(asSchema(schema.additionalProperties), indent)}>>`;
    if (schema.type === undefined) return 'unknown';
    return schema.type === 'integer' ? 'number' : schema.type;
  }

  #list(items: Schema, indent: string): string {
    const type = this.#type(items, indent);
    const isComposed = / \| |^readonly /.test(type) && !type.startsWith('{');
    return `readonly ${isComposed ? `(${type})` : type}[]`;
  }
}

function asSchema(value: boolean | Schema | undefined): Schema {
  return typeof value === 'object' ? value : {};
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && ('type' in value || 'anyOf' in value);
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

function comment(text: string | undefined, indent: string): string {
  if (text === undefined) return '';
  const lines = text.replaceAll('*/', '*\\/').split('\n');
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}
