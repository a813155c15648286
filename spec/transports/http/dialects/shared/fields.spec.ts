import t from 'tap';
import {
  flag,
  ignoredFields,
  integer,
  list,
  number,
  objectAt,
  objectBody,
  optionalObject,
  requiredText,
  text,
} from '../../../../../transports/http/dialects/shared/fields.ts';

const BODY = { s: 'x', n: 1.5, i: 2, b: true, l: [1], o: { a: 1 }, none: null };

t.test('a field has its value, and null counts as absent', async (t) => {
  t.same(
    [text(BODY, 's'), number(BODY, 'n', 0, 2), integer(BODY, 'i', 0, 2), flag(BODY, 'b'), list(BODY, 'l'), optionalObject(BODY, 'o')],
    ['x', 1.5, 2, true, [1], { a: 1 }],
  );
  for (const name of ['none', 'missing'])
    t.same(
      [text(BODY, name), number(BODY, name, 0, 1), integer(BODY, name, 0, 1), flag(BODY, name), list(BODY, name), optionalObject(BODY, name)],
      Array(6).fill(undefined),
      name,
    );
});

t.test('what is wrong is refused by its name', async (t) => {
  for (const [read, path] of [
    [() => text(BODY, 'n'), 'n'],
    [() => number(BODY, 's', 0, 1), 's'],
    [() => number(BODY, 'n', 0, 1), 'n'],
    [() => integer(BODY, 'n', 0, 2), 'n'],
    [() => flag(BODY, 's'), 's'],
    [() => list(BODY, 'o'), 'o'],
    [() => optionalObject(BODY, 'l'), 'l'],
    [() => requiredText(BODY, 'none'), 'none'],
    [() => objectAt(1, 'here'), 'here'],
  ] as const)
    t.throws(read, { code: 'INVALID_REQUEST', details: [{ path }] }, path);
  t.throws(() => objectBody([]), { code: 'INVALID_REQUEST', message: /JSON object/ });
});

t.test('a body that could not be written as JSON again is refused', async (t) => {
  const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  t.ok(objectBody({ metadata: nested(100) }));
  t.throws(() => objectBody({ metadata: nested(5000) }), /^The body nests deeper than \d+ levels/);
});

t.test('a field that is not understood is told, unless its value asks for nothing', async (t) => {
  const body = { known: 1, next: 'x', off: false, none: null, empty: '', zero: 0, list: [] };
  t.same(
    ignoredFields(body, new Set(['known'])).map(({ field }) => field),
    ['next', 'list'],
  );
});
