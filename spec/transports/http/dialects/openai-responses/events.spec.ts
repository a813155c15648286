import t from 'tap';
import { EventWriter } from '../../../../../transports/http/dialects/openai-responses/events.ts';
import { frameData, hostileTexts } from '../../../../support/hostile-texts.ts';

t.test('events are numbered, and items keep their places whatever is done first', async (t) => {
  const events = new EventWriter('1');
  t.notOk(events.hasBegun);
  const [first, second] = [events.place('message'), events.place('function')];
  t.same(
    [first, second],
    [
      { item_id: 'msg_1_0', output_index: 0 },
      { item_id: 'fc_1_1', output_index: 1 },
    ],
  );
  t.equal(
    events.added(first, '{"a":1}'),
    'event: response.output_item.added\ndata: {"type":"response.output_item.added","sequence_number":0,"output_index":0,"item":{"a":1}}\n\n',
  );
  t.ok(events.hasBegun);
  t.match(events.done(second, '{"b":2}'), /"sequence_number":1,"output_index":1/);
  t.same(events.output, ['{"b":2}']);
  events.done(first, '{"a":2}');
  t.same(events.output, ['{"a":2}', '{"b":2}']);
});

t.test('the templates of events are the JSON of plain objects', async (t) => {
  for (const text of hostileTexts()) {
    const events = new EventWriter('1');
    const place = events.place('message');
    const frames =
      events.piece('a.delta', place, `"delta":${JSON.stringify(text)}`) + events.event('b', { text }) + events.done(place, JSON.stringify({ text }));
    const plain = [
      { type: 'a.delta', sequence_number: 0, ...place, delta: text },
      { type: 'b', sequence_number: 1, text },
      { type: 'response.output_item.done', sequence_number: 2, output_index: 0, item: { text } },
    ];
    t.equal(JSON.stringify(frameData(frames)), JSON.stringify(plain));
  }
});
