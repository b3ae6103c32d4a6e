// Publish a release to a registry on this machine, as the workflow publishes it. Verify and mirror it as docs/install.md
// does: node scripts/release/rehearse.mjs [folder]
// The folder has what build.mjs and image.mjs have made. Nothing leaves this machine, but npm looks up its registry.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { goCommand } from '../go-command.mjs';
import { withRegistry } from './registry.mjs';
import { outputOf, root, run, version } from './settings.mjs';

const folder = resolve(process.argv[2] ?? `${root}.cache/release`);
const keys = mkdtempSync(join(tmpdir(), 'yardmaster-keys-'));

/** Publish a part, and return the last line that this prints. */
function publish(part, env) {
  const { status, stdout } = spawnSync(process.execPath, ['scripts/release/publish.mjs', part, folder, '--dry-run'], {
    cwd: root,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.stdout.write(stdout);
  if (status !== 0) throw new Error(`publish.mjs ${part} failed`);
  return stdout.trim().split('\n').at(-1);
}

const verified = ['--key', join(keys, 'cosign.pub'), '--insecure-ignore-tlog'];

/** Copy an artefact with its signature by way of files, and verify the copy. @returns the reference of the copy */
function mirror(part, ref, copy, env) {
  const files = join(keys, part);
  run(goCommand('cosign'), ['save', '--dir', files, ref], { env });
  run(goCommand('cosign'), ['load', '--dir', files, `${copy}:${version}`], { env });
  const byDigest = `${copy}@${ref.split('@')[1]}`;
  run(goCommand('cosign'), ['verify', ...verified, byDigest], { env });
  return byDigest;
}

async function rehearse(registry, other) {
  const env = {
    ...process.env,
    ...{ IMAGE: `${registry}/yardmaster`, CHARTS: `${registry}/charts`, REGISTRY_USER: '' },
    ...{ COSIGN_KEY: join(keys, 'cosign.key'), COSIGN_PASSWORD: 'rehearsal' },
  };
  run(goCommand('cosign'), ['generate-key-pair'], { cwd: keys, env });
  const copies = ['image', 'chart'].map((part) => {
    const ref = publish(part, env);
    // The second time nothing changes, as when a failed workflow runs again.
    if (publish(part, env) !== ref) throw new Error(`${part} has another digest when it is published again`);
    run(goCommand('cosign'), ['verify', ...verified, ref], { env });
    return mirror(part, ref, `${other}/${part}/yardmaster`, env);
  });
  // A registry may accept an index without what it lists, so pull all of it.
  run(goCommand('crane'), ['pull', '--format=oci', copies[0], join(keys, 'pulled')]);
  run(goCommand('helm'), ['pull', `oci://${copies[1]}`, '--plain-http', '--untar'], { cwd: keys });
  const chart = readFileSync(join(keys, 'yardmaster/Chart.yaml'), 'utf8');
  if (!chart.includes(`appVersion: ${version}\n`)) throw new Error('the chart has another version');
  const tags = outputOf(goCommand('crane'), ['ls', env.IMAGE]).split('\n');
  if (!tags.includes(version)) throw new Error(`the image has the tags ${tags}`);
  for (const part of ['npm', 'go', 'github']) publish(part, env);
  const sums = join(folder, 'SHA256SUMS');
  run(goCommand('cosign'), ['verify-blob', ...verified, '--bundle', `${sums}.sigstore.json`, sums], { env });
  process.stdout.write('the rehearsal has published and verified everything\n');
}

try {
  await withRegistry((registry) => withRegistry((other) => rehearse(registry, other)));
} finally {
  rmSync(keys, { recursive: true });
}
