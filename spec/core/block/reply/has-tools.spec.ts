// Whether a block has tools, and what it gets where it can't have any.
import t from 'tap';
import { hasTools, noTools } from '../../../../core/block/reply/has-tools.ts';

t.test('a block has tools if its configuration names a server of them', async (t) => {
  t.equal(hasTools({}), false);
  t.equal(hasTools({ tools: null }), false);
  t.equal(hasTools({ tools: { allow: ['*'] } }), false);
  t.equal(hasTools({ tools: { servers: ['bank'] } }), true);
});

t.test('the refusal names the field, the cause and the cure', async (t) => {
  t.match(noTools('config.'), {
    code: 'INVALID_REQUEST',
    message: /^config\.tools\.servers can't be used yet: this server has nothing that runs tools .*Remove `tools`/,
  });
});
