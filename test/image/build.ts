import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, lchownSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { contextFiles } from './context.js';
import { filledIn, type Instruction, pairsOf, ROOT, readDockerfile } from './dockerfile.js';

/** An image or a build stage: a folder that is its root, and its configuration. */
export interface Image {
  root: string;
  env: Record<string, string>;
  labels: Record<string, string>;
  /** Working folder, as a path within. */
  cwd: string;
  user: string;
  cmd: string[];
  stopSignal: string;
  exposed: string[];
}

export interface BuildOptions {
  /** An empty folder. */
  dir: string;
  /** Folders with the contents of base images, by name without tag. */
  bases: Record<string, string>;
}

/**
 * Run the Dockerfile stage by stage, each in a folder as its root. There is no isolation, so a RUN must only use paths
 * relative to its working folder.
 */
export function buildImage({ dir, bases }: BuildOptions): Image {
  const { args, stages } = readDockerfile();
  const built = new Map<string, Image>();
  let last: Image | undefined;
  for (const stage of stages) {
    const image = emptyImage(join(dir, stage.name));
    mkdirSync(image.root, { recursive: true });
    const base = bases[stage.base.replace(/:[^/]*$/, '')];
    if (base === undefined) throw new Error(`no stand-in for the image ${stage.base}`);
    cpSync(base, image.root, { recursive: true, verbatimSymlinks: true });
    const values = { ...args };
    for (const instruction of stage.instructions) carryOut(instruction, { image, values, built });
    built.set(stage.name, image);
    last = image;
  }
  return last as Image;
}

const emptyImage = (root: string): Image => ({
  root,
  env: {},
  labels: {},
  cwd: '/',
  user: '',
  cmd: [],
  stopSignal: '',
  exposed: [],
});

interface Scene {
  image: Image;
  values: Record<string, string>;
  built: Map<string, Image>;
}

const DO: Record<string, (instruction: Instruction, scene: Scene) => void> = {
  ARG: ({ text }, { values }) => Object.assign(values, pairsOf(text)),
  ENV: ({ text }, { image }) => Object.assign(image.env, pairsOf(text)),
  LABEL: ({ text }, { image, values }) => Object.assign(image.labels, pairsOf(filledIn(text, values))),
  WORKDIR: ({ text }, { image }) => {
    image.cwd = resolve(image.cwd, text);
    mkdirSync(join(image.root, image.cwd), { recursive: true });
  },
  USER: ({ text }, { image }) => {
    image.user = text;
  },
  EXPOSE: ({ words }, { image }) => image.exposed.push(...words),
  STOPSIGNAL: ({ text }, { image }) => {
    image.stopSignal = text;
  },
  CMD: ({ text }, { image }) => {
    image.cmd = JSON.parse(text); // The exec form, so that signals reach node and not a shell.
  },
  COPY: copy,
  RUN: run,
};

function carryOut(instruction: Instruction, scene: Scene): void {
  const step = DO[instruction.keyword];
  if (step === undefined) throw new Error(`unsupported instruction ${instruction.keyword}`);
  step(instruction, scene);
}

/** Copy a file to a path or into a folder, or the contents of a folder. */
function copy({ flags, words }: Instruction, { image, built }: Scene): void {
  const sources = words.slice(0, -1);
  const named = words.at(-1) as string;
  const target = join(image.root, resolve(image.cwd, named));
  const intoFolder = named.endsWith('/') || sources.length > 1;
  for (const source of sources) {
    const found = flags.from === undefined ? inContext(source) : inStage(source, built.get(flags.from));
    for (const { path, below } of found) {
      const to = below === '' && intoFolder ? join(target, basename(source)) : join(target, below);
      mkdirSync(dirname(to), { recursive: true });
      cpSync(path, to, { recursive: true, verbatimSymlinks: true });
    }
  }
  if (flags.chown !== undefined && process.getuid?.() === 0) {
    const [uid, gid] = flags.chown.split(':').map(Number);
    lchownSync(target, uid as number, gid as number);
  }
}

/** List what to copy, with paths below the target; empty for a file. */
interface Found {
  path: string;
  below: string;
}

function inContext(source: string): Found[] {
  const files = contextFiles().filter((file) => file === source || file.startsWith(`${source}/`));
  if (files.length === 0) throw new Error(`.dockerignore leaves nothing of ${source}`);
  return files.map((file) => ({ path: join(ROOT, file), below: file.slice(source.length + 1) }));
}

function inStage(source: string, stage: Image | undefined): Found[] {
  if (stage === undefined) throw new Error(`no stage that ${source} could be from`);
  const path = join(stage.root, source);
  if (statSync(path).isFile()) return [{ path, below: '' }];
  const entries = readdirSync(path);
  return entries.length === 0
    ? [{ path, below: '.' }]
    : entries.map((name) => ({ path: join(path, name), below: name }));
}

function run({ text }: Instruction, { image }: Scene): void {
  if (/(^|[\s"'=])\/(?!dev\/null)/.test(text)) throw new Error(`a path that is not relative: ${text}`);
  const home = join(image.root, 'tmp');
  mkdirSync(home, { recursive: true });
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', text], {
    cwd: join(image.root, image.cwd),
    // The node of the build comes before any other; npm is that of the machine.
    env: {
      ...image.env,
      HOME: home,
      PATH: `${image.root}/usr/local/bin:${process.env.PATH}`,
      ...registryOf(process.env),
    },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`RUN ${text}\n${stdout}${stderr}`);
}

/** Return the variables by which npm reaches its registry from this machine; they do not belong to the image. */
const registryOf = (env: NodeJS.ProcessEnv): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries({
      npm_config_userconfig: `${env.HOME}/.npmrc`,
      npm_config_cache: `${env.HOME}/.npm`,
      ...env,
    }).filter(([name]) =>
      /^npm_config_(userconfig|cache|registry|proxy|https_proxy|cafile)$|^(https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS)$/i.test(
        name,
      ),
    ),
  );

/** List all paths below a folder, relative to it, without following links. */
export function pathsIn(folder: string, below = ''): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(below, entry.name);
      return entry.isDirectory() ? [path, ...pathsIn(folder, path)] : [path];
    })
    .sort();
}

/** Remove write permissions from all files, as a read-only file system does. */
export function makeReadOnly(folder: string): void {
  for (const path of [...pathsIn(folder), '.'].map((name) => join(folder, name)))
    if (!lstatSync(path).isSymbolicLink()) chmodSync(path, statSync(path).mode & 0o7555);
}
