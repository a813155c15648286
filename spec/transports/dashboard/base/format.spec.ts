import t from 'tap';
import { figure, percent } from '../../../../transports/dashboard/base/format.ts';

t.test('a small figure is not shown as nothing', async (t) => {
  t.same([0, 0.0431, 0.27, 6.24, 58.4].map(figure), ['0', '0.04', '0.3', '6.2', '58']);
});

t.test('a share has a decimal where that says more, and a small one is not zero', async (t) => {
  t.same([0, 0.04, 0.4, 2.53, 16.7, 100].map(percent), ['0 %', '0.04 %', '0.4 %', '2.5 %', '17 %', '100 %']);
});
