import t from 'tap';
import * as entry from '../../../transports/http/index.ts';
import * as server from '../../../transports/http/server.ts';

t.test('the entry point exports the two transports and nothing else at run time', async (t) => {
  t.strictSame(Object.keys(entry), ['createBareTransport', 'createHttpTransport']);
  t.equal(entry.createHttpTransport, server.createHttpTransport);
});
