// The headings of releases in CHANGELOG.md: `## 1.2.3 - 2026-01-31`, newest first, below `## Unreleased`.

const UNRELEASED = '## Unreleased';

/** Return the text below the heading of a version, or undefined if it has no heading with a date. */
export function sectionOf(changelog, version) {
  const [head, ...sections] = `\n${changelog}`.split('\n## ');
  const section = sections.find((each) => each.split('\n', 1)[0].startsWith(`${version} - `));
  if (head === undefined || section === undefined) return undefined;
  const [heading, ...lines] = section.split('\n');
  return /^\S+ - \d{4}-\d{2}-\d{2}$/.test(heading) ? lines.join('\n').trim() : undefined;
}

/** Put everything that is unreleased below a heading of a version. A changelog that has the heading stays as it is. */
export function release(changelog, version, date) {
  if (sectionOf(changelog, version) !== undefined) return changelog;
  if (!changelog.includes(`\n${UNRELEASED}\n`)) throw new Error(`CHANGELOG.md has no heading ${UNRELEASED}`);
  return changelog.replace(`\n${UNRELEASED}\n`, `\n${UNRELEASED}\n\n## ${version} - ${date}\n`);
}

/** Whether the first heading is that of unreleased changes. */
export const hasUnreleased = (changelog) => /^## .*$/m.exec(changelog)?.[0] === UNRELEASED;
