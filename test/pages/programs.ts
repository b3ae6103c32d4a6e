import { transformSync } from 'esbuild';
import type { Block } from './blocks.js';

const GO_MODULE = 'github.com/yardmaster/yardmaster/sdk/go';
const GO_MOD = `module example\ngo 1.23\nrequire ${GO_MODULE} v0.0.0\nreplace ${GO_MODULE} => ../sdk/go\n`;

/** The files of a program, and the command that runs it. */
interface Program {
  files: Record<string, string>;
  command: string;
}

const node = (name: string, text: string) => ({ files: { [`${name}.mjs`]: text }, command: `node ${name}.mjs` });
const stripTypes = (code: string) => transformSync(code, { loader: 'ts', format: 'esm' }).code;
const isModule = (code: string) => /^import /m.test(code);

const LANGUAGES: Record<string, (name: string, code: string) => Program | null> = {
  js: (name, code) => (isModule(code) ? node(name, code) : null),
  ts: (name, code) => (isModule(code) ? node(name, stripTypes(code)) : null),
  python: (name, code) => ({ files: { [`${name}.py`]: code }, command: `python ${name}.py` }),
  go: (name, code) =>
    code.startsWith('package main')
      ? {
          files: { [`${name}/main.go`]: code, [`${name}/go.mod`]: GO_MOD },
          command: `(cd ${name} && go build -o ../${name}.bin .) && ./${name}.bin`,
        }
      : null,
};

/** Return how to run a block; null for data and for parts of a program, which the tests of the SDKs compile. */
export function programOf({ at, language, code }: Block): Program | null {
  if (language === 'sh') return { files: {}, command: code };
  return LANGUAGES[language]?.(`program-${at.split(':')[1]}`, code) ?? null;
}
