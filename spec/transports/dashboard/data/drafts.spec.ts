import t from 'tap';
import { Drafts } from '../../../../transports/dashboard/data/drafts.ts';
import { MemoryShelf } from '../../../support/shelf.ts';

let clock = 0;
const now = (): number => {
  clock += 1;
  return clock;
};

t.test('a draft survives the page, and each block has its own', async (t) => {
  const shelf = new MemoryShelf();
  const first = new Drafts(shelf, 'tab', now);
  first.write('ada', 'Hello');
  first.write('support', 'Other');
  const second = new Drafts(shelf, 'tab', now);
  t.equal(second.read('ada').text, 'Hello');
  t.equal(second.read('support').text, 'Other');
  t.equal(second.read('nobody').text, '');
});

t.test('two tabs keep theirs apart, and a new tab begins with the shared copy', async (t) => {
  const shelf = new MemoryShelf();
  new Drafts(shelf, 'one', now).write('ada', 'of one');
  new Drafts(shelf, 'two', now).write('ada', 'of two');
  t.equal(new Drafts(shelf, 'one', now).read('ada').text, 'of one');
  t.equal(new Drafts(shelf, 'two', now).read('ada').text, 'of two');
  t.equal(new Drafts(shelf, 'three', now).read('ada').text, 'of two');
});

t.test('a text that is sent is kept with its id until its receipt, and never comes back', async (t) => {
  const shelf = new MemoryShelf();
  const drafts = new Drafts(shelf, 'tab', now);
  drafts.write('ada', 'Hello');
  drafts.send('ada', { clientId: 'c1', text: 'Hello' });
  t.strictSame(new Drafts(shelf, 'tab', now).read('ada'), { text: '', sending: [{ clientId: 'c1', text: 'Hello' }] });
  drafts.write('ada', 'What I write meanwhile');
  drafts.received('ada', 'other');
  t.equal(drafts.read('ada').sending.length, 1, 'a receipt clears its own text only');
  drafts.received('ada', 'c1');
  t.strictSame(drafts.read('ada'), { text: 'What I write meanwhile', sending: [] });
  drafts.write('ada', '');
  t.equal(shelf.length, 0, 'nothing stays behind');
  t.equal(new Drafts(shelf, 'new', now).read('ada').text, '');
});

t.test('what is no draft is none', async (t) => {
  const shelf = new MemoryShelf();
  shelf.setItem('blockhouse.draft.tab.ada', '{broken');
  shelf.setItem('blockhouse.draft.tab.bob', '{"text":1}');
  t.equal(new Drafts(shelf, 'tab', now).read('ada').text, '');
  t.equal(new Drafts(shelf, 'tab', now).read('bob').text, '');
});

t.test('a full storage is told', async (t) => {
  t.equal(new Drafts(new MemoryShelf(10), 'tab', now).write('ada', 'a long text'), false);
});

t.test('the 50 newest blocks are kept, and what is on its way', async (t) => {
  const shelf = new MemoryShelf();
  const drafts = new Drafts(shelf, 'tab', now);
  drafts.send('first', { clientId: 'c', text: 'on its way' });
  for (let block = 0; block < 80; block += 1) drafts.write(`block-${block}`, 'text');
  t.ok(shelf.length <= 101);
  t.equal(drafts.read('first').sending.length, 1);
  t.equal(drafts.read('block-79').text, 'text');
  t.equal(drafts.read('block-0').text, '');
});
