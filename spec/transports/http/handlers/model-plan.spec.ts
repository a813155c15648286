// The models of one request, in the order in which they are asked.
import t from 'tap';
import { planOf } from '../../../../transports/http/handlers/model-plan.ts';

type Context = Parameters<typeof planOf>[0];
const TARGETS = {
  one: [{ adapter: 'a', model: 'x' }],
  two: ['s', 'l'].map((model) => ({ adapter: 'a', model })),
  drawn: ['p', 'q'].map((model) => ({ adapter: 'a', model, weight: 1 })),
};
const WINDOWS: Record<string, number> = { s: 3000, l: 100_000 };

function contextWith(asked: string[] = [], headers = {}): Context {
  const core = {
    router: { named: (name: keyof typeof TARGETS) => ({ targets: TARGETS[name] }) },
    windowOf: async (_adapter: string, model: string) => {
      asked.push(model);
      return WINDOWS[model];
    },
  };
  return { core, key: undefined, req: { headers }, requestId: 'r' } as unknown as Context;
}
const models = async (plan: ReturnType<typeof planOf>) => (await plan).targets.map(({ model }) => model).join('');

t.test('a name of one model, and a small request, ask for no window', async (t) => {
  const asked: string[] = [];
  t.notOk(planOf(contextWith(asked), 'one', { value: {}, bytes: 1_000_000 }) instanceof Promise);
  t.notOk(planOf(contextWith(asked), 'two', { value: {}, bytes: 1000 }) instanceof Promise);
  t.same(asked, []);
});

t.test('the size of the answer is read in each protocol', async (t) => {
  for (const body of [{ max_tokens: 5000 }, { max_completion_tokens: 5000 }, { max_output_tokens: 5000 }, { options: { num_predict: 5000 } }])
    t.equal(await models(planOf(contextWith(), 'two', { value: body, bytes: 100 })), 'l', JSON.stringify(body));
  for (const body of [{ max_tokens: '5000' }, { max_tokens: -1 }, { options: null }, null, [], 'text'])
    t.equal(await models(planOf(contextWith(), 'two', { value: body, bytes: 100 })), 'sl', JSON.stringify(body));
});

t.test('weights draw by the conversation, which the call is told, and without one by the request', async (t) => {
  const orders = new Set<string>();
  for (let each = 0; each < 50; each += 1) {
    const plan = await planOf(contextWith([], { 'x-blockhouse-session': `${each}` }), 'drawn', { value: {}, bytes: 1 });
    t.equal(plan.conversation, `${each}`);
    orders.add(await models(plan));
  }
  t.same([...orders].sort(), ['pq', 'qp']);
  t.equal((await planOf(contextWith(), 'drawn', { value: {}, bytes: 1 })).conversation, undefined);
});
