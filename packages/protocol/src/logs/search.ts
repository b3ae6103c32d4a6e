/** Words between blanks. A word that begins with a quote continues to the next quote, or to the end. */
const TERM = /"([^"]*)"?|(\S+)/g;

/**
 * Split a full-text query into its terms. `disk "no space" it's"x` has three: `disk`, `no space`, `it's"x`.
 *
 * @returns an empty list for a blank query; an empty pair of quotes is not a term
 */
export function searchTermsOf(query: string): string[] {
  return [...query.matchAll(TERM)].map(([, quoted, word]) => quoted ?? word ?? '').filter((term) => term !== '');
}

/**
 * Return a text in which upper and lower case are the same, beyond ASCII too. It converts in both directions, because
 * σ, ς and Σ share only the upper case, and K and the sign for kelvin only the lower case.
 */
export const foldCase = (text: string) => text.toLowerCase().toUpperCase();

/** Create a function that returns whether a text contains every term, in any case. Terms are texts, never patterns. */
export function containsAll(terms: readonly string[]): (text: string) => boolean {
  const folded = terms.map(foldCase);
  return (text) => {
    const searched = foldCase(text);
    return folded.every((term) => searched.includes(term));
  };
}
