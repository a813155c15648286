// Answers to what servers of tools ask in forms: given at once, or field by field. Pure: no I/O.
import { valueFault } from '../../core/base/form-value.ts';
import type { Decide, ShownApproval } from '../../core/index.ts';
import { oneLine } from '../terminal/output.ts';
import { fieldLine } from '../views/approval-text.ts';
import { parseFields } from './config-edit.ts';

type Forms = NonNullable<ShownApproval['request']>;
type Field = Forms[string]['fields'][number];
type Answers = NonNullable<Decide['input']>;

/** The answers of `--input`: the values of the only form, or of each by its name. Rejects with a CliError for what is no JSON object. */
export async function answersIn(text: string, forms: Forms): Promise<Answers> {
  const given = await parseFields(text, '--input');
  const names = Object.keys(forms);
  const [only] = names;
  if (names.length === 1 && only !== undefined) return { [only]: { action: 'accept', content: given } };
  return Object.fromEntries(Object.entries(given).map(([name, content]) => [name, { action: 'accept', content: content as Record<string, unknown> }]));
}

/** Asks for one field after the other, and again for one whose line does not fit. What is left empty, or is a `-`, is left out, or is what the form begins with. */
export class FormFiller {
  readonly #fields: { readonly form: string; readonly field: Field }[];
  readonly #content: Record<string, Record<string, unknown>>;
  #at = 0;
  #fault: string | undefined;

  constructor(forms: Forms) {
    this.#content = Object.fromEntries(Object.keys(forms).map((form) => [form, {}]));
    this.#fields = Object.entries(forms).flatMap(([form, { fields }]) => fields.map((field) => ({ form, field })));
  }

  /** What to ask next; undefined when all is answered. */
  get question(): string | undefined {
    const next = this.#fields[this.#at];
    if (next === undefined) return undefined;
    return this.#fault === undefined ? `${fieldLine(next.field)}: ` : `It ${oneLine(this.#fault)}. ${oneLine(next.field.name)}: `;
  }

  take(line: string): void {
    const next = this.#fields[this.#at];
    if (next === undefined) return;
    const { form, field } = next;
    const isLeftOut = line === '' || (line === '-' && !field.isRequired);
    const value = isLeftOut ? field.default : valueIn(field, line);
    this.#fault = value !== undefined ? valueFault(field, value) : field.isRequired ? 'must be answered' : undefined;
    if (this.#fault !== undefined) return;
    if (value !== undefined) this.#content[form] = { ...this.#content[form], [field.name]: value };
    this.#at += 1;
  }

  get answers(): Answers {
    return Object.fromEntries(Object.entries(this.#content).map(([form, content]) => [form, { action: 'accept', content }]));
  }
}

/** What does not fit stays as it is, so that what is wrong can be said of it. */
function valueIn({ type, options = [] }: Field, line: string): unknown {
  const chosen = (text: string): string => options[Number(text) - 1]?.value ?? text;
  if (type === 'boolean' && /^(?:y|yes|true|n|no|false)$/i.test(line)) return /^[yt]/i.test(line);
  if (type === 'number' || type === 'integer') return Number.isNaN(Number(line)) ? line : Number(line);
  if (type === 'choice') return chosen(line.trim());
  return type === 'choices' ? line.split(',').map((one) => chosen(one.trim())) : line;
}
