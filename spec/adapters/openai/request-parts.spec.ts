import t from 'tap';
import { CALL_ID, warningsFor } from '../../../adapters/openai/request-parts.ts';
import { promptOf } from './support.ts';

t.test('call ids have at most 64 characters of a small set', async (t) => {
  t.match('call_Ab-9', CALL_ID);
  t.match('x'.repeat(64), CALL_ID);
  for (const id of ['', 'x'.repeat(65), 'a b', 'functions.f:0']) t.notMatch(id, CALL_ID, id);
});

t.test('what is left out by rule is told', async (t) => {
  t.same(warningsFor('gpt-6.1-terra', promptOf()), []);
  t.match(warningsFor('gpt-6.1-terra', promptOf({ temperature: 0 })), [{ field: 'config.temperature', message: /gpt-6\.1-terra is a reasoning model/ }]);
  t.same(warningsFor('gpt-4.1', promptOf({ temperature: 1 })), []);
  t.match(warningsFor('gpt-4.1', promptOf({ cacheControl: true })), [{ field: 'config.cacheControl', message: /caches prompts automatically/ }]);
});
