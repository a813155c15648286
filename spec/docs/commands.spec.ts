import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseJson } from '../../core/base/json.ts';
import { ROOT, runHere } from '../cli/run.ts';

const PAGES = ['README.md', ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((path) => join('docs', path))].filter(
  (path) => path.endsWith('.md') && !path.includes('decisions'),
);

/** Inline code, and the lines of shell blocks. */
function codeOf(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const blocks = [...text.matchAll(/^```(?:sh|bash|console)\n([\s\S]*?)^```/gm)].flatMap(([, code = '']) => code.split('\n'));
  const inline = text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g);
  return [...blocks, ...[...inline].map(([, code = '']) => code)];
}

/** The words after `program`, each time that the page runs it: up to a pipe, a redirection, a comment or a closing bracket. */
function runsOf(program: string, page: string): string[][] {
  const pattern = new RegExp(`(?:^|[$(\\s])${program} ([^|>&#;)]+)`, 'g');
  const lines = codeOf(page).map((line) => line.replace(/(?:^|\s)#.*/, '').replace(/<[a-z|-]+>/g, 'X')); // `<name>` is no redirection
  return lines.flatMap((line) => [...line.matchAll(pattern)].map(([, words = '']) => words.trim().split(/\s+/)));
}

/** The words of `launch` before the program that it starts: options with their values. */
function ownWords([launch = '', ...words]: readonly string[]): string[] {
  const end = words.findIndex((word, index) => word === '--' || (!word.startsWith('-') && !words[index - 1]?.startsWith('-')));
  return [launch, ...words.slice(0, end === -1 ? words.length : end).filter((word) => word.startsWith('-'))];
}

t.test('each command of `blockhouse` on a page exists, with each option that it is shown with', async (t) => {
  const helps = new Map<string, Promise<{ code: number | null; stdout: string }>>();
  for (const page of PAGES) {
    for (const all of runsOf('blockhouse', page).filter(([first = '']) => /^[a-z-]/.test(first))) {
      const line = `${page}: blockhouse ${all.join(' ')}`;
      const words = all[0] === 'launch' ? ownWords(all) : all;
      const plain = words.filter((word) => /^[a-z]/.test(word)).join(' ');
      const help = helps.get(plain) ?? runHere(t, [...plain.split(' ').filter(Boolean), '--help']);
      helps.set(plain, help);
      const { code, stdout } = await help;
      t.equal(code, 0, line);
      if (plain === '') continue; // `blockhouse --version`: run below
      for (const option of words.filter((word) => word.startsWith('--'))) t.ok(stdout.includes(option.split('=')[0] ?? option), `${line}: ${option}`);
    }
  }
  t.match(await runHere(t, ['--version']), { code: 0, stdout: /^\d+\.\d+\.\d+/ });
});

t.test('each script of npm on a page exists', async (t) => {
  const { scripts } = parseJson(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
  for (const page of PAGES) for (const [script = ''] of runsOf('npm run', page)) t.ok(script in scripts, `${page}: npm run ${script}`);
});
