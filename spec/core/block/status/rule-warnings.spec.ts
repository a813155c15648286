import t from 'tap';
import { ruleWarnings } from '../../../../core/block/status/rule-warnings.ts';
import { configOf } from '../../../support/block-files.ts';

const warningsOf = (tools: object) => ruleWarnings(configOf({ tools }, 'ada'));

t.test('a block from elsewhere says which calls of tools it makes without a person', async (t) => {
  t.strictSame(warningsOf({ servers: ['files', 'web'], allow: ['files/*', { tool: 'web/fetch', where: {} }] }), [
    {
      field: 'config.tools.allow',
      message:
        'Once it is started, the block may call tools of 2 servers of this machine without asking you, by its rules files/*, web/fetch. Look at them first: `blockhouse config get ada tools`.',
    },
  ]);
  t.match(warningsOf({ servers: ['files'], allow: ['*'], taint: 'ignore' }), [
    { message: /tools of one server .* by its rules \*\. / },
    { field: 'config.tools.taint', message: /do not wait for you either/ },
  ]);
});

t.test('rules that count even in a tainted run are named', async (t) => {
  t.match(warningsOf({ servers: ['mail', 'files'], allow: ['files/*', { tool: 'mail/*', evenTainted: true }] }), [
    { message: /by its rules files\/\*, mail\/\*\. / },
    { field: 'config.tools.allow', message: /^Its calls by mail\/\* that write or send do not wait for you either/ },
  ]);
  t.equal(warningsOf({ servers: ['mail'], allow: [{ tool: 'mail/*', evenTainted: false }] }).length, 1);
});

t.test('few rules are named, and little of each', async (t) => {
  const [warning] = warningsOf({ servers: ['files'], allow: Array.from({ length: 8 }, (_, at) => `files/${at}${'x'.repeat(200)}`) });
  t.match(warning?.message, /files\/4x+ and 3 more\./);
  t.ok((warning?.message.length ?? 0) < 700);
});

t.test('a block without tools, or one that asks for each call, has no warning', async (t) => {
  t.strictSame(ruleWarnings(configOf()), []);
  for (const tools of [
    { servers: [], allow: ['*'] },
    { servers: ['files'], allow: [] },
    { servers: ['files'], taint: 'ignore' },
  ])
    t.strictSame(warningsOf(tools), []);
});
