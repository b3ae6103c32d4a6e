// The container image of a release, as an OCI layout: the image for each platform, with its SBOM and provenance.
//
//   node scripts/release/image.mjs build [folder]   build it (needs Docker with buildx, and QEMU for foreign platforms)
//   node scripts/release/image.mjs test [folder]    start the command in it, on each platform
//
// What is tested is what publish.mjs pushes, byte for byte.
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { goCommand } from '../go-command.mjs';
import { withRegistry } from './registry.mjs';
import { description, outputOf, repository, root, run, version } from './settings.mjs';

const PLATFORMS = ['linux/amd64', 'linux/arm64'];

const [verb, target = `${root}.cache/release`] = process.argv.slice(2);
const layout = join(resolve(target), 'image');

function build() {
  rmSync(layout, { recursive: true, force: true });
  const source = `https://github.com/${repository}`;
  const revision = outputOf('git', ['rev-parse', 'HEAD']);
  // Files get the time of the commit, so that the same commit makes the same layers.
  const epoch = outputOf('git', ['log', '-1', '--format=%ct']);
  run('docker', [
    ...['buildx', 'build', '--platform', PLATFORMS.join(',')],
    ...['--sbom=true', '--provenance=mode=max'],
    ...['--build-arg', `VERSION=${version}`, '--build-arg', `SOURCE_DATE_EPOCH=${epoch}`],
    ...['--label', `org.opencontainers.image.source=${source}`],
    ...['--label', `org.opencontainers.image.revision=${revision}`],
    ...['--annotation', `index:org.opencontainers.image.source=${source}`],
    ...['--annotation', `index:org.opencontainers.image.description=${description}`],
    ...['--output', `type=oci,dest=${layout},tar=false,rewrite-timestamp=true`, '.'],
  ]);
}

async function test() {
  await withRegistry(async (registry) => {
    const ref = `${registry}/yardmaster:${version}`;
    run(goCommand('crane'), ['push', layout, ref]);
    for (const platform of PLATFORMS) {
      const command = ['node', 'apps/cli/bin/yardmaster.mjs', '--version'];
      const printed = outputOf('docker', ['run', '--rm', '--pull=always', '--platform', platform, ref, ...command]);
      if (printed !== version) throw new Error(`${platform} prints ${printed} instead of ${version}`);
      process.stdout.write(`${platform} starts\n`);
    }
  });
}

await { build, test }[verb]();
