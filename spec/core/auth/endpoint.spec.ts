import t from 'tap';
import { mayCostMore, plainModel } from '../../../core/auth/endpoint.ts';

t.test('a tier may cost more unless it is known not to', async (t) => {
  for (const tier of ['priority', 'fast', 'ultrafast', 'scale', 'reserved', 'PRIORITY', 'SERVICE_TIER_PRIORITY', 'a-new-one']) t.ok(mayCostMore(tier), tier);
  for (const tier of ['auto', 'default', 'standard', 'standard_only', 'flex', 'batch', 'Flex', 'SERVICE_TIER_STANDARD', 'SERVICE_TIER_UNSPECIFIED'])
    t.notOk(mayCostMore(tier), tier);
  for (const none of [undefined, null, '', 7, {}]) t.notOk(mayCostMore(none), String(none));
});

t.test('a model has one id, however a server may be asked for it', (t) => {
  for (const id of ['Gemma4', ' gemma4 ', 'models/gemma4', 'Models/GEMMA4']) t.equal(plainModel(id), 'gemma4', id);
  t.equal(plainModel('my-models/gemma4'), 'my-models/gemma4');
  for (const id of ['gemma4:latest', 'library/gemma4', 'registry.example/library/Gemma4:LATEST ']) t.equal(plainModel(id), 'gemma4', id);
  for (const id of ['me/gemma4', 'registry.example/me/gemma4', 'Registry.Example:5000/me/Gemma4:latest']) t.equal(plainModel(id), 'me/gemma4', id);
  for (const id of ['gemma4:27b', 'latest', 'me/gemma4', 'a/b/library/gemma4', 'acme/library/gemma4']) t.equal(plainModel(id), id, id);
  t.end();
});
