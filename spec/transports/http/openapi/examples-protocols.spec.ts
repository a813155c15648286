import t from 'tap';
import { PROTOCOL_EXAMPLES } from '../../../../transports/http/openapi/examples-protocols.ts';
import { faults, pointerTo } from '../../../contract/document.ts';

t.test('each example fits its schema', async (t) => {
  for (const [name, { of, value }] of Object.entries(PROTOCOL_EXAMPLES)) t.strictSame(faults(pointerTo('components', 'schemas', of), value), [], name);
});
