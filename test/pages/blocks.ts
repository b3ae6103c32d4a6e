import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A code block on a page. */
export interface Block {
  /** Where it is: `docs/retries.md:67`. */
  at: string;
  language: string;
  code: string;
  /** Whether the page shows it in several languages, of which a reader chooses one. */
  isChoice: boolean;
}

/** List the code blocks on a page, in order. */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(ROOT + page, 'utf8');
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(({ 1: language = '', 2: code = '', index }) => ({
    at: `${page}:${text.slice(0, index).split('\n').length}`,
    language,
    code,
    isChoice: text.lastIndexOf('<details', index) > text.lastIndexOf('</details>', index),
  }));
}

/** The pages with code that a reader runs or types in a clone. */
export const PAGES = [
  'README.md',
  ...['typescript', 'python', 'go'].map((sdk) => `sdk/${sdk}/README.md`),
  ...readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !file.startsWith('decisions/'))
    .map((file) => `docs/${file}`),
].filter((page) =>
  blocksOf(page).some(({ language }) => ['sh', 'bash', 'js', 'ts', 'python', 'go'].includes(language)),
);
