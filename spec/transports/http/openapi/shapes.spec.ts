import t from 'tap';
import { COUNT, frame, list, one, oneValue, orNull, ref, STRING, shape } from '../../../../transports/http/openapi/shapes.ts';

t.test('the members of a shape are required, but for the optional ones, and others are allowed', async (t) => {
  t.strictSame(shape({ a: STRING }, { b: COUNT }), {
    type: 'object',
    additionalProperties: true,
    required: ['a'],
    properties: { a: { type: 'string' }, b: { type: 'integer', minimum: 0 } },
  });
});

t.test('a frame has its data, and its event where it has a name', async (t) => {
  t.strictSame(frame(STRING).required, ['data']);
  t.match(frame(STRING, 'ping'), { required: ['event', 'data'], properties: { event: { const: 'ping' } } });
});

t.test('the short forms', async (t) => {
  t.strictSame(oneValue('a'), { type: 'string', const: 'a' });
  t.strictSame(oneValue('a', 'b'), { type: 'string', enum: ['a', 'b'] });
  t.strictSame(orNull(STRING), { anyOf: [STRING, { type: 'null' }] });
  t.strictSame(list(STRING), { type: 'array', items: STRING });
  t.strictSame(one(STRING, COUNT), { oneOf: [STRING, COUNT] });
  t.strictSame(ref('Response'), { $ref: '#/components/schemas/Response' });
});
