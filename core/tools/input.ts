// What a server asks of a person in the middle of a call (elicitation in a form), and the answer. Pure: no I/O.
//
// bounded: a form is flat, with fields of a few kinds, of which some say how many and how long. What a server says beside that is dropped, and a form beyond the bounds is
//   refused whole: its call has a result that says why, and nobody is asked.
// no-secret: what sounds like a secret is not asked for here. It would stand in the journal, and the server's form is no place for it.
// no-secret-said: a server may ask for a secret under another name, so an answer that has the form of a key is refused, too. Beyond that, who answers reads which server gets
//   it and that it is kept; nobody else answers.
// as-asked: an answer has a value for each required field and none for others, each of the kind and within the bounds that the form says.
import { FORMATS, valueFault } from '../base/form-value.ts';
import { isObject } from '../base/json.ts';
import type { InputAnswer, InputField, InputForm } from '../types.ts';
import { looksSecret, namesSecret } from './literal-secrets.ts';

/** A server asks so often in one call. */
export const MAX_ROUNDS = 5;
const MAX_REQUESTS = 5;
const MAX_FIELDS = 20;
const MAX_OPTIONS = 100;
const MAX_NAME = 128;
const MAX_TITLE = 200;
const MAX_TEXT = 4000;
/** All forms of a question. They are held and shown with each call that waits. */
const MAX_FORMS = 32_768;
/** It goes back to the server as it is. */
const MAX_STATE = 65_536;

/** Forms by the names that the server gives them. */
export type InputForms = Readonly<Record<string, InputForm>>;
/** Answers by the same names. */
export type InputAnswers = Readonly<Record<string, InputAnswer>>;

/** Reads what a server asks. Throws an Error whose message says why nobody is asked, as a sentence. */
export function readForms(requests: unknown, requestState: string | undefined, server: string): InputForms {
  if (requestState !== undefined && requestState.length > MAX_STATE) throw refused(`the state that it wants back is longer than ${MAX_STATE} characters`);
  if (requests !== undefined && !isObject(requests)) throw refused('what it asks is no object');
  const entries = Object.entries(requests ?? {});
  if (entries.length > MAX_REQUESTS) throw refused(`it asks for more than ${MAX_REQUESTS} things at once`);
  const forms = Object.fromEntries(entries.map(([name, request]) => [named(name, 'a request'), formOf(request, server)]));
  if (JSON.stringify(forms).length > MAX_FORMS) throw refused(`its forms have more than ${MAX_FORMS} characters together`);
  return forms;
}

function formOf(request: unknown, server: string): InputForm {
  const { method, params } = isObject(request) ? request : {};
  if (method !== 'elicitation/create')
    throw refused(`it asks for ${typeof method === 'string' ? method.slice(0, MAX_NAME) : 'nothing known'}, which no server gets here`);
  if (!isObject(params)) throw refused('its form is missing');
  const { mode = 'form', message, requestedSchema } = params;
  if (mode === 'url')
    throw refused(
      'it wants you to open an address, where it would ask by itself. Blockhouse opens and shows no addresses of servers, because nobody could tell whose they are',
    );
  if (mode !== 'form') throw refused('it asks in a way that is not known here');
  if (!isObject(requestedSchema) || requestedSchema['type'] !== 'object' || !isObject(requestedSchema['properties'])) throw refused('its form has no fields');
  const required = requestedSchema['required'];
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
  const properties = Object.entries(requestedSchema['properties']);
  if (properties.length > MAX_FIELDS) throw refused(`its form has more than ${MAX_FIELDS} fields`);
  const fields = properties.map(([name, schema]) => fieldOf(named(name, 'a field'), schema, { isRequired: isRequired(name), server }));
  const said = text(message, MAX_TEXT, 'message') ?? '';
  if (fields.some(({ type }) => type === 'string') && ASKED_FOR.test(plainWords(said)))
    throw refused(`its message sounds like it wants a secret. ${anotherWay(server)}`); // no-secret
  return { message: said, fields };
}

function anotherWay(server: string): string {
  return `Give it to the server another way, such as \`blockhouse tools secret set ${server}.<field>\``;
}

function fieldOf(name: string, schema: unknown, { isRequired, server }: { readonly isRequired: boolean; readonly server: string }): InputField {
  if (!isObject(schema)) throw refused(`the field ${name} is none`);
  const { type, format } = schema;
  const title = text(schema['title'], MAX_TITLE, `title of ${name}`);
  const description = text(schema['description'], MAX_TEXT, `description of ${name}`);
  if (asksForSecret(name, title, description)) throw refused(`the field ${name} sounds like a secret. ${anotherWay(server)}`);
  const common = { name, ...(title !== undefined && { title }), ...(description !== undefined && { description }), isRequired };
  const kind = kindOf(name, type, schema);
  const isText = kind === 'string';
  const bounds = isText ? ['minLength', 'maxLength'] : kind === 'choices' ? ['minItems', 'maxItems'] : ['minimum', 'maximum'];
  const [min, max] = bounds.map((keyword) => (typeof schema[keyword] === 'number' ? schema[keyword] : undefined));
  const options = kind === 'choice' ? optionsOf(name, schema) : kind === 'choices' ? optionsOf(name, schema['items']) : undefined;
  const field: InputField = {
    ...common,
    type: kind,
    ...(isText && typeof format === 'string' && Object.hasOwn(FORMATS, format) && { format: format as NonNullable<InputField['format']> }),
    ...(options !== undefined && { options }),
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
  };
  const fallback = schema['default'];
  return fallback !== undefined && valueFault(field, fallback) === undefined ? { ...field, default: fallback } : field;
}

/** What people keep to themselves, and is in the last part of a name, too: `card_cvv`, `otpCode`. */
const KEPT_TO_ONESELF =
  /(?:^|[^a-z])(?:pin|otp|totp|mfa|2fa|cvv2?|cvc2?|ssn|seed|passwor[dt]|passwd|pass(?:code|phrase)|token|secret|credentials?)(?:[^a-z]|$)/;
/** In a sentence, only what can mean nothing else. */
const ASKED_FOR = /\b(?:passwor[dt]|pass(?:code|phrase)|api[ _-]?key|access token|(?:secret|private) key|(?:seed|recovery) phrase|one[- ]time code|cvv|cvc)\b/;
/** Letters that look like Latin ones. */
const ALIKE: Readonly<Record<string, string>> = { а: 'a', е: 'e', о: 'o', р: 'p', с: 'c', х: 'x', у: 'y', і: 'i', ѕ: 's', ο: 'o', ρ: 'p', α: 'a' };

/** A server that wants a secret can write it in many ways; this finds the usual ones (no-secret). */
function asksForSecret(name: string, title = '', description = ''): boolean {
  const words = [name, title].map(plainWords);
  if (namesSecret(name) || namesSecret(title) || words.some((text) => namesSecret(text) || KEPT_TO_ONESELF.test(text))) return true;
  return [...words, plainWords(description)].some((text) => ASKED_FOR.test(text));
}

/** In small Latin letters, with a blank between words, and without what is not seen. */
function plainWords(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/\P{ASCII}/gu, (letter) => ALIKE[letter] ?? letter);
}

function kindOf(name: string, type: unknown, schema: Record<string, unknown>): InputField['type'] {
  if (type === 'string') return schema['enum'] !== undefined || schema['oneOf'] !== undefined ? 'choice' : 'string';
  if (type === 'number' || type === 'integer' || type === 'boolean') return type;
  if (type === 'array' && isObject(schema['items'])) return 'choices';
  throw refused(`the field ${name} is neither a text, a number, yes or no, nor a choice`);
}

function optionsOf(name: string, schema: unknown): NonNullable<InputField['options']> {
  const { enum: values, oneOf, anyOf, enumNames } = isObject(schema) ? schema : {};
  const given = Array.isArray(values) ? values : Array.isArray(oneOf) ? oneOf : anyOf;
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_OPTIONS) throw refused(`the field ${name} must have 1 to ${MAX_OPTIONS} choices`);
  return given.map((one: unknown, index) => {
    const value = isObject(one) ? one['const'] : one;
    const title = isObject(one) ? one['title'] : Array.isArray(enumNames) ? enumNames[index] : undefined;
    if (typeof value !== 'string' || value.length > MAX_TITLE) throw refused(`a choice of the field ${name} is no text of at most ${MAX_TITLE} characters`);
    return { value, title: text(title, MAX_TITLE, `title of a choice of ${name}`) ?? value };
  });
}

function named(name: string, what: string): string {
  if (name === '' || name.length > MAX_NAME || name === '__proto__') throw refused(`${what} has a name that can't be used`);
  return name;
}

function text(value: unknown, most: number, what: string): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (value.length > most) throw refused(`the ${what.slice(0, MAX_TITLE)} is longer than ${most} characters`);
  return value;
}

function refused(why: string): Error {
  return new Error(`The server asks a person for something, and nobody was asked: ${why}.`);
}

/** no-secret-said. */
function secretFault(value: unknown): string | undefined {
  return typeof value === 'string' && looksSecret(value)
    ? 'has a key or token in it, which the server would get and the journal would keep; decline instead'
    : undefined;
}

/** What is wrong with the answers, and where; undefined where they are right (as-asked). */
export function answersFault(forms: InputForms, answers: InputAnswers): { readonly path: string; readonly problem: string } | undefined {
  const foreign = Object.keys(answers).find((name) => !Object.hasOwn(forms, name));
  if (foreign !== undefined) return { path: `input.${foreign.slice(0, MAX_NAME)}`, problem: 'is not asked for' };
  for (const [name, { fields }] of Object.entries(forms)) {
    const path = `input.${name}`;
    const answer = Object.hasOwn(answers, name) ? answers[name] : undefined;
    if (answer === undefined) return { path, problem: 'must have an answer with accept, decline or cancel' };
    const content = answer.content ?? {};
    if (answer.action !== 'accept') continue;
    const other = Object.keys(content).find((key) => !fields.some((field) => field.name === key));
    if (other !== undefined) return { path: `${path}.content.${other.slice(0, MAX_NAME)}`, problem: 'is no field of the form' };
    for (const field of fields) {
      const value = Object.hasOwn(content, field.name) ? content[field.name] : undefined;
      const problem = value === undefined ? (field.isRequired ? 'must be answered' : undefined) : (valueFault(field, value) ?? secretFault(value));
      if (problem !== undefined) return { path: `${path}.content.${field.name}`, problem };
    }
  }
  return undefined;
}
