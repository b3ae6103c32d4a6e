// The packages of npm: the SDK @yardmaster/sdk, and the command yardmaster.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPreRelease, npmRegistry, outputOf, run } from '../settings.mjs';
import { filesOf } from './files.mjs';

const manifestOf = (file) => JSON.parse(outputOf('tar', ['xzOf', file, 'package/package.json']));

const integrityOf = (file) => `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;

/** Publish a package, unless this very one is published. */
function publish(file, env, isDryRun) {
  const { name, version } = manifestOf(file);
  const view = ['view', `${name}@${version}`, 'dist.integrity', '--registry', npmRegistry];
  const published = isDryRun ? undefined : outputOf('npm', view, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  if (published) {
    if (published !== integrityOf(file)) throw new Error(`${name}@${version} exists with another content`);
    process.stdout.write(`${name}@${version} is published already\n`);
    return;
  }
  const tag = ['--access', 'public', '--tag', isPreRelease ? 'next' : 'latest', '--registry', npmRegistry];
  // Provenance needs the identity that GitHub gives to a workflow.
  const provenance = process.env.ACTIONS_ID_TOKEN_REQUEST_URL ? ['--provenance'] : [];
  run('npm', ['publish', file, ...tag, ...provenance, ...(isDryRun ? ['--dry-run'] : [])], { env });
}

export function publishNpm(folder, isDryRun) {
  const home = mkdtempSync(join(tmpdir(), 'yardmaster-npmrc-'));
  const userConfig = join(home, 'npmrc');
  try {
    // npm replaces the variable itself, so the token is in no file.
    const login = `${npmRegistry.replace(/^https?:/, '')}/:_authToken=\${NPM_TOKEN}\n`;
    writeFileSync(userConfig, process.env.NPM_TOKEN ? login : '');
    const env = { ...process.env, NPM_CONFIG_USERCONFIG: userConfig };
    for (const file of filesOf(folder, 'npm', '.tgz')) publish(file, env, isDryRun);
  } finally {
    rmSync(home, { recursive: true });
  }
}
