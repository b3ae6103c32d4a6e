// Build commands from Go modules in .cache/go. Requires Go, which verifies the checksums of modules.
// node scripts/go-command.mjs name …: build these commands, unless they are already built.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../.cache/go/', import.meta.url));

/** Modules by command. actionlint checks the workflows. */
const MODULES = {
  actionlint: 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12',
  helm: 'helm.sh/helm/v3/cmd/helm@v3.22.0',
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0',
  'oapi-codegen': 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2',
  staticcheck: 'honnef.co/go/tools/cmd/staticcheck@v0.8.2',
};

/**
 * Build a command, unless it is already built.
 *
 * @returns path of the command
 * @throws with the output of Go when the build fails
 */
export function goCommand(name) {
  const module = MODULES[name];
  if (module === undefined)
    throw new Error(`unknown command ${name}; known commands: ${Object.keys(MODULES).join(', ')}`);
  const file = `${folder}${name}-${module.split('@')[1]}`;
  if (existsSync(file)) return file;
  process.stderr.write(`Building ${name} from ${module} …\n`);
  const ownFolder = `${folder}${process.pid}/`; // Another process may build the same command.
  mkdirSync(ownFolder, { recursive: true });
  try {
    const env = { ...process.env, GOBIN: ownFolder };
    const { status, stderr, error } = spawnSync('go', ['install', '-ldflags', '-s -w', module], {
      env,
      encoding: 'utf8',
    });
    if (error) throw new Error(`Go is needed to build ${name}, but does not start: ${error.message}`);
    if (status !== 0) throw new Error(`go install ${module} failed:\n${stderr}`);
    renameSync(`${ownFolder}${name}`, file);
  } finally {
    rmSync(ownFolder, { recursive: true, force: true });
  }
  return file;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) for (const name of process.argv.slice(2)) goCommand(name);
