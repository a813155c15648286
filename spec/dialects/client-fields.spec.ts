import t from 'tap';
import { nearestName } from '../../dialects/client-fields.ts';

t.test('a field without a name is told by the nearest one around it', async (t) => {
  const names = { messages: 'input', 'config.topP': 'top_p', 'config.output': 'text.format' };
  t.equal(nearestName('config.topP', names), 'top_p');
  t.equal(nearestName('config.output.schema', names), 'text.format');
  t.equal(nearestName('messages[3].content[0].url', names), 'input');
  t.equal(nearestName('config.seed', names), undefined);
  t.equal(nearestName('', names), undefined);
});
