// What is what in code: comments, strings, numbers, words of the language, and names such as keys and tags. Pure.
//
// one-pass: each language is one pattern, and text between its finds is plain. A find is never read again, so the time grows with the length of the code.
// not-a-parser: a quote in a regular expression, or code within a template, may be taken for something else. Only colours depend on it.

/** The kinds of what is coloured. */
export type Kind = 'comment' | 'string' | 'number' | 'word' | 'name';

/** From the start to before the end, in UTF-16 units. */
export type Find = readonly [kind: Kind, start: number, end: number];

type Rules = readonly (readonly [kind: Kind | '', pattern: string])[];

const END = '(?![^])';
const words = (list: string): readonly ['word', string] => ['word', `(?<![\\w$.-])(?:${list.replaceAll(' ', '|')})(?![\\w$-])`];
/** What a backslash stands before is no quote. */
const ESCAPED: Rules[number] = ['', '\\\\[^]'];
const NUMBER: Rules[number] = ['number', '(?<![\\w.$#-])-?(?:0[xob][\\da-f_]+|\\.?\\d[\\d_]*(?:\\.\\d+)?(?:e[+-]?\\d+)?)n?(?![\\w-])'];
const SLASHES: Rules = [['comment', `\\/\\/.*|\\/\\*[^]*?(?:\\*\\/|${END})`]];
const HASH: Rules[number] = ['comment', '(?<![^\\s;(])#.*'];
const QUOTED: Rules = [
  ['string', '"(?:[^"\\\\\\n]|\\\\[^])*"?'],
  ['string', "'(?:[^'\\\\\\n]|\\\\[^])*'?"],
];
const BACKTICKS: Rules[number] = ['string', '`(?:[^`\\\\]|\\\\[^])*`?'];

const LANGUAGES: Readonly<Record<string, Rules>> = {
  js: [
    ...SLASHES,
    ...QUOTED,
    BACKTICKS,
    ['string', '(?<=[(,=:[!&|?{};] ?)\\/(?![*/\\s])(?:[^\\\\/\\n[]|\\\\.|\\[(?:[^\\]\\\\\\n]|\\\\.){0,99}\\]){1,199}\\/[a-z]*'],
    NUMBER,
    words(
      'abstract as async await break case catch class const continue debugger declare default delete do else enum export extends false finally for from function if implements import in infer instanceof interface is keyof let namespace new null of override private protected public readonly return satisfies static super switch this throw true try type(?=\\s\\w) typeof undefined var void while yield',
    ),
    ['name', '@\\w+'],
  ],
  py: [
    ['comment', '#.*'],
    ['string', `"""[^]*?(?:"""|${END})|'''[^]*?(?:'''|${END})`],
    ...QUOTED,
    NUMBER,
    words(
      'and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return True try while with yield self',
    ),
    ['name', '(?<![\\w)])@[\\w.]+'],
  ],
  sh: [
    ESCAPED,
    HASH,
    ['string', '"(?:[^"\\\\]|\\\\[^])*"?'],
    ['string', "'[^']*'?"],
    ['name', '\\$(?:\\w+|\\{[^}\\n]*\\}?|[@#?$!*-])'],
    words(
      'alias break case continue declare do done elif else esac exit export fi for function if in local readonly return select set shift source then trap unset until while',
    ),
  ],
  json: [...SLASHES, ['name', '"(?:[^"\\\\\\n]|\\\\.)*"(?=\\s*:)'], ...QUOTED, NUMBER, words('true false null')],
  yaml: [
    HASH,
    ['name', '(?=["\'\\w./])(?<=^[ \\t-]*)[^:#\\n]*(?=:(?:\\s|$))'],
    ...QUOTED,
    NUMBER,
    words('true false null yes no on off'),
    ['word', '(?<!\\S)[&*!][\\w-]+|^---'],
  ],
  html: [
    ['comment', `<!--[^]*?(?:-->|${END})|<![^>\\n]*>?`],
    ['word', '<\\/?[a-z][\\w:-]*|\\/?>'],
    ['string', '(?<==)"[^"]*"?|(?<==)\'[^\']*\'?'],
    ['name', '(?<=\\s)[\\w:@.-]+(?==)'],
    ['number', '&#?\\w{1,32};'],
  ],
  css: [
    ...SLASHES.map(([kind]) => [kind, `\\/\\*[^]*?(?:\\*\\/|${END})`] as const),
    ...QUOTED,
    ['word', '@[\\w-]+|!important'],
    ['name', '--[\\w-]+|\\$[\\w-]+|(?<![\\w-])[a-z-]+(?=\\s*:(?:\\s|[^{}:\\n]*[;}]))'],
    ['number', '#[\\da-f]{3,8}(?![\\w-])|(?<![\\w#-])-?(?:\\d*\\.)?\\d+(?:%|[a-z]+)?'],
  ],
  sql: [
    ['comment', `--.*|\\/\\*[^]*?(?:\\*\\/|${END})`],
    ['string', "'(?:[^']|'')*'?"],
    ['name', '"[^"\\n]*"?'],
    NUMBER,
    words(
      'add all alter and as asc begin between by case cascade check commit constraint create cross default delete desc distinct drop else end exists false foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer over partition primary references returning right rollback select set table then true union unique update using values view when where with',
    ),
  ],
  go: [
    ...SLASHES,
    ...QUOTED,
    ['string', '`[^`]*`?'],
    NUMBER,
    words(
      'break case chan const continue default defer else fallthrough false for func go goto if import interface iota map nil package range return select struct switch true type var',
    ),
  ],
};

/** The languages by the other names that models give them. */
const NAMES: Readonly<Record<string, string>> = {
  javascript: 'js',
  typescript: 'js',
  python: 'py',
  bash: 'sh',
  shell: 'sh',
  zsh: 'sh',
  console: 'sh',
  jsonc: 'json',
  json5: 'json',
  yml: 'yaml',
  xml: 'html',
  svg: 'html',
  scss: 'css',
  less: 'css',
  golang: 'go',
};

/** What is to be coloured, in order; nothing for another language. */
export function findsIn(code: string, language: string): readonly Find[] {
  const given = language.toLowerCase();
  const name = NAMES[given] ?? given.replace(/^[cm]?[jt]sx?$/, 'js');
  const rules = Object.hasOwn(LANGUAGES, name) ? LANGUAGES[name] : undefined;
  if (rules === undefined) return [];
  const pattern = new RegExp(rules.map(([, source]) => `(${source})`).join('|'), name === 'sql' || name === 'html' || name === 'css' ? 'gim' : 'gm');
  return [...code.matchAll(pattern)].flatMap((match): readonly Find[] => {
    const kind = rules[match.slice(1).findIndex((found) => found !== undefined)]?.[0] ?? '';
    return kind === '' ? [] : [[kind, match.index, match.index + match[0].length]];
  });
}
