// The licences of the packages of which something is in a bundle, as one text that lies beside it.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Metafile } from 'esbuild';

const PACKAGES = resolve(import.meta.dirname, '../../node_modules');

/** The licence of each package in a bundle, by name. Throws for a package that has no licence in it. */
export function licencesOf({ inputs }: Metafile): string {
  const packages = new Set(Object.keys(inputs).flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []));
  return [...packages]
    .sort()
    .map((name) => {
      const { version } = JSON.parse(readFileSync(join(PACKAGES, name, 'package.json'), 'utf8')) as { readonly version: string };
      return `${name} ${version}\n\n${licenceOf(name)}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/** The licence file, or the section of the readme that has the licence. */
function licenceOf(name: string): string {
  const files = readdirSync(join(PACKAGES, name));
  const file = files.find((each) => /^licen[cs]e(?:\.md|\.txt)?$/i.test(each));
  if (file !== undefined) return readFileSync(join(PACKAGES, name, file), 'utf8').trim();
  const readme = files.includes('README.md') ? readFileSync(join(PACKAGES, name, 'README.md'), 'utf8') : '';
  const section = /^## Licen[cs]e[^\n]*\n([\s\S]*?)(?=\n## |$(?![\s\S]))/m.exec(readme)?.[1]?.trim();
  if (section === undefined || !/copyright/i.test(section))
    throw new Error(`The package ${name} is bundled, but its licence is not in it. Leave it out of the bundle (KEPT_APART in cli/build.ts).`);
  return section.replace(/^> ?/gm, '');
}
