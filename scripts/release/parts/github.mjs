// What a release adds to the repository on GitHub, by the command gh: the tag of the Go module, and the release.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sectionOf } from '../changelog.mjs';
import { isPreRelease, outputOf, repository, root, run, version } from '../settings.mjs';
import { filesOf } from './files.mjs';
import { signFile } from './sign.mjs';

const NOTHING_SHOWN = { stdio: ['ignore', 'pipe', 'ignore'] };

/** Go finds a module in a subfolder by a tag with the folder in front. */
export function publishGoTag(_folder, isDryRun) {
  const tag = `sdk/go/v${version}`;
  const commit = process.env.GITHUB_SHA ?? outputOf('git', ['rev-parse', 'HEAD']);
  const create = [
    'api',
    `repos/${repository}/git/refs`,
    '-f',
    `ref=refs/tags/${tag}`,
    '-f',
    `sha=${commit}`,
    '--silent',
  ];
  if (isDryRun) {
    process.stdout.write(`would run gh ${create.join(' ')}\n`);
    return;
  }
  const found = ['api', `repos/${repository}/git/ref/tags/${tag}`, '--jq', '.object.sha'];
  const published = outputOf('gh', found, NOTHING_SHOWN);
  if (published === undefined) run('gh', create);
  else if (published !== commit) throw new Error(`the tag ${tag} exists at another commit, ${published}`);
  process.stdout.write(`${tag} is at ${commit}\n`);
}

/** Make the release with the packages as files, and the signed list of their checksums. */
export function publishGitHubRelease(folder, isDryRun) {
  const tag = `v${version}`;
  const sums = join(folder, 'SHA256SUMS');
  const bundle = `${sums}.sigstore.json`;
  const files = [...['npm', 'python', 'chart'].flatMap((name) => filesOf(folder, name)), sums, bundle];
  if (!isDryRun || process.env.COSIGN_KEY) signFile(sums, bundle);
  if (isDryRun) {
    process.stdout.write(`would make the release ${tag} with\n${files.map((file) => `  ${file}\n`).join('')}`);
    return;
  }
  if (outputOf('gh', ['release', 'view', tag, '--repo', repository], NOTHING_SHOWN) === undefined) {
    const notes = sectionOf(readFileSync(`${root}CHANGELOG.md`, 'utf8'), version) ?? '';
    const kind = isPreRelease ? ['--prerelease'] : [];
    const create = ['release', 'create', tag, '--repo', repository, '--verify-tag', '--title', tag, ...kind];
    run('gh', [...create, '--notes-file', '-'], { input: notes, stdio: ['pipe', 'inherit', 'inherit'] });
  }
  run('gh', ['release', 'upload', tag, ...files, '--repo', repository, '--clobber']);
}
