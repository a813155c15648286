import { rmSync } from 'node:fs';
import t from 'tap';
import { Explanation } from '../../../core/schemas/block-api.ts';
import { compile, type Validator } from '../../../core/schemas/validate.ts';
import { RUNNABLE, startCore } from '../../support/blocks.ts';

const check: Validator<Explanation> = compile(Explanation);

t.test('the explanation of a damaged block names the file, what is wrong with it and the cure', async (t) => {
  for (const file of ['config', 'memory', 'chat']) {
    for (const isRunning of [false, true]) {
      await t.test(`${file}, ${isRunning ? 'running' : 'stopped'}`, async (t) => {
        const one = await startCore(t);
        await one.create('ada');
        if (isRunning) await one.blocks.start('ada');
        else await one.blocks.post('ada', { message: 'hi' }, 'web');
        const before = one.readText('ada', file);
        one.write('ada', file, '{"half');
        const explanation = await one.blocks.explain('ada');
        check(explanation);
        t.match(explanation, {
          name: 'ada',
          state: 'failed',
          status: 'ERROR',
          attention: true,
          reason: { code: 'BLOCK_DAMAGED' },
          why: new RegExp(`^${file}\\.json can't be used: .* A copy was kept as ${file}\\.json\\.corrupt-.*\\.$`),
          next: /^Nothing until the file is repaired \(no restart is needed\); /,
          fix: /^Repair the file; blockhouse doctor/,
        });
        if (!isRunning && file !== 'chat') t.match(explanation.queue, { queued: 1 });
        one.write('ada', file, before);
        t.not((await one.blocks.explain('ada')).reason?.code, 'BLOCK_DAMAGED');
      });
    }
  }
});

t.test('a block without config.json is explained, and an unknown block is not found', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  rmSync(one.folder('ada', 'config.json'));
  t.match(await one.blocks.explain('ada'), { why: /^config\.json can't be used: it is missing/ });
  await t.rejects(one.blocks.explain('nobody'), { code: 'BLOCK_NOT_FOUND' });
});

t.test('why says which schedules do not run, and what helps', async (t) => {
  const one = await startCore(t);
  const schedule = [
    { id: 'rests', cron: '@daily', message: 'x' },
    { id: 'runs', cron: '@daily', message: 'x' },
  ];
  await one.create('ada', { ...RUNNABLE, schedule });
  t.notOk('notes' in (await one.blocks.explain('ada')));
  await one.blocks.pauseSchedule('ada', 'rests');
  const explanation = await one.blocks.explain('ada');
  check(explanation);
  t.match(explanation.notes, [/^Its schedule rests was paused\. `blockhouse schedule resume ada rests` lets it run again\.$/]);
  t.equal(explanation.notes?.length, 1);
  one.write('ada', 'config', { ...one.readJson('ada', 'config'), schedule: [{ ...schedule[1], cron: '0 0 30 2 *' }] });
  t.match((await one.blocks.explain('ada')).notes, [/^Its schedule runs never runs: cron never comes/]);
  one.write('ada', 'schedule', '{"rests": 1}');
  t.match((await one.blocks.explain('ada')).notes, [/^No schedule runs: schedule\.json can't be used/]);
});
