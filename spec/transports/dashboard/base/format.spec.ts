import t from 'tap';
import { figure } from '../../../../transports/dashboard/base/format.ts';

t.test('a small figure is not shown as nothing', async (t) => {
  t.same([0, 0.0431, 0.27, 6.24, 58.4].map(figure), ['0', '0.04', '0.3', '6.2', '58']);
});
