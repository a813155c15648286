// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the code here has them
import t from 'tap';
import { sample } from '../../../../support/sweep.ts';
import { findsIn, type Kind } from '../../../../../transports/dashboard/parts/markdown/languages.ts';

/** The texts of one kind. */
function found(kind: Kind, code: string, language: string): readonly string[] {
  return findsIn(code, language).flatMap(([each, start, end]) => (each === kind ? [code.slice(start, end)] : []));
}

const CODE: Readonly<Record<string, string>> = {
  ts: "import { x } from \"y\"; // one\n/* two\n lines */\nexport type A = number;\nconst type = `a ${b} c`, n = 0x1f + 1_000.5e3 + 2n;\nif (/[\"']/.test(a.for)) return 'it\\'s';",
  python: '@app.get("/x")\nasync def f(a: int = 3) -> None:\n    """Says\n    "hello"."""\n    return not a  # done',
  bash: '# Makes it\nfor f in *.md; do\n  echo "$f is ${#f} long" \'$not\' | tee -a "$HOME/x#y"\ndone\ncurl -d \'{\n  "a": 1\n}\' http://x',
  json: '{\n  "a": "b: c",\n  "n": -1.5e3,\n  "yes": true, "no": null\n}',
  html: '<!-- a\n comment -->\n<!doctype html>\n<a class="b c" href=\'d\' data-x=1>He said "no" &amp; left.</a>\n<br/>',
  css: '/* a */\n@media (min-width: 720px) {\n  a:hover, .b-c { color: #fff; margin:-1.5rem auto; --x: var(--y) !important; }\n}',
  sql: "select a, count(*) from t -- all\nwhere name = 'it''s' AND id IN (1, 2) /* c */ order by \"b\";",
  go: "package main\n\n// Adds\nfunc add(a, b int) int { s := `raw\n text`; r := 'x'; return a + 1 }",
  yaml: '# top\na: 1\nlist:\n  - name: "x: y" # why\n    on: true\n    url: http://x/#y\n- &one b: *two\n---',
};

t.test('each language has its comments, strings, numbers, words and names', async (t) => {
  const of = (language: string, kind: Kind) => found(kind, CODE[language] ?? '', language);
  t.same(of('ts', 'comment'), ['// one', '/* two\n lines */']);
  t.same(of('ts', 'string'), ['"y"', '`a ${b} c`', '/["\']/', "'it\\'s'"]);
  t.same(of('ts', 'number'), ['0x1f', '1_000.5e3', '2n']);
  t.same(of('ts', 'word'), ['import', 'from', 'export', 'type', 'const', 'if', 'return'], 'neither a property nor a name that is a word elsewhere');
  t.same(of('python', 'comment'), ['# done']);
  t.same(of('python', 'string'), ['"/x"', '"""Says\n    "hello"."""']);
  t.same(of('python', 'word'), ['async', 'def', 'None', 'return', 'not']);
  t.same(of('python', 'name'), ['@app.get']);
  t.same(of('bash', 'comment'), ['# Makes it']);
  t.same(of('bash', 'word'), ['for', 'in', 'do', 'done']);
  t.same(of('bash', 'string'), ['"$f is ${#f} long"', "'$not'", '"$HOME/x#y"', '\'{\n  "a": 1\n}\'']);
  t.same(of('json', 'name'), ['"a"', '"n"', '"yes"', '"no"']);
  t.same(of('json', 'string'), ['"b: c"']);
  t.same(of('json', 'number'), ['-1.5e3']);
  t.same(of('json', 'word'), ['true', 'null']);
  t.same(of('html', 'comment'), ['<!-- a\n comment -->', '<!doctype html>']);
  t.same(of('html', 'word'), ['<a', '>', '</a', '>', '<br', '/>']);
  t.same(of('html', 'name'), ['class', 'href', 'data-x']);
  t.same(of('html', 'string'), ['"b c"', "'d'"], 'no quotes of a sentence');
  t.same(of('html', 'number'), ['&amp;']);
  t.same(of('css', 'name'), ['min-width', 'color', 'margin', '--x', '--y'], 'no selector');
  t.same(of('css', 'number'), ['720px', '#fff', '-1.5rem']);
  t.same(of('css', 'word'), ['@media', '!important']);
  t.same(of('sql', 'word'), ['select', 'from', 'where', 'AND', 'IN', 'order', 'by']);
  t.same(of('sql', 'string'), ["'it''s'"]);
  t.same(of('sql', 'comment'), ['-- all', '/* c */']);
  t.same(of('go', 'word'), ['package', 'func', 'return']);
  t.same(of('go', 'string'), ['`raw\n text`', "'x'"]);
  t.same(of('yaml', 'name'), ['a', 'list', 'name', 'on', 'url']);
  t.same(of('yaml', 'comment'), ['# top', '# why']);
  t.same(of('yaml', 'word'), ['true', '&one', '*two', '---']);
});

t.test('a language has other names, and one that is not known has no finds', async (t) => {
  for (const name of ['js', 'jsx', 'mjs', 'tsx', 'TypeScript', 'javascript']) t.same(found('word', 'const a', name), ['const'], name);
  for (const name of ['yml', 'sh', 'xml', 'scss', 'golang', 'py']) t.ok(findsIn("'a': # b\n<a/> /* c */ if", name).length > 0, name);
  for (const name of ['rust', '', 'constructor', '__proto__', 'toString']) t.same(findsIn('const a = 1', name), [], name);
});

/** True if the finds are in order, do not overlap, and lie within the code. */
function isInOrder(code: string, language: string): boolean {
  let last = 0;
  return findsIn(code, language).every(([, start, end]) => {
    const is = start >= last && end > start && end <= code.length;
    last = end;
    return is;
  });
}

t.test('finds are in order and do not overlap, and what nothing closes ends with its line or with the code', async (t) => {
  for (const [language, code] of Object.entries(CODE))
    for (let cut = 0; cut <= code.length; cut += 1) t.ok(isInOrder(code.slice(0, cut), language), `${language} ${cut}`);
  t.same(found('string', 'a = "b\nc = 1', 'js'), ['"b']);
  t.same(found('number', 'a = "b\nc = 1', 'js'), ['1']);
  t.same(found('comment', '/* a\nb', 'css'), ['/* a\nb']);
});

const MARKS = ['"', "'", '`', '\\"', '/*', '<!--', '"""', '1', 'a', 'a:', ' ', '- ', '=/', '=/[', '$', '${', '#', '-', '{', '"a" ', '=" ', '1e', '_1', '\\'];

// What is not linear takes seconds here, for each of these.
t.test('hostile code is read once', async (t) => {
  for (const [place, language] of Object.keys(CODE).entries())
    for (const [index, mark] of MARKS.entries())
      for (const end of sample(['', 'z', '\n:'], 3, place + index))
        t.ok(isInOrder(mark.repeat(40_000 / mark.length) + end, language), `${language} ${mark} ${JSON.stringify(end)}`);
});
