import t from 'tap';
import { valueFault } from '../../../core/base/form-value.ts';
import type { InputField } from '../../../core/types.ts';

t.test('a format is checked without a schema of the server', async (t) => {
  const fault = (format: string | undefined, value: string) => valueFault({ name: 'a', type: 'string', isRequired: false, format } as InputField, value);
  for (const [format, right, wrong] of [
    ['email', 'a@b.example', 'a b@c'],
    ['uri', 'https://a.example', 'a'],
    ['date', '2026-02-28', '2026-02-30'],
    ['date-time', '2026-02-28T01:02:03Z', '2026-02-28'],
  ] as const) {
    t.equal(fault(format, right), undefined, format);
    t.match(fault(format, wrong), /^must be /, format);
  }
  t.match(fault(undefined, 'y'.repeat(4097)), /at most 4096/);
  for (const format of ['email', 'uri', 'date', 'date-time'])
    t.match(fault(format, 'y'.repeat(4097)), /at most 4096/, 'the length first: to read a host with a hundred thousand accents takes seconds');
});

t.test('a value is of the kind of its field and within its bounds', async (t) => {
  const fault = (field: object, value: unknown) => valueFault({ name: 'a', isRequired: true, ...field } as InputField, value);
  t.equal(fault({ type: 'boolean' }, 'yes'), 'must be true or false');
  t.equal(fault({ type: 'integer', min: 1 }, 0), 'must be at least 1');
  t.equal(fault({ type: 'number' }, Number.NaN), 'must be a number');
  t.equal(fault({ type: 'choice', options: [{ value: 'x', title: 'X' }] }, 'y'), 'must be one of x');
  t.equal(fault({ type: 'choices', options: [{ value: 'x', title: 'X' }], min: 1 }, []), 'must have at least 1 choices');
});
