import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DockerfileParser, type From, type ModifiableInstruction } from 'dockerfile-ast';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** One line of a Dockerfile, its variables still to be filled in. */
export interface Instruction {
  keyword: string;
  /** `from`, `chown` … */
  flags: Record<string, string>;
  /** All behind keyword and flags, over as many lines as it has. */
  text: string;
  words: string[];
}

export interface Stage {
  /** The image it begins with, or the stage. */
  base: string;
  name: string;
  instructions: Instruction[];
}

export interface Dockerfile {
  /** Values of `ARG` in front of the first stage. */
  args: Record<string, string>;
  stages: Stage[];
}

/** `A=1 B="two words"`, over several lines. */
export function pairsOf(text: string): Record<string, string> {
  const pairs = text.matchAll(/([\w.]+)=(?:"((?:[^"\\]|\\.)*)"|(\S+))/g);
  return Object.fromEntries([...pairs].map(([, name, quoted, bare]) => [name, quoted ?? bare ?? '']));
}

/** Fill in `${NAME}`. @throws for one that nobody has set */
export function filledIn(text: string, values: Record<string, string>): string {
  return text.replace(/\$\{(\w+)\}/g, (_, name) => {
    if (values[name] === undefined) throw new Error(`no value for ${name}`);
    return values[name];
  });
}

/** Read the repository's Dockerfile. */
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
