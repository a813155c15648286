import t from 'tap';
import { UNIONS } from '../../../../transports/http/openapi/unions.ts';
import { faults, pointerTo, published } from '../../../contract/document.ts';

interface Union {
  readonly oneOf: readonly { readonly $ref: string }[];
  readonly discriminator: { readonly propertyName: string; readonly mapping: Record<string, string> };
}
interface Alternative {
  readonly required: readonly string[];
  readonly properties: Record<string, { readonly const?: unknown }>;
}
const schemas = published.components.schemas as Record<string, object>;
const unions = Object.entries(schemas).filter((entry): entry is [string, Union] => 'discriminator' in entry[1]);

t.test('the messages of a request and the events of a stream are unions', async (t) => {
  t.strictSame(unions.map(([name]) => name).sort(), ['ChatEvent', 'ChatMessage', 'ReplyEvent']);
  t.strictSame(
    Object.keys(UNIONS)
      .filter((name) => 'oneOf' in UNIONS[name as keyof typeof UNIONS])
      .sort(),
    ['ChatEvent', 'ChatMessage', 'ReplyEvent'],
  );
});

t.test('each alternative requires the tag, with the value that leads to it', async (t) => {
  for (const [name, { oneOf, discriminator }] of unions) {
    t.strictSame(oneOf.map(({ $ref }) => $ref).sort(), Object.values(discriminator.mapping).sort(), name);
    for (const [value, ref] of Object.entries(discriminator.mapping)) {
      const { required, properties } = schemas[ref.split('/').at(-1) ?? ''] as Alternative;
      t.ok(required.includes(discriminator.propertyName), ref);
      t.equal(properties[discriminator.propertyName]?.const, value, ref);
    }
  }
});

t.test('a message has the fields of its role and no others', async (t) => {
  const isMessage = (message: object): boolean => faults(pointerTo('components', 'schemas', 'ChatMessage'), message).length === 0;
  t.ok(isMessage({ role: 'assistant', toolCalls: [] }));
  t.notOk(isMessage({ role: 'user', content: 'x', toolCalls: [] }));
  t.notOk(isMessage({ role: 'user' }));
  t.notOk(isMessage({ content: 'x' }));
});
