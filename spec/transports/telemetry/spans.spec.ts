import * as api from '@opentelemetry/api';
import * as sdk from '@opentelemetry/sdk-trace-base';
import t from 'tap';
import { traceparentOf } from '../../../core/base/traceparent.ts';
import { headerOf, isRecorded, recorded, SpanIds } from '../../../transports/telemetry/spans.ts';

const idsOf = (env: Record<string, string> = {}) => new SpanIds(api, sdk, env);
const PARENT = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };

t.test('ids are of the right length and differ, also when the random bytes are used up', async (t) => {
  const ids = idsOf();
  const all = Array.from({ length: 1000 }, () => ids.begin());
  for (const { traceId, spanId } of all) t.ok(/^[0-9a-f]{32}$/.test(traceId) && /^[0-9a-f]{16}$/.test(spanId));
  t.equal(new Set(all.map(({ spanId }) => spanId)).size, 1000);
  t.equal(new Set(all.map(({ traceId }) => traceId)).size, 1000);
  for (const own of [...all, ids.begin({ ...PARENT, flags: 1 })]) t.equal(headerOf(own), traceparentOf(own));
});

t.test('which traces are recorded is what the sampler of the variables says', async (t) => {
  const share = (env: Record<string, string>, parent?: { flags: number }): number => {
    const ids = idsOf(env);
    let count = 0;
    for (let index = 0; index < 1000; index += 1) if (isRecorded(ids.begin(parent && { ...PARENT, ...parent }))) count += 1;
    return count;
  };
  t.equal(share({}), 1000);
  t.equal(share({}, { flags: 0 }), 0, 'the caller decides');
  t.equal(share({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, { flags: 1 }), 1000);
  t.equal(share({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }), 0);
  t.equal(share({ OTEL_TRACES_SAMPLER: 'always_on' }, { flags: 0 }), 1000, 'the caller does not');
  t.equal(share({ OTEL_TRACES_SAMPLER: 'always_off' }, { flags: 1 }), 0);
  for (const name of ['traceidratio', 'parentbased_traceidratio']) {
    const part = share({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: '0.25' });
    t.ok(part > 150 && part < 350, `${name}: ${part}`);
  }
});

t.test('a span within another one has its trace, and is recorded if that is', async (t) => {
  const ids = idsOf();
  t.match(ids.within({ ...PARENT, flags: 1 }), { traceId: PARENT.traceId, flags: 1 });
  t.match(ids.within({ ...PARENT, flags: 0 }, 'a'.repeat(16)), { spanId: 'a'.repeat(16), flags: 0 });
  t.not(ids.within(undefined).traceId, PARENT.traceId);
  t.match(recorded(`00-${PARENT.traceId}-${PARENT.spanId}-01`), PARENT);
  t.equal(recorded(`00-${PARENT.traceId}-${PARENT.spanId}-00`), undefined);
  t.equal(recorded('x'), undefined);
});
