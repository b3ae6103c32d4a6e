// Image and chart, which are both OCI artefacts in a registry.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { goCommand } from '../../go-command.mjs';
import { charts, image, isLocal, isPreRelease, outputOf, run, version } from '../settings.mjs';
import { onlyFile } from './files.mjs';
import { sign } from './sign.mjs';

const hostOf = (ref) => ref.split('/', 1)[0];

/** Log in where the variables say how. cosign reads the login of crane, and helm keeps its own. */
function logIn(ref) {
  const { REGISTRY_USER: user, REGISTRY_PASSWORD: input } = process.env;
  if (!user || !input) return;
  const options = { input, stdio: ['pipe', 'inherit', 'inherit'] };
  run(goCommand('crane'), ['auth', 'login', hostOf(ref), '--username', user, '--password-stdin'], options);
  run(goCommand('helm'), ['registry', 'login', hostOf(ref), '--username', user, '--password-stdin'], options);
}

/** Return the digest of a tag, or undefined when there is no such tag. */
const digestOf = (ref) => outputOf(goCommand('crane'), ['digest', ref], { stdio: ['ignore', 'pipe', 'ignore'] });

export function publishImage(folder) {
  const layout = join(folder, 'image');
  const { manifests } = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8'));
  if (manifests.length !== 1) throw new Error(`${layout} has ${manifests.length} entries instead of one index`);
  const [{ digest }] = manifests;
  logIn(image);
  const ref = `${image}:${version}`;
  const published = digestOf(ref);
  if (published !== undefined && published !== digest)
    throw new Error(`${ref} exists with another digest, ${published}`);
  if (published === undefined) run(goCommand('crane'), ['push', layout, ref]);
  sign(`${image}@${digest}`);
  if (!isPreRelease) run(goCommand('crane'), ['tag', `${image}@${digest}`, 'latest']);
  process.stdout.write(`${image}@${digest}\n`);
}

export function publishChart(folder) {
  const file = onlyFile(folder, 'chart', '.tgz');
  logIn(charts);
  const ref = `${charts}/yardmaster:${version}`;
  if (digestOf(ref) === undefined) {
    run(goCommand('helm'), ['push', file, `oci://${charts}`, ...(isLocal(charts) ? ['--plain-http'] : [])]);
  }
  // Helm writes the time into the manifest, so only the chart itself can be compared.
  const { layers } = JSON.parse(outputOf(goCommand('crane'), ['manifest', ref]));
  const wanted = `sha256:${createHash('sha256').update(readFileSync(file)).digest('hex')}`;
  if (layers[0].digest !== wanted) throw new Error(`${ref} exists with another chart`);
  const signed = `${charts}/yardmaster@${digestOf(ref)}`;
  sign(signed);
  process.stdout.write(`${signed}\n`);
}
