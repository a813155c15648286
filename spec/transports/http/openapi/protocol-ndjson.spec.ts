import t from 'tap';
import { PROTOCOL_EXAMPLES } from '../../../../transports/http/openapi/examples-protocols.ts';
import { NDJSON_SHAPES } from '../../../../transports/http/openapi/protocol-ndjson.ts';
import { faults, pointerTo } from '../../../contract/document.ts';

const faultsOf = (name: string, value: unknown): unknown[] => faults(pointerTo('components', 'schemas', name), value);

t.test('each member that a schema requires is missed', async (t) => {
  for (const { of, value } of Object.values(PROTOCOL_EXAMPLES)) {
    if (!(of in NDJSON_SHAPES)) continue;
    t.strictSame(faultsOf(of, value), [], of);
    const required = (NDJSON_SHAPES as Readonly<Record<string, { readonly required?: readonly string[] }>>)[of]?.required ?? [];
    for (const name of required) t.not(faultsOf(of, { ...(value as object), [name]: undefined }).length, 0, `${of}.${name}`);
  }
});

t.test('a line is a piece, the end or an error', async (t) => {
  t.strictSame(faultsOf('OllamaChatLine', { error: 'It broke.' }), []);
  t.not(faultsOf('OllamaChatLine', { done: true }).length, 0);
});
