import t from 'tap';
import { schemas as core } from '../../../../core/index.ts';
import { ref, schemas } from '../../../../transports/http/openapi/schemas.ts';

const all = schemas() as Record<string, { properties: Record<string, unknown> }>;

t.test('a reference is the place of the schema in the document', async (t) => {
  t.strictSame(ref('Fact'), { $ref: '#/components/schemas/Fact' });
  t.ok('Fact' in all);
});

t.test('a schema inside another one is a reference', async (t) => {
  t.strictSame(all['ChatHistory']?.properties['messages'], { type: 'array', items: ref('ChatEntry') });
  t.match(all['BlockDetails']?.properties, { config: ref('BlockConfigFile'), memory: ref('MemoryFile'), costs: ref('CostsFile'), pulse: ref('PulseFile') });
  t.match(all['MemoryFile']?.properties, { facts: { items: ref('Fact') } });
});

t.test('a schema itself stands whole under its name, as the one that validates', async (t) => {
  t.strictSame(all['Fact'], JSON.parse(JSON.stringify(core.Fact)));
  t.strictSame(all['CostBucket'], JSON.parse(JSON.stringify(core.CostBucket)));
  t.strictSame(all['BlockConfigFile'], JSON.parse(JSON.stringify(core.BlockConfigFile)));
});

t.test('what is handed out is a copy', async (t) => {
  const mine = schemas() as Record<string, { properties?: unknown }>;
  delete mine['MemoryFile']?.properties;
  t.ok(core.MemoryFile.properties);
  t.ok((schemas() as typeof mine)['MemoryFile']?.properties);
});
