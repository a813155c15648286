import t from 'tap';
import { PROTOCOL_EXAMPLES } from '../../../../transports/http/openapi/examples-protocols.ts';
import { CHAT_SHAPES } from '../../../../transports/http/openapi/protocol-chat.ts';
import { faults, pointerTo } from '../../../contract/document.ts';

const faultsOf = (name: string, value: unknown): unknown[] => faults(pointerTo('components', 'schemas', name), value);

t.test('each member that a schema requires is missed', async (t) => {
  for (const { of, value } of Object.values(PROTOCOL_EXAMPLES)) {
    if (!(of in CHAT_SHAPES)) continue;
    t.strictSame(faultsOf(of, value), [], of);
    const required = (CHAT_SHAPES as Readonly<Record<string, { readonly required?: readonly string[] }>>)[of]?.required ?? [];
    for (const name of required) t.not(faultsOf(of, { ...(value as object), [name]: undefined }).length, 0, `${of}.${name}`);
  }
});

t.test('a frame is a chunk, an error or the end', async (t) => {
  t.strictSame(faultsOf('ChatCompletionFrame', { data: { error: { message: 'Busy.', type: 'server_error', param: null, code: null } } }), []);
  t.not(faultsOf('ChatCompletionFrame', { data: 'END' }).length, 0);
});
