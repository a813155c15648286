// `npm run release`: says whether this tree may be published, and what publishing it would do. `npm run release -- --publish` does it: npm publishes the package
// with its provenance, and then the commit gets the tag of the version. It changes nothing else, and pushes nothing.
//
// all-faults: everything that is in the way is said at once.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, tryParseJson } from '../../core/base/json.ts';

const BRANCH = 'main';
const VERSION = /^\d+\.\d+\.\d+(?:-[0-9a-z.-]+)?$/;

/** What decides whether a tree may be published. */
interface Release {
  readonly version: string;
  readonly tag: string;
  readonly faults: readonly string[];
}

/** What a command prints; undefined if it fails. */
function output(command: string, args: readonly string[], cwd: string): string | undefined {
  const { status, stdout } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** The text of the section of a version in the changelog; undefined if there is none. */
function sectionOf(changelog: string, version: string): string | undefined {
  return changelog
    .split(/^## /m)
    .slice(1)
    .find((section) => section.split(/\s/)[0] === version)
    ?.replace(/^.*\n/, '')
    .trim();
}

/** Looks at the tree in `folder` (all-faults). */
export function releaseOf(folder: string): Release {
  const git = (...args: string[]): string | undefined => output('git', args, folder);
  const manifest = tryParseJson(readFileSync(join(folder, 'package.json'), 'utf8'));
  const version = isObject(manifest) && typeof manifest['version'] === 'string' ? manifest['version'] : '';
  const tag = `v${version}`;
  const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8');
  const branch = git('branch', '--show-current');
  const faults = [
    !VERSION.test(version) &&
      `package.json has the version ${JSON.stringify(version)}, which is none. \`npm version <version> --no-git-tag-version\` sets one.`,
    branch !== BRANCH && `The branch is ${branch || 'none'}, and releases are made from ${BRANCH}.`,
    git('status', '--porcelain') !== '' && 'The tree has changes that are not committed. Commit them, or take them back.',
    git('tag', '--list', tag) !== '' && `The tag ${tag} exists already. Give package.json the next version.`,
    !sectionOf(changelog, version) && `CHANGELOG.md has no section "## ${version}" with a text. Give "Unreleased" that name.`,
    sectionOf(changelog, 'Unreleased') && `CHANGELOG.md still has changes below "Unreleased". Move them to "## ${version}".`,
    !(isObject(manifest) && isObject(manifest['repository'])) && 'package.json has no "repository", and without one npm makes no provenance.',
  ];
  return { version, tag, faults: faults.filter((fault) => typeof fault === 'string' && fault !== '') as string[] };
}

/** Checks, says what follows, and with --publish does it. Returns the exit code. */
function main(args: readonly string[], folder: string): number {
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const { version, tag, faults } = releaseOf(folder);
  for (const fault of faults) say(`not ready: ${fault}`);
  if (faults.length > 0) return 1;
  const steps = [
    ['npm', 'publish'],
    ['git', 'tag', '--annotate', tag, '--message', version],
  ];
  if (!args.includes('--publish')) {
    say(`${version} may be published. \`npm run verify\` comes first; then \`npm run release -- --publish\` runs:`);
    for (const step of steps) say(`  ${step.join(' ')}`);
    return 0;
  }
  for (const [command = '', ...rest] of steps) {
    const { status } = spawnSync(command, rest, { cwd: folder, stdio: 'inherit' });
    if (status !== 0) return 1;
  }
  say(`Published. \`git push origin ${tag}\` shows the tag to others.`);
  return 0;
}

if (process.argv[1] === import.meta.filename) process.exitCode = main(process.argv.slice(2), process.cwd());
