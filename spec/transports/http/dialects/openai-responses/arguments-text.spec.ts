import t from 'tap';
import { ArgumentsText } from '../../../../../transports/http/dialects/openai-responses/arguments-text.ts';

const WHOLE: readonly (readonly string[])[] = [['{}'], [' {', '}\n', ' '], ['{"a":"}', '{\\', '"}"', '}'], ['{"a":[{"b":', '[]}],"c":"\\\\"}']];
const NOT_WHOLE: readonly (readonly string[])[] = [[], ['{'], ['{"a":"}'], ['[]'], ['1', '{}'], ['{}', 'x'], ['{]'], ['{}{}'], ['"{}"'], ['{"a":"\\"}']];

t.test('arguments have a value once their text is a JSON object', async (t) => {
  for (const pieces of [...WHOLE, ...NOT_WHOLE]) {
    const once = new ArgumentsText();
    const each = new ArgumentsText();
    for (const piece of pieces) {
      once.add(piece);
      each.add(piece);
      each.value();
    }
    const expected = WHOLE.includes(pieces) ? (JSON.parse(pieces.join('')) as object) : undefined;
    t.strictSame([once.value(), each.value(), once.text], [expected, expected, pieces.join('')], pieces.join('|'));
  }
});

t.test('the text is parsed once, in however many pieces it comes', async (t) => {
  const parses = t.capture(JSON, 'parse', JSON.parse);
  const broken = new ArgumentsText();
  for (const piece of ['{"a":"', ...Array.from({ length: 1000 }, () => '}'), '"', 'x', '}', ' ', '}']) {
    broken.add(piece);
    broken.value();
  }
  t.equal(parses().length, 1);
});

t.test('a text that would take seconds to parse has no value', async (t) => {
  const parses = t.capture(JSON, 'parse', JSON.parse);
  for (const inner of [`[${'1,'.repeat(201_000)}1]`, `${'['.repeat(150_000)}${']'.repeat(150_000)}`]) {
    const args = new ArgumentsText();
    args.add(`{"a":${inner}}`);
    t.equal(args.value(), undefined);
  }
  t.equal(parses().length, 0);
});
