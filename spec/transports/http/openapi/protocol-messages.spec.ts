import t from 'tap';
import { PROTOCOL_EXAMPLES } from '../../../../transports/http/openapi/examples-protocols.ts';
import { MESSAGES_SHAPES } from '../../../../transports/http/openapi/protocol-messages.ts';
import { faults, pointerTo } from '../../../contract/document.ts';

const faultsOf = (name: string, value: unknown): unknown[] => faults(pointerTo('components', 'schemas', name), value);

t.test('each member that a schema requires is missed', async (t) => {
  for (const { of, value } of Object.values(PROTOCOL_EXAMPLES)) {
    if (!(of in MESSAGES_SHAPES)) continue;
    t.strictSame(faultsOf(of, value), [], of);
    const required = (MESSAGES_SHAPES as Readonly<Record<string, { readonly required?: readonly string[] }>>)[of]?.required ?? [];
    for (const name of required) t.not(faultsOf(of, { ...(value as object), [name]: undefined }).length, 0, `${of}.${name}`);
  }
});

t.test('only the known events are frames', async (t) => {
  t.strictSame(faultsOf('MessageFrame', { event: 'ping', data: { type: 'ping' } }), []);
  t.not(faultsOf('MessageFrame', { event: 'pong', data: { type: 'pong' } }).length, 0);
});
