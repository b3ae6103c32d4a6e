// Build the tools of the chart tests from Go modules, unless they already exist: helm, kubeconform, and JSON schemas of the
// rendered resources in .cache/helm-schemas. Requires Go.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goCommand } from '../go-command.mjs';
import { setUp } from '../set-up.mjs';

setUp();
// Import it here, because it needs a package that setUp installs.
const { writeCustomSchemas, writeKubernetesSchemas } = await import('./schemas.mjs');

const folder = fileURLToPath(new URL('../../.cache/helm-schemas/', import.meta.url));
const stampFile = join(folder, 'stamp');

/** The oldest Kubernetes that Chart.yaml allows, and the newest release. Each module has 25 MB of source. */
const KUBERNETES = ['1.27.16', '1.37.0'];

/** Custom resources used by the chart and its examples, by the module that defines them. */
const CUSTOM = {
  'sigs.k8s.io/gateway-api@v1.4.0': ['config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  'github.com/prometheus-operator/prometheus-operator@v0.85.0': [
    'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
    'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
  ],
  'github.com/kedacore/keda/v2@v2.18.0': ['config/crd/bases/keda.sh_scaledobjects.yaml'],
};

const converter = readFileSync(new URL('./schemas.mjs', import.meta.url), 'utf8');
const stamp = createHash('sha256').update(JSON.stringify({ KUBERNETES, CUSTOM, converter })).digest('hex');

function isMade() {
  try {
    return readFileSync(stampFile, 'utf8') === stamp;
  } catch {
    return false;
  }
}

function go(args, env = {}) {
  const { status, stdout, stderr, error } = spawnSync('go', args, {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  if (error) throw new Error(`the tests of the chart need Go: ${error.message}`);
  if (status !== 0) throw new Error(`go ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return stdout;
}

function makeSchemas() {
  // Do not use the module cache, because only a few files out of half a gigabyte are needed.
  const modules = mkdtempSync(join(tmpdir(), 'yardmaster-modules-'));
  const env = { GOMODCACHE: modules, GOFLAGS: '-modcacherw' };
  const sourceOf = (module) => JSON.parse(go(['mod', 'download', '-json', module], env)).Dir;
  try {
    for (const version of KUBERNETES) {
      writeKubernetesSchemas(sourceOf(`k8s.io/kubernetes@v${version}`), join(folder, `v${version}`));
    }
    for (const [module, files] of Object.entries(CUSTOM)) {
      const source = sourceOf(module);
      for (const file of files) writeCustomSchemas(join(source, file), join(folder, 'custom'));
    }
  } finally {
    rmSync(modules, { recursive: true, force: true });
  }
}

for (const name of ['helm', 'kubeconform']) goCommand(name);
if (!isMade()) {
  const began = performance.now();
  process.stdout.write('Making schemas in .cache/helm-schemas …\n');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  makeSchemas();
  writeFileSync(stampFile, stamp);
  process.stdout.write(`Made in ${((performance.now() - began) / 1000).toFixed(0)} s\n`);
}
