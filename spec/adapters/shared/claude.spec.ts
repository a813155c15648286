import t from 'tap';
import { CLAUDE_ID, prefixDigest, takesTemperature } from '../../../adapters/shared/claude.ts';

t.test('temperature goes only to the models that are known to take it', async (t) => {
  const taking = [
    'claude-haiku-4-5',
    'claude-haiku-4-5-20251001',
    'claude-sonnet-4-5',
    'claude-sonnet-4-6',
    'claude-opus-4-5',
    'claude-opus-4-6',
    'claude-opus-4-1-20250805',
    'claude-opus-4-0',
    'claude-sonnet-4-20250514',
    'claude-opus-4',
    'claude-3-7-sonnet-latest',
    'claude-3-haiku-20240307',
    'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'anthropic.claude-sonnet-4-20250514-v1:0',
  ];
  const refusing = [
    'claude-opus-4-7',
    'claude-opus-4-8',
    'claude-opus-4-10',
    'claude-opus-5',
    'claude-opus-5-5',
    'claude-sonnet-5',
    'claude-sonnet-5-5',
    'claude-haiku-5-5',
    'claude-fable-5-2',
    'claude-mythos-5-1',
    'claude-of-tomorrow',
    'eu.anthropic.claude-opus-5-5-v1:0',
    'gpt-4o',
  ];
  for (const model of taking) t.equal(takesTemperature(model), true, model);
  for (const model of refusing) t.equal(takesTemperature(model), false, model);
});

t.test('which tool-call ids Claude takes', async (t) => {
  for (const id of ['toolu_01A', 'call-1', 'x'.repeat(64)]) t.match(id, CLAUDE_ID);
  for (const id of ['', 'a b', 'a.b', 'ü', 'call:1', 'x'.repeat(65), 'a\n']) t.notMatch(id, CLAUDE_ID);
});

t.test('a digest changes with anything in the prefix and with nothing else', async (t) => {
  const prefix = [[{ text: 'system' }], null, [{ role: 'user', content: 'hi' }]];
  t.equal(prefixDigest(prefix), prefixDigest(structuredClone(prefix)));
  t.match(prefixDigest(prefix), /^[\w-]{22}$/);
  t.not(prefixDigest(prefix), prefixDigest([[{ text: 'system ' }], null, [{ role: 'user', content: 'hi' }]]));
  t.not(prefixDigest(prefix), prefixDigest([...prefix, []]));
});
