// What servers may ask people, and what answers are right.
import t from 'tap';
import { answersFault, readForms } from '../../../core/tools/input.ts';
import type { InputField } from '../../../core/types.ts';

const form = (properties: object, required: readonly string[] = [], more: object = {}) => ({
  method: 'elicitation/create',
  params: { message: 'Please.', requestedSchema: { type: 'object', properties, required }, ...more },
});
const read = (requests: unknown, state?: string) => readForms(requests, state, 'crm');
const fieldsOf = (properties: object) => read({ a: form(properties) })['a']?.fields as InputField[];
const refusal = (requests: unknown, state?: string): string => {
  try {
    read(requests, state);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

t.test('each kind of field that the protocol has becomes one of ours, and what it does not have is dropped', async (t) => {
  t.strictSame(read({ a: form({ name: { type: 'string', title: 'Name', pattern: '(a+)+$', minLength: 2, format: 'email', $ref: 'x' } }, ['name']) }), {
    a: { message: 'Please.', fields: [{ name: 'name', title: 'Name', isRequired: true, type: 'string', format: 'email', min: 2 }] },
  });
  t.match(fieldsOf({ a: { type: 'integer', minimum: 1, maximum: 9, default: 4 }, b: { type: 'boolean', default: 'no' } }), [
    { type: 'integer', min: 1, max: 9, default: 4 },
    { type: 'boolean', default: undefined },
  ]);
  const two = [
    { value: 'x', title: 'X' },
    { value: 'y', title: 'y' },
  ];
  t.match(fieldsOf({ a: { type: 'string', oneOf: [{ const: 'x', title: 'X' }, { const: 'y' }] } }), [{ type: 'choice', options: two }]);
  t.match(fieldsOf({ a: { type: 'string', enum: ['x', 'y'], enumNames: ['X'] } }), [{ type: 'choice', options: two }]);
  const list = { type: 'array', maxItems: 1, items: { anyOf: [{ const: 'x', title: 'X' }, { const: 'y' }] } };
  t.match(fieldsOf({ a: list }), [{ type: 'choices', options: two, max: 1 }]);
  t.strictSame(read(undefined, 'only a state'), {});
});

t.test('bounded: many long texts and choices, each within its bounds, are refused together', async (t) => {
  const long = (fields: number) =>
    form(Object.fromEntries(Array.from({ length: fields }, (_, at) => [`f${at}`, { type: 'boolean', description: 'x'.repeat(3800) }])));
  t.equal(read({ a: long(4), b: long(4) })['b']?.fields.length, 4);
  t.match(refusal({ a: long(5), b: long(5) }), /its forms have more than 32768 characters together/);
});

t.test('bounded: a form beyond the bounds is refused whole', async (t) => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, { type: 'boolean' }]));
  for (const [what, requests] of [
    ['fields', { a: form(many(21)) }],
    ['requests', Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, form({})]))],
    ['nested', { a: form({ a: { type: 'object', properties: {} } }) }],
    ['a list of lists', { a: form({ a: { type: 'array', items: { type: 'array' } } }) }],
    ['choices', { a: form({ a: { type: 'string', enum: Array.from({ length: 101 }, String) } }) }],
    ['no choices', { a: form({ a: { type: 'string', enum: [] } }) }],
    ['a choice that is no text', { a: form({ a: { type: 'string', enum: [5] } }) }],
    ['message', { a: form({}, [], { message: 'x'.repeat(4001) }) }],
    ['title', { a: form({ a: { type: 'string', title: 'x'.repeat(201) } }) }],
    ['name', { a: form({ ['x'.repeat(129)]: { type: 'string' } }) }],
    ['proto', JSON.parse('{"__proto__":{"method":"elicitation/create"}}')],
    ['no schema', { a: { method: 'elicitation/create', params: { message: 'x' } } }],
    ['no object', { a: 5 }],
    ['a list', []],
    ['sampling', { a: { method: 'sampling/createMessage', params: {} } }],
    ['roots', { a: { method: 'roots/list' } }],
  ] as const)
    t.match(refusal(requests), /^The server asks a person for something, and nobody was asked: .*\.$/s, what);
  t.match(refusal({ a: form({}) }, 'x'.repeat(65_537)), /longer than 65536 characters/);
});

t.test('an address to open is refused with the reason, and a secret with a better way', async (t) => {
  t.match(refusal({ a: { method: 'elicitation/create', params: { mode: 'url', message: 'x', url: 'https://evil.example' } } }), /opens and shows no addresses/);
  for (const properties of [
    { apiKey: { type: 'string' } },
    { password: { type: 'string' } },
    { a: { type: 'string', title: 'Access token' } },
    { github_pat: { type: 'string' } },
    { card_cvv: { type: 'string' } },
    { otpCode: { type: 'string' } },
    { pin: { type: 'integer' } },
    { token_value: { type: 'string' } },
    { Passwort: { type: 'string' } },
    { '\u0440assword': { type: 'string' } },
    { 'pass\u200bword': { type: 'string' } },
    { 'pass\u034fwo\u3164rd': { type: 'string' } },
    { answer: { type: 'string', description: 'Your GitHub password, to go on' } },
    { answer: { type: 'string', title: 'Seed phrase' } },
  ])
    t.match(refusal({ a: form(properties) }), /sounds like a secret\. Give it .*`blockhouse tools secret set crm\.<field>`/);
  t.equal(
    refusal({
      a: form({
        tokens_left: { type: 'integer' },
        secretary: { type: 'string' },
        spin: { type: 'boolean' },
        shipping: { type: 'string', title: 'Pinned address' },
      }),
    }),
    '',
  );
});

t.test('nor does the message of a form ask for a secret that somebody types; what only names one is asked', async (t) => {
  const asks = (message: string, properties: object) =>
    refusal({ a: { method: 'elicitation/create', params: { message, requestedSchema: { type: 'object', properties } } } });
  for (const message of ['Type your GitHub password below.', 'Your pass\u034fphrase, please', 'Now the one-time code'])
    t.match(asks(message, { answer: { type: 'string' } }), /its message sounds like it wants a secret\. Give it .*`blockhouse tools secret set crm\.<field>`/);
  t.equal(asks('Shall the password of bob be reset?', { yes: { type: 'boolean' }, how: { type: 'string', enum: ['by mail', 'by post'] } }), '');
});

t.test('as-asked: an answer fits its form, and the fault says where it does not', async (t) => {
  const forms = read({
    a: form(
      {
        name: { type: 'string', maxLength: 3 },
        age: { type: 'integer', minimum: 18 },
        colours: { type: 'array', items: { type: 'string', enum: ['red', 'blue'] } },
      },
      ['name'],
    ),
    b: form({}),
  });
  const b = { action: 'decline' } as const;
  const accept = (content: object) => answersFault(forms, { a: { action: 'accept', content: content as Record<string, unknown> }, b });
  t.equal(accept({ name: 'äöü', age: 18, colours: ['red'] }), undefined);
  t.equal(answersFault(forms, { a: { action: 'cancel' }, b }), undefined);
  for (const [content, path, problem] of [
    [{}, 'name', 'must be answered'],
    [{ name: 'long' }, 'name', 'must have at most 3 characters'],
    [{ name: 'a', age: 17 }, 'age', 'must be at least 18'],
    [{ name: 'a', age: 18.5 }, 'age', 'must be a whole number'],
    [{ name: 'a', colours: ['red', 'red'] }, 'colours', 'must be a list of its choices, each once'],
    [{ name: 'a', other: 1 }, 'other', 'is no field of the form'],
    [{ name: 5 }, 'name', 'must be a text'],
    [{ name: null }, 'name', 'must be a text'],
  ] as const)
    t.strictSame(accept(content), { path: `input.a.content.${path}`, problem });
  t.match(answersFault(forms, { a: { action: 'decline' } }), { path: 'input.b' });
  t.match(answersFault(forms, { a: { action: 'decline' }, b, c: b }), { path: 'input.c', problem: 'is not asked for' });
});

t.test('no-secret-said: an answer with a key or token in it is refused, whatever its field is called', async (t) => {
  const forms = read({ a: form({ greeting: { type: 'string' } }) });
  const said = (greeting: string) => answersFault(forms, { a: { action: 'accept', content: { greeting } } });
  for (const secret of [`ghp_${'a'.repeat(36)}`, `my key is sk-ant-api03-${'b'.repeat(40)}`, `glpat-${'c'.repeat(20)}`])
    t.match(said(secret), { path: 'input.a.content.greeting', problem: /^has a key or token in it, which the server would get/ }, secret);
  for (const harmless of ['Ada', 'https://example.com/a?b=c', 'a sentence about tokens and keys', '2026-11-28', 'ada@example.com'])
    t.equal(said(harmless), undefined);
});
