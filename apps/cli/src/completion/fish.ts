import type { Entry, Word } from './entries.js';

/** Write the completion script for fish, with descriptions. */
export function fishScript(entries: Entry[]): string {
  const paths = entries.flatMap(({ path }) => (path === '' ? [] : [quoted(path)]));
  const lines = entries.flatMap(({ path, words, options }) => {
    const at = `complete -c yardmaster -n ${quoted(`__yardmaster_at ${quoted(path)}`)}`;
    return [
      ...words.map((word) => `${at} -f -a ${quoted(word.word)}${describe(word)}`),
      ...options.map((option) => {
        const short = option.short === undefined ? '' : ` -s ${option.short.slice(1)}`;
        return `${at} -l ${option.word.slice(2)}${short}${argumentOf(option.choices)}${describe(option)}`;
      }),
    ];
  });
  return `# Completion of yardmaster for fish: yardmaster completion fish | source
function __yardmaster_at
  set -l command ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$command $word")
    if contains -- $next ${paths.join(' ')}
      set command $next
    end
  end
  test "$command" = "$argv[1]"
end
${lines.join('\n')}
`;
}

/** Write what follows an option: nothing, one of its choices, or any text, for which fish completes file names. */
function argumentOf(choices: string[] | null): string {
  if (choices === null) return '';
  return choices.length === 0 ? ' -r -F' : ` -x -a ${quoted(choices.join(' '))}`;
}

const describe = ({ description }: Word) => ` -d ${quoted(description)}`;

const quoted = (text: string) => `'${text.replace(/['\\]/g, '\\$&')}'`;
