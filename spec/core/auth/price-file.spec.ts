import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { PriceFile } from '../../../core/auth/price-file.ts';
import { createBus } from '../../../core/bus.ts';

t.test('prices.json is reported once when it is damaged, never written over then, and read again when it is repaired', async (t) => {
  const workspace = t.testdir({ 'prices.json': '{' });
  const bus = createBus();
  const told: string[] = [];
  bus.on('prices.damaged', ({ reason }) => told.push(reason));
  let now = 0;
  const prices = new PriceFile(workspace, bus, () => (now += 1000));
  t.same([prices.ratesOf('gpu', 'a'), prices.ratesOf('gpu', 'a')], ['unknown', 'unknown']);
  t.match(told, [/not valid JSON/]);
  const document = { models: { 'gpu/a': { input: 1, output: 2 } } };
  await t.rejects(prices.replace(document), { code: 'WORKSPACE_DAMAGED' });
  writeFileSync(join(workspace, 'prices.json'), '{"models": {}}');
  await prices.replace(document);
  t.same(
    [prices.ratesOf('gpu', 'a'), prices.ratesOf('gpu', ' models/A'), prices.ratesOf('gpu', 'b')],
    [{ input: 1, output: 2 }, { input: 1, output: 2 }, undefined],
  );
  const many = Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`gpu/${'m'.repeat(200)}${index}`, { input: 1, output: 2 }]));
  await t.rejects(prices.replace({ models: many }), /would be larger/);
});
