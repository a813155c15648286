import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { releaseOf } from '../support/release.ts';
import { testFolder } from '../support/test-folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const READY = { version: '1.2.0', repository: { type: 'git', url: 'git+https://example.com/blockhouse.git' } };
const CHANGELOG = '# Changelog\n\n## Unreleased\n\n## 1.2.0\n\n- A change.\n\n## 1.1.0\n\n- Another.\n';

/** A repository whose state is committed, on main. */
function tree(t: Test, { manifest = READY as object, changelog = CHANGELOG } = {}) {
  const folder = join(testFolder(t), 'tree');
  mkdirSync(folder);
  const git = (...args: string[]): void => {
    const config = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
    const { status, stderr } = spawnSync('git', [...config, ...args], { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'CHANGELOG.md'), changelog);
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('commit', '--quiet', '--message=x');
  return { folder, git };
}

t.test('a tree that is ready may be published, and the dry run says how and changes nothing', (t) => {
  const { folder } = tree(t);
  t.same(releaseOf(folder), { version: '1.2.0', tag: 'v1.2.0', faults: [] });
  const { status, stdout } = spawnSync(process.execPath, [`--import=${import.meta.resolve('tsx')}`, join(ROOT, 'spec/support/release.ts')], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, NODE_PATH: ROOT },
  });
  t.match({ status, stdout }, { status: 0, stdout: /^1\.2\.0 may be published\.[\s\S]+npm publish\n +git tag --annotate v1\.2\.0 / });
  t.same(releaseOf(folder).faults, [], 'there is no tag now');
  t.end();
});

t.test('what is in the way is said, all of it', (t) => {
  const faultsOf = ({ folder }: { folder: string }): string => releaseOf(folder).faults.join('\n');
  const dirty = tree(t);
  writeFileSync(join(dirty.folder, 'new.txt'), '');
  t.match(faultsOf(dirty), /^The tree has changes that are not committed\.[^\n]*$/);
  const aside = tree(t);
  aside.git('checkout', '--quiet', '-b', 'part');
  t.match(faultsOf(aside), /^The branch is part, and releases are made from main\.$/);
  const again = tree(t);
  again.git('tag', 'v1.2.0');
  t.match(faultsOf(again), /^The tag v1\.2\.0 exists already\./);
  t.match(faultsOf(tree(t, { changelog: '# Changelog\n\n## 1.2.0\n\n## 1.1.0\n\n- Another.\n' })), /^CHANGELOG\.md has no section "## 1\.2\.0" with a text\./);
  t.match(
    faultsOf(tree(t, { changelog: CHANGELOG.replace('## 1.2.0\n', '') })),
    /no section "## 1\.2\.0"[^\n]*\nCHANGELOG\.md still has changes below "Unreleased"/,
  );
  t.match(faultsOf(tree(t, { manifest: { version: 'next' } })), /"next", which is none[\s\S]+no "repository"/);
  t.end();
});

t.test('npm publishes with provenance, and everything that a page of the package shows', (t) => {
  const { publishConfig, files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  t.same(publishConfig, { access: 'public', provenance: true });
  t.notOk(files.includes('!docs/images'));
  t.end();
});
