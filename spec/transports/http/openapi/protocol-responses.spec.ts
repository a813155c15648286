import t from 'tap';
import { PROTOCOL_EXAMPLES } from '../../../../transports/http/openapi/examples-protocols.ts';
import { RESPONSES_SHAPES } from '../../../../transports/http/openapi/protocol-responses.ts';
import { faults, pointerTo } from '../../../contract/document.ts';

const faultsOf = (name: string, value: unknown): unknown[] => faults(pointerTo('components', 'schemas', name), value);

t.test('each member that a schema requires is missed', async (t) => {
  for (const { of, value } of Object.values(PROTOCOL_EXAMPLES)) {
    if (!(of in RESPONSES_SHAPES)) continue;
    t.strictSame(faultsOf(of, value), [], of);
    const required = (RESPONSES_SHAPES as Readonly<Record<string, { readonly required?: readonly string[] }>>)[of]?.required ?? [];
    for (const name of required) t.not(faultsOf(of, { ...(value as object), [name]: undefined }).length, 0, `${of}.${name}`);
  }
});

t.test('the name of a frame is the type of its data', async (t) => {
  const data = { type: 'response.output_text.delta', sequence_number: 1, item_id: 'a', output_index: 0, content_index: 0, delta: 'x', logprobs: [] };
  t.strictSame(faultsOf('ResponseFrame', { event: data.type, data }), []);
  t.not(faultsOf('ResponseFrame', { event: 'response.created', data }).length, 0);
});
