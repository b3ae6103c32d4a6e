/** Words between blanks; one that begins with a quote goes on to the next quote, or to the end. */
const TERM = /"([^"]*)"?|(\S+)/g;

/**
 * Terms of a full-text query. `disk "no space" it's"x` has three: `disk`, `no space`, `it's"x`.
 *
 * @returns none for a query that is blank; an empty pair of quotes is no term
 */
export function searchTermsOf(query: string): string[] {
  return [...query.matchAll(TERM)].map(([, quoted, word]) => quoted ?? word ?? '').filter((term) => term !== '');
}

/**
 * A text in which upper and lower case are the same, beyond ASCII too. There and back: of σ, ς and Σ only the upper case
 * is one, of K and the sign for kelvin only the lower.
 */
export const foldCase = (text: string) => text.toLowerCase().toUpperCase();

/** Make a function that tells whether a text holds every term, whatever their case. Terms are texts, never patterns. */
export function holdsAll(terms: readonly string[]): (text: string) => boolean {
  const folded = terms.map(foldCase);
  return (text) => {
    const searched = foldCase(text);
    return folded.every((term) => searched.includes(term));
  };
}
