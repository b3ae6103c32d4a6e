// npm run test:long -- generators [-- document]: generate clients from the OpenAPI document with three generators, then compile
// and use them. A warning from a generator is a failure.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { goCommand } from '../go-command.mjs';
import { setUp } from '../set-up.mjs';
import { folder, GO_MODULES, openapiPythonClient, openapiTypescript, run } from './tools.mjs';
import '../typescript.mjs';

setUp();
const work = `${folder}work/`;
const documentFile = `${work}openapi.json`;
rmSync(work, { recursive: true, force: true });
for (const name of ['typescript', 'python', 'go']) mkdirSync(`${work}${name}`, { recursive: true });

/** Copy a program that uses the output of a generator. */
function copyUse(file, language) {
  const to = `${work}${language}/${file}`;
  copyFileSync(fileURLToPath(new URL(`./uses/${file}`, import.meta.url)), to);
  return to;
}

/** Throw if a generator has printed anything unexpected. @param known lines that it always prints */
function expectOnly(output, known) {
  const rest = known.reduce((text, part) => text.replaceAll(part, ''), output).trim();
  if (rest !== '') throw new Error(`the generator warns:\n${output}`);
}

function checkTypescript() {
  const schema = `${work}typescript/schema.ts`;
  const output = run(process.execPath, [openapiTypescript(), documentFile, '--output', schema]);
  expectOnly(output, [/^✨.*$/gm, /^🚀.*$/gm]);
  const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--module', 'nodenext'];
  run(process.execPath, [tsc, ...options, schema, copyUse('use.ts', 'typescript')]);
}

/** openapi-python-client warns that it does not support NDJSON. Its client sends logs as JSON. */
const NDJSON_IS_SKIPPED =
  /^WARNING parsing POST \/api\/v1\/jobs\/\{jobId\}\/logs within logs\.\s+Unsupported content type application\/(x-)?ndjson\s+\{\n[\s\S]*?\n\}\n/gm;

function checkPython() {
  const commands = openapiPythonClient();
  const env = { PATH: `${commands}:${process.env.PATH}`, PYTHONDONTWRITEBYTECODE: '1' };
  const target = ['--meta', 'none', '--output-path', `${work}python/yardmaster_client`];
  const output = run(`${commands}openapi-python-client`, ['generate', '--path', documentFile, ...target], { env });
  const frame = [
    /^Generating .*$/gm,
    /^Warning\(s\) encountered while generating\. .*$/gm,
    /^If you believe this .*$/gm,
  ];
  expectOnly(output, [NDJSON_IS_SKIPPED, ...frame]);
  run(`${commands}python`, ['-W', 'error', copyUse('use.py', 'python'), documentFile], { env });
}

function checkGo() {
  const go = (...args) => run('go', args, { cwd: `${work}go` });
  const kinds = ['-generate', 'types,client', '-package', 'yardmaster'];
  expectOnly(run(goCommand('oapi-codegen'), [...kinds, '-o', `${work}go/client.go`, documentFile]), []);
  copyUse('use_test.go', 'go');
  go('mod', 'init', 'example.com/yardmaster');
  go('get', ...GO_MODULES);
  go('build', './...');
  go('vet', './...');
  go('test', './...');
}

async function servedDocument() {
  const { startTarget } = await import('../../test/schemathesis/target.ts');
  const target = await startTarget();
  const response = await fetch(`${target.url}/api/v1/openapi.json`);
  return response.text().finally(() => target.stop());
}

const [given] = process.argv.slice(2);
writeFileSync(documentFile, given === undefined ? await servedDocument() : readFileSync(given));
const checks = {
  'openapi-typescript': checkTypescript,
  'openapi-python-client': checkPython,
  'oapi-codegen': checkGo,
};
for (const [name, check] of Object.entries(checks)) {
  try {
    check();
    process.stdout.write(`${name}: generated, compiled and used\n`);
  } catch (thrown) {
    process.stdout.write(`!! ${name}: ${thrown.message}\n`);
    process.exitCode = 1;
  }
}
