import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DockerfileParser, type From, type ModifiableInstruction } from 'dockerfile-ast';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** One instruction of a Dockerfile, with variables not replaced yet. */
export interface Instruction {
  keyword: string;
  /** `from`, `chown` … */
  flags: Record<string, string>;
  /** The text after keyword and flags, of all its lines. */
  text: string;
  words: string[];
}

export interface Stage {
  /** The base image or stage. */
  base: string;
  name: string;
  instructions: Instruction[];
}

export interface Dockerfile {
  /** Values of `ARG` before the first stage. */
  args: Record<string, string>;
  stages: Stage[];
}

/** Parse `A=1 B="two words"`, over several lines. */
export function pairsOf(text: string): Record<string, string> {
  const pairs = text.matchAll(/([\w.]+)=(?:"((?:[^"\\]|\\.)*)"|(\S+))/g);
  return Object.fromEntries([...pairs].map(([, name, quoted, bare]) => [name, quoted ?? bare ?? '']));
}

/** Replace `${NAME}` by its value. @throws for a variable without a value */
export function filledIn(text: string, values: Record<string, string>): string {
  return text.replace(/\$\{(\w+)\}/g, (_, name) => {
    if (values[name] === undefined) throw new Error(`no value for ${name}`);
    return values[name];
  });
}

/** Parse the Dockerfile of the repository. */
export function readDockerfile(): Dockerfile {
  const parsed = DockerfileParser.parse(readFileSync(`${ROOT}Dockerfile`, 'utf8'));
  const args: Record<string, string> = {};
  const stages: Stage[] = [];
  for (const instruction of parsed.getInstructions()) {
    const keyword = instruction.getKeyword();
    const raw = instruction.getRawArgumentsContent() ?? '';
    if (keyword === 'FROM') {
      const from = instruction as From;
      const base = filledIn(from.getImage() as string, args);
      stages.push({ base, name: from.getBuildStage() ?? `${stages.length}`, instructions: [] });
      continue;
    }
    const stage = stages.at(-1);
    if (stage === undefined) {
      if (keyword === 'ARG') Object.assign(args, pairsOf(raw));
      continue;
    }
    const flags = (instruction as ModifiableInstruction).getFlags?.() ?? [];
    const given = Object.fromEntries(flags.map((flag) => [flag.getName(), flag.getValue() ?? '']));
    const words = instruction.getArguments().map((word) => word.getValue());
    stage.instructions.push({ keyword, flags: given, text: raw.replace(/^(--\S+\s+)*/, ''), words });
  }
  return { args, stages };
}
