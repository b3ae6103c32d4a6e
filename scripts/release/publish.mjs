// Publish parts of a release that build.mjs and image.mjs have made: node scripts/release/publish.mjs <part> [folder]
//
// A part is image, chart, npm, go or github. Each may run again after a failure: what is published already is compared
// and left alone, and it is an error when it differs. With --dry-run, npm, go and github publish nothing; rehearse.mjs
// publishes image and chart to a registry on this machine. PyPI has no part here, because only its own action can use a
// trusted publisher. The variables are those of settings.mjs, and:
//
//   REGISTRY_USER, REGISTRY_PASSWORD   log in to the registries of image and chart
//   NPM_TOKEN                          log in to npm; without it, npm uses the trusted publisher of the workflow
//   COSIGN_KEY                         sign with a key, in a rehearsal; without it, by the identity of the workflow
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { publishGitHubRelease, publishGoTag } from './parts/github.mjs';
import { publishNpm } from './parts/npm.mjs';
import { publishChart, publishImage } from './parts/oci.mjs';
import { root } from './settings.mjs';

const PARTS = {
  image: publishImage,
  chart: publishChart,
  npm: publishNpm,
  go: publishGoTag,
  github: publishGitHubRelease,
};

const { values, positionals } = parseArgs({
  options: { 'dry-run': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [part, folder = `${root}.cache/release`] = positionals;
if (!Object.hasOwn(PARTS, part ?? '')) {
  process.stderr.write(`which part? ${Object.keys(PARTS).join(', ')}\n`);
  process.exitCode = 2;
} else {
  try {
    PARTS[part](resolve(folder), values['dry-run']);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
