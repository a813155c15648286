import t from 'tap';
import { nearestName } from '../../../../../transports/http/dialects/shared/client-fields.ts';

t.test('a setting has the name of the nearest one around it that has a name', async (t) => {
  const names = { messages: 'input', 'config.output': 'text.format' };
  for (const [path, name] of [
    ['messages[3].content', 'input'],
    ['messages', 'input'],
    ['config.output.schema', 'text.format'],
    ['config.topP', undefined],
    ['', undefined],
    ['constructor', undefined],
    ['toString.x', undefined],
  ] as const)
    t.equal(nearestName(path, names), name, path);
});
