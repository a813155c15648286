// Answers to forms of servers, from `--input` and line by line.
import t from 'tap';
import { answersIn, FormFiller } from '../../../cli/input/form-answers.ts';
import { fieldLine } from '../../../cli/views/approval-text.ts';
import type { InputField } from '../../../core/types.ts';

const field = (name: string, more: object = {}): InputField => ({ name, type: 'string', isRequired: false, ...more }) as InputField;
const forms = (...fields: InputField[]) => ({ who: { message: 'Who?', fields } });

t.test('the values of the only form stand alone, those of several by its name', async (t) => {
  t.strictSame(await answersIn('{"name": "Ada"}', forms()), { who: { action: 'accept', content: { name: 'Ada' } } });
  const two = { ...forms(), ...{ why: { message: 'Why?', fields: [] } } };
  t.strictSame(await answersIn('{"who": {"name": "Ada"}, "why": {}}', two), {
    who: { action: 'accept', content: { name: 'Ada' } },
    why: { action: 'accept', content: {} },
  });
  await t.rejects(answersIn('[1]', forms()), { message: /--input is not a JSON object/ });
});

t.test('a line becomes a value of the kind of its field', async (t) => {
  const options = [
    { value: 'a', title: 'A' },
    { value: 'b', title: 'b' },
  ];
  const filler = new FormFiller(
    forms(
      field('text'),
      field('count', { type: 'integer' }),
      field('odd', { type: 'number' }),
      field('yes', { type: 'boolean' }),
      field('one', { type: 'choice', options }),
      field('some', { type: 'choices', options }),
      field('empty'),
      field('dash', { isRequired: true }),
      field('begins', { type: 'integer', default: 7 }),
    ),
  );
  t.equal(filler.question, 'text (text): ');
  for (const line of ['5', '5', '2.5', 'Yes', '2', '1, b', '', '-', '']) filler.take(line);
  t.equal(filler.question, undefined);
  filler.take('more');
  t.strictSame(filler.answers, {
    who: { action: 'accept', content: { text: '5', count: 5, odd: 2.5, yes: true, one: 'b', some: ['a', 'b'], dash: '-', begins: 7 } },
  });
});

t.test('a line that does not fit is said at once, and its field alone is asked again', async (t) => {
  const filler = new FormFiller(forms(field('name', { isRequired: true, min: 2 }), field('seats', { type: 'integer', isRequired: true, max: 9, default: 1 })));
  filler.take('');
  t.equal(filler.question, 'It must be answered. name: ');
  filler.take('A');
  t.equal(filler.question, 'It must have at least 2 characters. name: ');
  filler.take('Ada');
  t.equal(filler.question, 'seats (whole number, at most 9, required) [1]: ');
  filler.take('many');
  t.equal(filler.question, 'It must be a number. seats: ');
  filler.take('10');
  t.equal(filler.question, 'It must be at most 9. seats: ');
  filler.take('');
  t.equal(filler.question, undefined);
  t.strictSame(filler.answers, { who: { action: 'accept', content: { name: 'Ada', seats: 1 } } });
});

t.test('a field is one line, in which nothing is hidden', async (t) => {
  t.equal(
    fieldLine(field('n', { title: 'Na\u202eme\nx', description: 'Yours', min: 2, format: 'email' })),
    'n (email, at least 2 characters) Na\\u202eme x. Yours',
  );
  t.equal(fieldLine(field('n', { default: 'x', isRequired: true })), 'n (text, required) ["x"]');
});
