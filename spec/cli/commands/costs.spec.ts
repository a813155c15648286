import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openDesk } from '../run.ts';

t.test('costs come as a table, as JSON and for a spreadsheet', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm-cloud', '--start']);
  await on(['send', 'one', '--wait', 'hi']);
  t.match(await on(['costs']), {
    code: 0,
    stdout: /^BLOCK +CALLS +INPUT +OUTPUT +CACHED +COST\none +1 +3 +2 +0 +1 not priced\ntotal +1 /,
    stderr: /price of one call is unknown/,
  });
  t.match((await on(['costs', 'one'])).stdout, /^MODEL .*\nollama\/m-cloud +1 /);
  t.match(JSON.parse((await on(['costs', '--by', 'day', '--json'])).stdout), { by: 'day', total: { calls: 1 } });
  t.match(await on(['costs', '--csv', '--json']), { code: 2, stderr: /either --csv or --json/ });
  t.match((await on(['costs', '--csv'])).stdout, /^block,calls,input,output,cacheRead,cacheWrite,costUsd,unpricedCalls\r\none,1,3,2,0,0,,1\n$/);
  t.match((await on(['costs', '--by', 'connection'])).stdout, /^CONNECTION .*\nollama +1 /);
  t.match((await on(['costs', '--gateway', '--by', 'credential'])).stdout, /^CREDENTIAL .*\ntotal +0 /);
  t.match(await on(['costs', '--gateway', '--by', 'block']), { code: 2, stderr: /--by must be one of key, connection, credential/ });
  t.match((await on(['costs', '--since', '7d', '--by', 'purpose'])).stdout, /^PURPOSE .*\nchat +1 /);
  t.match((await on(['costs', '--until', '2020-01-01'])).stdout, /\ntotal +0 /);
  for (const since of ['monday', '2026-02-31', '0000-01-01']) t.match(await on(['costs', '--since', since]), { code: 2, stderr: /--since must be a date/ });
  t.match(await on(['costs', '--by', 'key']), { code: 2, stderr: /By key are the calls of\s+clients: add\s+--gateway\./ });
  t.match(await on(['costs', '--by', 'hour']), { code: 2, stderr: /--by must be one of/ });
  t.match(await on(['costs', 'nope']), { code: 2, stdout: '', stderr: /no block "nope"/ });
  await on(['new', 'two']);
  t.match(await on(['costs', 'two']), { code: 0, stdout: /^MODEL/ });
});

t.test('a bill that can not be compared says why', async (t) => {
  const { workspace, on } = await openDesk(t);
  const file = join(workspace, 'bill.csv');
  const reconcile = (content: string, ...more: string[]) => {
    writeFileSync(file, content);
    return on(['costs', '--reconcile', file, ...more]);
  };
  for (const [content, more, problem] of [
    ['Day,SKU,Cost\n', ['--connection', 'a'], /bill\.csv can't be compared: .*say so with --columns.*its columns are Day, SKU, Cost/],
    ['Day,SKU,Cost\n', ['--columns', 'date=Tag'], /no column Tag/],
    ['Day,SKU,Cost\n', ['--columns', 'day=Day'], /--columns takes date, model, usd/],
    ['Day,SKU,Cost\n2026-11-01,x,1\n', ['--columns', 'date=Day,model=SKU,usd=Cost'], /--connection must say whose bill it is/],
    ['Day,SKU,Cost\n01/11/2026,x,1\n', ['--columns', 'date=Day,model=SKU,usd=Cost'], /line 2 has no date such as 2026-11-27/],
    ['Day,SKU,Cost\n2026-11-01,x,free\n', ['--columns', 'date=Day,model=SKU,usd=Cost'], /line 2 has no number in its usd column/],
    ['Day,SKU,Cost\n', ['--columns', 'date=Day,model=SKU,usd=Cost'], /no line with an amount/],
    ['Day,SKU,Cost\n"2026', ['--columns', 'date=Day,model=SKU,usd=Cost'], /a quote never ends/],
    ['', [], /bill\.csv is empty/],
    ['Day', ['--tolerance', '1'], /--tolerance must be a share in percent/],
    ['Tag;Betrag f\u00fcr\n\0', [], /bill\.csv can't be compared: it is not text in UTF-8; save or export/],
    [`Day,SKU,Cost\n${'x'.repeat(9 * 1024 * 1024)}`, [], /bill\.csv is larger than 8 MiB; export fewer days/],
    ['', ['--gateway'], /have no meaning there/],
  ] as const)
    t.match(await reconcile(content, ...more), { code: 2, stderr: problem }, JSON.stringify([content.slice(0, 40), ...more]));
  t.match(await reconcile('Day,SKU,Cost\n2026-11-01,x,1\n', '--connection', 'nobody', '--columns', 'date=Day,model=SKU,usd=Cost'), {
    code: 1,
    stderr: /1 differs\.\nNo call of nobody is counted on the days of this bill; --connection says whose bill it is\.\n$/,
  });
  t.match(await on(['costs', '--reconcile', join(workspace, 'none')]), { code: 2, stderr: /none is not there/ });
  t.match(await on(['costs', '--tolerance', '1%']), { code: 2, stderr: /--tolerance belongs to --reconcile/ });
});
