// Make the tools of a release in .cache/release-tools, from Go modules, whose checksums Go verifies. This needs Go.
// node scripts/release/tools.mjs [name …]: make these, by default all, or with TEST_SHORT=true those that the short
// test:release needs. It does nothing when they exist already.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { HELM } from '../helm/command.mjs';

const folder = fileURLToPath(new URL('../../.cache/release-tools/', import.meta.url));

/** Modules by name. crane pushes images and serves a registry for rehearsals; actionlint checks the workflows. */
const MODULES = {
  helm: HELM,
  crane: 'github.com/google/go-containerregistry/cmd/crane@v0.22.1',
  cosign: 'github.com/sigstore/cosign/v3/cmd/cosign@v3.1.3',
  actionlint: 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12',
};

/** Make a tool, if it does not exist. @returns its path */
export function tool(name) {
  const version = MODULES[name].split('@')[1];
  const file = `${folder}${name}-${version}`;
  if (existsSync(file)) return file;
  process.stderr.write(`Making ${name} ${version} in .cache/release-tools …\n`);
  mkdirSync(folder, { recursive: true });
  const { status, stderr, error } = spawnSync('go', ['install', '-ldflags', '-s -w', MODULES[name]], {
    env: { ...process.env, GOBIN: folder },
    encoding: 'utf8',
  });
  if (error) throw new Error(`a release needs Go: ${error.message}`);
  if (status !== 0) throw new Error(`go install ${MODULES[name]} failed:\n${stderr}`);
  renameSync(`${folder}${name}`, file);
  return file;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2);
  const byDefault = process.env.TEST_SHORT === 'true' ? ['helm', 'actionlint'] : Object.keys(MODULES);
  for (const name of names.length > 0 ? names : byDefault) tool(name);
}
