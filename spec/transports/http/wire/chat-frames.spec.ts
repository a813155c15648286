import t from 'tap';
import { BlockhouseError } from '../../../../core/index.ts';
import { CHAT_FRAMES, framesShowing } from '../../../../transports/http/wire/chat-frames.ts';

t.test('a stream has four events, each a name and one line of JSON', (t) => {
  t.equal('pieces' in CHAT_FRAMES, false);
  t.equal(CHAT_FRAMES.start({ provider: 'p', model: 'm' }), 'event: start\ndata: {"provider":"p","model":"m"}\n\n');
  t.equal(CHAT_FRAMES.content(['a\n\n', 'b']), 'event: content\ndata: {"text":"a\\n\\n"}\n\nevent: content\ndata: {"text":"b"}\n\n');
  t.match(CHAT_FRAMES.error(new BlockhouseError('QUEUE_FULL', 'Full.'), 'req_1'), /^event: error\ndata: \{"error":"Full\.".*"requestId":"req_1".*\n\n$/);
  t.equal(CHAT_FRAMES.keepAlive(), ': keep-alive\n\n');
  t.end();
});

t.test('a stream that shows more names each piece by its type; what it does not show is no frame', (t) => {
  const frames = framesShowing({ reasoning: true, toolDeltas: true });
  const text = frames.pieces?.([
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'a' },
    { type: 'toolCall', toolCall: { id: 'c', name: 'f', arguments: { x: 1 } } },
  ]);
  t.equal(
    text,
    'event: reasoning\ndata: {"text":"hm"}\n\n' +
      'event: content\ndata: {"text":"a"}\n\n' +
      'event: toolCallStart\ndata: {"index":0,"id":"c","name":"f"}\n\n' +
      'event: toolCallDelta\ndata: {"index":0,"text":"{\\"x\\":1}"}\n\n',
  );
  t.equal(framesShowing({ toolDeltas: true }).pieces?.([{ type: 'reasoning', text: 'hm' }]), '');
  t.end();
});
